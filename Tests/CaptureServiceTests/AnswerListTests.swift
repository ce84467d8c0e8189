import Authorization
import CaptureEngine
import Testing

@testable import CaptureService

@Suite struct `The list of answers` {
    private func caller(_ user: UInt32) -> SessionClient {
        let identity = ClientIdentity(program: "exe:/a", tier: .claimed, user: user, name: "a", detail: "a test")
        return SessionClient(identity: identity, connection: ":1.1") { identity }
    }

    @Test(arguments: ["unit:doorbell.service", "uid:990"])
    func `shows the machine's programs to everybody`(_ program: String) {
        for user: UInt32 in [0, 1000] { #expect(caller(user).mayList(0, program)) }
    }

    @Test(arguments: ["exe:/usr/bin/cheese", "app:org.gnome.Cheese", "flatpak:org.gnome.Cheese", "snap:cheese"])
    func `shows a user's own to that user and root alone, root's own too`(_ program: String) {
        #expect(caller(1000).mayList(1000, program))
        #expect(!caller(1000).mayList(1001, program))
        #expect(!caller(1000).mayList(0, program))
        for user: UInt32 in [0, 1000] { #expect(caller(0).mayList(user, program)) }
    }
}
