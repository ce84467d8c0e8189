import CaptureCore
import Logging
import Testing

@testable import CaptureService

struct JournalTests {
    @Test(
        arguments: [
            ("CAPTURE_SESSION", true), ("_PID", false), ("a", false), ("A B", false), ("", false), ("1A", false),
        ]
    )
    func `a journal field has a name of capital letters`(_ name: String, _ isField: Bool) {
        #expect(Journal.isField(name) == isField)
    }

    @Test func `a line cannot move a terminal's cursor`() {
        #expect(Journal.escaped("red\u{1b}[31m\r\nü\u{7f}") == "red\\u{1B}[31m\\r\\nü\\u{7F}")
    }

    @Test func `a bad field does not keep a line back`() {
        let entries = Journal.entries("a line", .debug, ["CAPTURE_TEST": "a\nb", "bad": "x"])
        #expect(entries.prefix(2) == ["MESSAGE=a line", "PRIORITY=7"])
        #expect(entries.dropFirst(3) == ["CAPTURE_TEST=a\nb"])
    }

    @Test func `what other rooms log keeps its priority`() {
        let priorities = Logger.Level.allCases.map { JournalLog.priority(of: $0).rawValue }
        #expect(priorities == [7, 7, 6, 5, 4, 3, 2])
    }
}
