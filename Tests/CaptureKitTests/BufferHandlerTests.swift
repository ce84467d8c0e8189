import BusSupport
import CaptureCore
import CaptureKit
import Synchronization
import Testing

/// Counts the buffers that a handler gets.
private final class Frames: Sendable {
    private let count = Atomic<Int>(0)

    var seen: Int { count.load(ordering: .acquiring) }

    func output(_ name: String) -> VideoDataOutput {
        VideoDataOutput(name: name) { [self] event in
            if case .data = event { count.add(1, ordering: .acquiringAndReleasing) }
        }
    }

    /// Returns once so many more have come, or after a time in which they should have come.
    func more(_ number: Int) async throws -> Bool {
        let wanted = seen + number
        let limit = ContinuousClock.now + .seconds(300)
        while seen < wanted, ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
        return seen >= wanted
    }
}

/// Handlers of data outputs, with the camera of a real daemon.
@Suite(.timeLimit(.minutes(10)))
struct BufferHandlerTests {
    @Test func `a session started without waiting calls its handlers`() async throws {
        let captured = try await RealDaemon()
        let frames = Frames()
        let session = try await SessionLifeTests.session(try await captured.client(), frames.output("buffer"))
        try await session.start()
        #expect(try await frames.more(3))
        try await session.stopRunning()
    }

    @Test func `an output added to a running session calls its handler`() async throws {
        let captured = try await RealDaemon()
        let (first, second) = (Frames(), Frames())
        let session = try await SessionLifeTests.session(try await captured.client(), first.output("first"))
        try await session.startRunning()
        try await session.addOutput(second.output("second"))
        #expect(try await first.more(3))
        #expect(try await second.more(3))
        try await session.stopRunning()
    }

    @Test func `a removed output stops calling its handler until it is added again`() async throws {
        let captured = try await RealDaemon()
        let (kept, removed) = (Frames(), Frames())
        let output = removed.output("removed")
        let session = try await SessionLifeTests.session(try await captured.client(), kept.output("kept"), output)
        try await session.startRunning()
        #expect(try await removed.more(1))
        try await session.removeOutput("removed")
        let last = removed.seen
        #expect(try await kept.more(10))
        #expect(removed.seen == last)
        try await session.addOutput(output)
        #expect(try await removed.more(3))
        #expect(output.failure == nil)
        try await session.stopRunning()
    }

    @Test func `a stopped output stays stopped`() async throws {
        let captured = try await RealDaemon()
        let (kept, stopped) = (Frames(), Frames())
        let output = stopped.output("stopped")
        let session = try await SessionLifeTests.session(try await captured.client(), kept.output("kept"), output)
        output.stop()
        try await session.startRunning()
        #expect(try await kept.more(10))
        #expect(stopped.seen == 0)
        try await session.stopRunning()
    }
}
