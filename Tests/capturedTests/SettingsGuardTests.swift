import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import Synchronization
import Testing

@testable import captured

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
            commandLine: "/nonexistent"
        )
    }

    private func client(later: ClientIdentity = identity) -> SessionClient {
        SessionClient(identity: Self.identity, connection: ":1.4711") { later }
    }

    @Test func `takes a password, whose dialog names the program, the service and who asks`() async throws {
        let polkit = try await FakePolkit(bus) { true }
        try await settings.allow(client(), on: 1000, loosening: "let exe:/usr/bin/cheese use the camera")
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
        try await settings.allow(client(), on: 1000, loosening: "let \(path) use the camera")
        let message = try #require(polkit.messages.first)
        #expect(message.contains("exe:/tmp/‹b›＄(polkit.message)"))
        #expect(!message.contains { "<>$\u{1B}\u{202E}".contains($0) })
    }

    @Test func `is refused without the password, and to who changed while it was typed`() async throws {
        let verdicts = Verdicts([false, true])
        let polkit = try await FakePolkit(bus) { verdicts.next() }
        let refusal = await #expect(throws: CaptureError.self) {
            try await settings.allow(client(), on: 1000, loosening: "let a use the camera")
        }
        #expect(refusal?.code == .notPermitted)
        #expect(refusal?.message.contains("takes your password") == true)
        var other = Self.identity
        other.parts.startTime += 1
        let changed = await #expect(throws: CaptureError.self) {
            try await settings.allow(client(later: other), on: 1000, loosening: "let a use the camera")
        }
        #expect(changed?.code == .notPermitted)
        #expect(changed?.message.contains("changed while the password was typed") == true)
        #expect(polkit.checks.count == 2)
    }

    @Test func `is free to tighten`() async throws {
        let polkit = try await FakePolkit(bus) { false }
        try await settings.allow(client(), on: 1000)
        #expect(polkit.checks.isEmpty)
    }
}

/// What a test's polkit says, one after the other.
private final class Verdicts: Sendable {
    private let left: Mutex<[Bool]>

    init(_ verdicts: [Bool]) { left = Mutex(verdicts) }

    func next() -> Bool { left.withLock { $0.isEmpty ? false : $0.removeFirst() } }
}
