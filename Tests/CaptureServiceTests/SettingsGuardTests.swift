import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import Synchronization
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10)))
struct `What loosens consent` {
    private let bus: PrivateBus
    private let settings: SettingsGuard
    private static let identity = ClientIdentity(
        program: "exe:/usr/bin/panel",
        tier: .claimed,
        user: 1000,
        name: "panel",
        detail: "a test",
        pid: 10
    )

    init() async throws {
        bus = try PrivateBus()
        settings = SettingsGuard(
            bus: try await BusConnection.open(bus.kind),
            kind: .system,
            commandLine: "/nonexistent",
            logins: LoginSessions(
                user: { ["c2": 1000, "7": 1000, "9": 1001][$0] },
                display: { $0 == 1000 ? "c2" : nil },
                active: { Audience(user: 1000, session: "c2") }
            )
        )
    }

    private func client(_ identity: ClientIdentity = identity, later: ClientIdentity = identity) -> SessionClient {
        SessionClient(identity: identity, connection: ":1.4711") { later }
    }

    /// A program of people's own in a login session.
    private func client(of user: UInt32, in session: String, tier: Tier = .claimed) -> SessionClient {
        var identity = Self.identity
        identity.user = user
        identity.tier = tier
        identity.parts.session = session
        return client(identity)
    }

    @Test func `takes a password, whose dialog names the program, the service and who asks`() async throws {
        let polkit = try await FakePolkit(bus) { true }
        let cheese = "exe:/usr/bin/cheese"
        try await settings.allow(client(), on: 1000, of: cheese, loosening: "let \(cheese) use the camera")
        try await settings.allowSwitch(client(), .microphone, on: true)
        #expect(
            polkit.checks == [
                "org.capturekit.capture1.loosen-consent of :1.4711", "org.capturekit.capture1.switch-on of :1.4711",
            ]
        )
        #expect(
            polkit.messages == [
                "Authentication is required to let exe:/usr/bin/cheese use the camera; exe:/usr/bin/panel asks for it",
                "Authentication is required to switch the microphone on again for all programs; "
                    + "exe:/usr/bin/panel asks for it",
            ]
        )
    }

    @Test func `is shown as data, whatever the program is called`() async throws {
        let polkit = try await FakePolkit(bus) { true }
        let path = "exe:/tmp/<b>$(polkit.message)\u{1B}[2J\u{202E}"
        try await settings.allow(client(), on: 1000, of: "exe:/usr/bin/cheese", loosening: "let \(path) use the camera")
        let message = try #require(polkit.messages.first)
        #expect(message.contains("exe:/tmp/‹b›＄(polkit.message)"))
        #expect(!message.contains { "<>$\u{1B}\u{202E}".contains($0) })
    }

    @Test func `is refused without the password, and to who changed while it was typed`() async throws {
        let verdicts = Verdicts([false, true])
        let polkit = try await FakePolkit(bus) { verdicts.next() }
        let refusal = await #expect(throws: CaptureError.self) {
            try await settings.allow(client(), on: 1000, of: "exe:/usr/bin/cheese", loosening: "let a use the camera")
        }
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("takes your password") == true)
        var other = Self.identity
        other.parts.startTime += 1
        let changed = await #expect(throws: CaptureError.self) {
            try await settings.allow(client(later: other), on: 1000, of: "exe:/a", loosening: "let a use the camera")
        }
        #expect(changed?.code == .notPermitted)
        #expect(changed?.message.contains("changed while the password was typed") == true)
        #expect(polkit.checks.count == 2)
    }

    @Test func `is free to tighten`() async throws {
        let polkit = try await FakePolkit(bus) { false }
        try await settings.allow(client(), on: 1000, of: "exe:/usr/bin/cheese")
        try await settings.allow(client(), on: 1000, of: "")
        #expect(polkit.checks.isEmpty)
    }

    @Test func `for a service is root's, and a no to it is free to who sits at the machine`() async throws {
        let polkit = try await FakePolkit(bus) { true }
        for program in ["unit:doorbell.service", "uid:990"] {
            try await settings.allow(client(of: 1000, in: "c2"), on: 0, of: program)
            // Below the service manager of who sits there.
            try await settings.allow(client(of: 1000, in: ""), on: 0, of: program)
            let loosening = await #expect(throws: CaptureError.self) {
                try await settings.allow(client(of: 1000, in: "c2"), on: 0, of: program, loosening: "let it see")
            }
            #expect(loosening?.code == .notPermitted)
            #expect(loosening?.message.contains("\(program) counts for everybody") == true)
            // Elsewhere, as somebody else, or no person at all.
            let others = [
                client(of: 1000, in: "7"), client(of: 1001, in: "9"), client(of: 1000, in: "c2", tier: .sandboxed),
                client(of: 990, in: "", tier: .user),
            ]
            for other in others {
                #expect(await code { try await settings.allow(other, on: 0, of: program) } == .notPermitted)
            }
        }
        #expect(polkit.checks.isEmpty)
    }

    @Test func `of another user's, or everybody's answers, is root's`() async throws {
        for owner in [1001, 0, nil] as [UInt32?] {
            for program in ["exe:/usr/bin/cheese", ""] {
                let error = await #expect(throws: CaptureError.self) {
                    try await settings.allow(client(of: 1000, in: "c2"), on: owner, of: program)
                }
                #expect(error?.message == "only root may change another user's answers")
            }
            try await settings.allow(client(of: 0, in: ""), on: owner, of: "", loosening: "forget it")
        }
    }
}

/// What a test's polkit says, one after the other.
private final class Verdicts: Sendable {
    private let left: Mutex<[Bool]>

    init(_ verdicts: [Bool]) { left = Mutex(verdicts) }

    func next() -> Bool { left.withLock { $0.isEmpty ? false : $0.removeFirst() } }
}
