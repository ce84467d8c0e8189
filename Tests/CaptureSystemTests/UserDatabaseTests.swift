import CaptureCore
import CaptureSystem
import Glibc
import Testing

@Suite struct `The database of users` {
    @Test func `has root by name and number, with its shell`() throws {
        let root = try #require(UserDatabase.user(named: "root").value)
        #expect(root.number == 0)
        #expect(root.shell.hasPrefix("/"))
        #expect(UserDatabase.user(0) == .found(root))
    }

    @Test func `has groups, and who is in them`() throws {
        #expect(UserDatabase.group(named: "root") == .found(0))
        #expect(UserDatabase.group(0) == .found("root"))
        #expect(try #require(UserDatabase.groups(of: 0).value).contains(0))
    }

    @Test func `says that somebody is not there`() {
        #expect(UserDatabase.user(named: "nobody-of-that-name") == .absent)
        #expect(UserDatabase.user(3_999_999_999) == .absent)
        #expect(UserDatabase.group(named: "nobody-of-that-name") == .absent)
        #expect(UserDatabase.groups(of: 3_999_999_999) == .absent)
        #expect(UserDatabase.user(3_999_999_999).value == nil)
    }
}
