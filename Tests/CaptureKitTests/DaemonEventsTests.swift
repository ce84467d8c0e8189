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

    @Test func `is not mixed with what happened in the daemon before`() async throws {
        let first = try await FakeDaemon()
        let client = try await first.client()
        var events = try await client.events().makeAsyncIterator()
        try first.become(.failed, CaptureError(.unreachable, "captured was stopped"))
        guard case .sessionChanged(7, let before) = await events.next() else {
            Issue.record("the change was not heard")
            return
        }
        #expect(before.reason?.code == .unreachable)
        await first.connection.close()
        let second = try await FakeDaemon(on: first.bus)
        while let event = await events.next() {
            switch event {
            case .daemonAppeared: try second.become(.running)
            case .sessionChanged(7, let now):
                #expect(now.state == .running && now.reason == nil)
                return
            default: continue
            }
        }
    }

    @Test func `is heard to the end by who keeps nothing of the session but its states`() async throws {
        let daemon = try await FakeDaemon()
        let client = try await daemon.client()
        let states = try await CaptureSession.session(7, on: client).states()
        try daemon.become(.stopped)
        var last: SessionState?
        for await status in states { last = status.state }
        #expect(last == .stopped)
    }

    @Test func `lets no session stand whose program left while it was made`() async throws {
        let captured = try await RealDaemon()
        for number in 0..<60 {
            let client = try await captured.client()
            let session = try await SessionLifeTests.session(client, PhotoOutput(name: "photos"))
            let making = Task { _ = try? await session.create() }
            try await Task.sleep(for: .microseconds(200 * number))
            await client.connection.close()
            await making.value
        }
        let watcher = try await captured.client()
        // What the daemon has still to hear of comes in a moment; what it has missed never does.
        try await until { try await watcher.sessions().allSatisfy(\.status.state.isFinal) }
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
        #expect(await code { try await client.uses() } == .badData)
        withExtendedLifetime(daemon) {}
    }
}
