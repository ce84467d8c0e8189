import BusSupport
import CaptureCore
import Testing

@testable import CaptureKit

@Suite(.timeLimit(.minutes(10)))
struct `What happens in the daemon` {
    @Test func `is told to who listens, of sessions that others made as well`() async throws {
        let bus = try PrivateBus()
        let daemon = try await FakeDaemon(on: bus)
        let client = try await CaptureDaemon.connect(to: bus.kind)
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
        let bus = try PrivateBus()
        let first = try await FakeDaemon(on: bus)
        let client = try await CaptureDaemon.connect(to: bus.kind)
        var events = try await client.events().makeAsyncIterator()
        await first.connection.close()
        guard case .daemonVanished = await events.next() else {
            Issue.record("the end of the daemon was not heard")
            return
        }
        let second = try await FakeDaemon(on: bus)
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
        let daemon = try await FakeDaemon(on: bus, ["Subscribe": { _, _ throws(CaptureError) in throw refusal }])
        // Whoever waits is not left in silence.
        #expect(await events.next() == nil)
        let other = try await CaptureDaemon.connect(to: bus.kind)
        await #expect(throws: refusal) { try await other.events() }
        withExtendedLifetime(daemon) {}
    }

    @Test func `to a session of another connection is heard by who looks it up`() async throws {
        let bus = try PrivateBus()
        let daemon = try await FakeDaemon(on: bus)
        let client = try await CaptureDaemon.connect(to: bus.kind)
        let session = try await CaptureSession.session(7, on: client)
        let end = Task {
            for await status in try await session.states() where status.state.isFinal { return status.state }
            return SessionState.configured
        }
        try daemon.become(.stopped)
        #expect(try await end.value == .stopped)
        #expect(daemon.calls("Subscribe").count == 1)
    }
}
