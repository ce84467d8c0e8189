import BusSupport
import CaptureCore
import Testing

@testable import CaptureBus
@testable import CaptureKit

/// What sessions of a real daemon's leave behind in a connection.
@Suite(.timeLimit(.minutes(5)))
struct SessionLeakTests {
    /// How many closures wait for a connection's end.
    private func waiting(_ daemon: CaptureDaemon) async throws -> Int {
        try await daemon.connection.loop.perform { core throws(CaptureError) in core.closeHandlers.count }
    }

    @Test func `a session that is over leaves nothing behind in its connection`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let before = try await waiting(daemon)
        for _ in 0..<3 {
            let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
            try await session.startRunning()
            #expect(try await waiting(daemon) > before)
            try await session.stopRunning()
        }
        // What ends a subscription follows the news of the session's end.
        let limit = ContinuousClock.now + .seconds(30)
        while try await waiting(daemon) > before, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await waiting(daemon) == before)
    }

    @Test func `a session that nobody holds any more leaves nothing behind in its connection`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let before = try await waiting(daemon)
        for _ in 0..<3 {
            let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
            try await session.startRunning()
        }
        let limit = ContinuousClock.now + .seconds(30)
        while try await waiting(daemon) > before, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await waiting(daemon) == before)
    }
}
