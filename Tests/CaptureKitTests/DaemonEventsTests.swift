import BusSupport
import CaptureBus
import CaptureCore
import Testing

@testable import CaptureKit

@Suite(.timeLimit(.minutes(10)))
struct `What happens in the daemon` {
    @Test func `is told to who listens, of sessions that others made as well`() async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        var events = try await client.events().makeAsyncIterator()
        #expect(daemon.calls("Subscribe").map(\.sender) == [client.connection.uniqueName])
        try daemon.become(.running)
        guard case .sessionChanged(7, let status) = await events.next() else {
            Issue.record("the change was not heard")
            return
        }
        #expect(status.state == .running)
    }

    @Test func `is told by the next daemon, too, before that is told of itself`() async throws {
        let first = try await FakeDaemon()
        let client = try await first.client()
        var events = try await client.events().makeAsyncIterator()
        await first.connection.close()
        guard case .daemonVanished = await events.next() else {
            Issue.record("the end of the daemon was not heard")
            return
        }
        let second = try await FakeDaemon(on: first.bus)
        guard case .daemonAppeared = await events.next() else {
            Issue.record("the new daemon was not heard of")
            return
        }
        #expect(second.listeners == [client.connection.uniqueName])
    }

    @Test func `is waited for where there is no daemon yet, and refused aloud where it does not tell`() async throws {
        let bus = try PrivateBus()
        let client = try await CaptureDaemon.connect(to: bus.kind)
        var events = try await client.events().makeAsyncIterator()
        let refusal = CaptureError(.busy, "too many listen")
        let subscribe: FakeDaemon.Answer = { _, _ throws(CaptureError) in throw refusal }
        let daemon = try await FakeDaemon(["Subscribe": subscribe], on: bus)
        // Whoever waits is not left in silence.
        #expect(await events.next() == nil)
        let other = try await daemon.client()
        await #expect(throws: refusal) { try await other.events() }
        withExtendedLifetime(daemon) {}
    }

    @Test func `to a session of another connection is heard by who looks it up`() async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let session = try await CaptureSession.session(7, on: client)
        let end = Task {
            for await status in try await session.states() where status.state.isFinal { return status.state }
            return SessionState.configured
        }
        try daemon.become(.stopped)
        #expect(try await end.value == .stopped)
        #expect(daemon.calls("Subscribe").count == 1)
    }

    @Test func `in use is listed, and told of as it changes`() async throws {
        func use(_ state: String, ended: Int64) -> [String: BusValue] {
            [
                "id": .uint64(41), "state": .string(state), "service": .string("camera"), "device": .string("v4l2:1"),
                "device-name": .string("Front"), "user": .string("ann"), "program": .string("exe:/a"),
                "name": .string("A"), "tier": .string("claimed"), "session": .uint32(7), "began": .int64(1_000),
                "ended": .int64(ended),
            ]
        }
        let listed = use("live", ended: 0)
        let daemon = try await FakeDaemon(["ListUses": { _, _ in [.propertyList([listed])] }])
        let client = try await daemon.client()
        var events = try await client.events().makeAsyncIterator()
        let live = try #require(try await client.uses().first)
        #expect(live.id == 41 && live.phase == .live && live.ended == nil && live.began == 1_000)
        #expect(live.deviceName == "Front" && live.program == "exe:/a" && live.user == "ann" && live.session == 7)
        for listener in daemon.listeners {
            try daemon.connection.emit(
                CaptureNames.root,
                CaptureNames.manager,
                "UseChanged",
                signature: "a{sv}",
                [.properties(use("ended", ended: 1_100))],
                to: listener
            )
        }
        guard case .useChanged(let ended) = await events.next() else {
            Issue.record("the change was not heard")
            return
        }
        #expect(ended.phase == .ended && ended.ended == 1_100)
    }

    @Test(arguments: [[:], ["id": BusValue.uint64(1), "state": .string("perhaps")]])
    func `in use that cannot be understood is said to be so`(facts: [String: BusValue]) async throws {
        let daemon = try await FakeDaemon(["ListUses": { _, _ in [.propertyList([facts])] }])
        let client = try await daemon.client()
        let error = await #expect(throws: CaptureError.self) { try await client.uses() }
        #expect(error?.code == .badData)
        withExtendedLifetime(daemon) {}
    }
}
