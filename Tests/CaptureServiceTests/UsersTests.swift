import CaptureCore
import Testing

@testable import Authorization
@testable import CaptureService

@Suite struct `Users by name and number` {
    private let caller = ClientIdentity(program: "exe:/a", tier: .claimed, user: 7, name: "a", detail: "a test")

    @Test func `are told by number where they have no name`() throws {
        #expect(Users.name(of: 0) == "root")
        #expect(Users.name(of: 3_999_999_999) == "3999999999")
        #expect(try Users.id(of: "root", caller: caller) == 0)
        #expect(try Users.id(of: "3999999999", caller: caller) == 3_999_999_999)
        #expect(try Users.id(of: "", caller: caller) == 7)
        let error = #expect(throws: CaptureError.self) { try Users.id(of: "nobody-of-that-name", caller: caller) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `are asked of the system where a rule names one`() {
        #expect(Accounts.system.user("root") == .found(0))
        #expect(Accounts.system.name(0) == .found("root"))
        #expect(Accounts.system.group("root") == .found(0))
        #expect(Accounts.system.user("nobody-of-that-name") == .absent)
        #expect(Accounts.system.groups(3_999_999_999) == .absent)
    }
}
