import BusSupport
import CaptureCore
import Testing

@testable import CaptureBus
@testable import CaptureKit

/// What sessions of a real daemon leave behind in a connection.
@Suite(.timeLimit(.minutes(10)))
struct SessionLeakTests {
    /// The number of closures that wait for the connection's end.
    private func waiting(_ daemon: CaptureDaemon) async throws -> Int {
        try await daemon.connection.loop.perform { core throws(CaptureError) in core.closeHandlers.count }
    }

    @Test(arguments: [true, false])
    func `a session that was stopped or released leaves nothing behind in its connection`(isStopped: Bool) async throws
    {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let before = try await waiting(daemon)
        for _ in 0..<3 {
            let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
            try await session.startRunning()
            #expect(try await waiting(daemon) > before)
            if isStopped { try await session.stopRunning() }
        }
        // The subscriptions end after the event about the session's end.
        try await until { try await waiting(daemon) <= before }
        #expect(try await waiting(daemon) == before)
    }
}
