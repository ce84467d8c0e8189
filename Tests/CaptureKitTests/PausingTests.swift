import BusSupport
import CaptureKit
import Testing

/// Recordings of a real daemon that are paused.
@Suite(.timeLimit(.minutes(10)))
struct `Pausing a recording` {
    private func paused(_ isPaused: Bool, _ session: CaptureSession) async throws -> OutputStatistics {
        while true {
            if let counters = try await session.statistics().outputs["movie"], counters.isPaused == isPaused {
                return counters
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// What became of a recording that was paused for two seconds.
    private func recording(of daemon: CaptureDaemon) async throws -> OutputStatistics {
        let file = try OutputFile.scratch()
        let session = try await SessionLifeTests.session(
            daemon,
            FrameBufferOutput(),
            try MovieFileOutput(file: file.descriptor)
        )
        try await session.startRunning()
        try await SessionLifeTests.recorded("movie", in: session)
        try await session.pauseRecording()
        try await session.pauseRecording()
        _ = try await paused(true, session)
        let published = try await session.statistics().inputs["camera"]?.published ?? 0
        try await until { try await session.statistics().inputs["camera"]?.published ?? 0 >= published + 60 }
        // What was on its way when it was paused may still have come.
        let meanwhile = try await paused(true, session)
        #expect(meanwhile.frames <= published + 10)
        #expect(await session.isRunning)
        try await session.resumeRecording()
        _ = try await paused(false, session)
        try await until { try await session.statistics().outputs["movie"]?.frames ?? 0 >= meanwhile.frames + 3 }
        try await session.stopRunning()
        let result = try #require(await session.results.first)
        #expect(result.error == nil)
        // Two seconds were left out.
        let all = try await session.statistics().inputs["camera"]?.published ?? 0
        #expect(result.statistics.frames + 50 <= max(all, published + 60))
        return result.statistics
    }

    /// Whether a recording has a picture for each moment that is not left out.
    private func isWhole(_ recording: OutputStatistics) -> Bool {
        recording.missedFrames == 0 && Double(recording.duration) / 1e9 < Double(recording.frames + 2) / 30 + 0.2
    }

    @Test func `leaves out what is captured meanwhile, while the camera goes on`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        var made = try await recording(of: daemon)
        // A machine that is held up loses pictures.
        for _ in 1..<20 where !isWhole(made) { made = try await recording(of: daemon) }
        #expect(isWhole(made), "\(made)")
    }

    @Test func `is refused for a buffer, and where nothing records`() async throws {
        let captured = try await RealDaemon()
        let session = try await SessionLifeTests.session(try await captured.client(), FrameBufferOutput())
        #expect(await code { try await session.pauseRecording("buffer") } == .wrongState)
        try await session.startRunning()
        #expect(await code { try await session.pauseRecording("buffer") } == .invalidArgument)
        try await session.stopRunning()
    }
}
