import CaptureCore
import Testing

@testable import PickerMessages

struct PickerLineTests {
    @Test(arguments: [
        PickerOrder.question(
            PickerQuestion(
                headline: "“Album” asks for 2 of your photos",
                meaning: "It is handed what you pick.",
                facts: [PickerQuestion.Fact("Program", "exe:/usr/bin/album")],
                purpose: .pick,
                limit: 2,
                kinds: [.photo, .movie]
            )
        ),
        .page(
            PickerPage(number: 3, items: [PickerItem(id: "a", kind: .movie, name: "ö\n\"/", duration: 5)], next: "c")
        ),
        .picture(id: "a", jpeg: PickerBytes(Array(0...255))), .picture(id: "a", jpeg: nil),
        .failed(message: "no disk", page: 1),
    ])
    func `what the agent says is one line and comes back as it was`(order: PickerOrder) throws {
        let bytes = PickerLine.encode(order)
        #expect(bytes.count { $0 == 0x0a } == 1 && bytes.last == 0x0a)
        #expect(try PickerLine.decode(bytes.dropLast()) == order)
    }

    @Test(arguments: [
        PickerReport.ready, .unable(message: "no display"), .page(number: 1, kind: .sound, cursor: "x"),
        .page(number: 2, kind: nil, cursor: nil), .picture(id: "a"), .picked(ids: ["a", "b"], dropped: ["c"]), .closed,
    ])
    func `what the window says is one line and comes back as it was`(report: PickerReport) throws {
        let bytes = PickerLine.encode(report)
        #expect(bytes.count { $0 == 0x0a } == 1 && bytes.last == 0x0a)
        #expect(try PickerLine.decode(bytes.dropLast()) == report)
    }

    @Test(arguments: [
        "", "{", "null", "[]", "\"ready\"", "{}", #"{"open":{}}"#, #"{"picked":{"ids":"a","dropped":[]}}"#,
        #"{"picked":{"ids":["a"]}}"#, #"{"page":{"number":1.5}}"#, #"{"page":{"number":1,"kind":"text"}}"#,
        #"{"ready":{},"closed":{}}"#, "\u{0}\u{ff}",
    ])
    func `what is no message is an error with its beginning`(line: String) {
        #expect(throws: PickerLine.Failure(line: line)) {
            try PickerLine.decode(Array(line.utf8), as: PickerReport.self)
        }
    }

    @Test func `lines are put together from pieces`() throws {
        var lines = PickerLines()
        #expect(try lines.take(Array("ab".utf8)).isEmpty)
        #expect(try lines.take(Array("c\nd\n\ne".utf8)) == ["abc", "d", ""].map { Array($0.utf8) })
        #expect(try lines.take(Array("f\n".utf8)) == [Array("ef".utf8)])
    }

    @Test func `a line that does not end is an error before it fills the memory`() throws {
        var lines = PickerLines(longest: 10)
        #expect(try lines.take(Array("0123456789\n0123456789".utf8)).count == 1)
        #expect(throws: PickerLine.Failure.self) { try lines.take(Array("0".utf8)) }
    }
}
