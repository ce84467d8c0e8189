import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An encoder that does not keep up` {
    private let bench = EngineBench()

    /// A movie that ends with so many frames and so many lost ones.
    ///
    /// - Returns: The preset that its recorder was told to take.
    private func movie(
        _ asked: String = "auto",
        taken preset: String,
        lost: UInt64 = 10,
        by user: UInt32 = 1000
    ) async throws -> String? {
        var film = EngineBench.movie()
        film.outputs[0].encoderPreset = asked
        let id = try await bench.running(film, EngineBench.client(user: user))
        let recorder = bench.recorders.recorder("movie")
        var counters = OutputStatistics()
        (counters.frames, counters.missedFrames, counters.encoderPreset) = (90, lost, preset)
        recorder?.report(.finished(counters))
        _ = await bench.watch.wait(id, for: .stopped)
        return recorder?.job.output.encoderPreset
    }

    @Test func `has the next movie begin with a faster preset`() async throws {
        #expect(try await movie(taken: "veryfast") == "auto")
        #expect(try await movie(taken: "superfast") == "superfast")
        #expect(try await movie(taken: "ultrafast") == "ultrafast")
        #expect(try await movie(taken: "ultrafast") == "ultrafast")
    }

    @Test func `is one user's matter`() async throws {
        #expect(try await movie(taken: "veryfast", by: 1000) == "auto")
        #expect(try await movie(taken: "veryfast", by: 1001) == "auto")
        #expect(try await movie(taken: "superfast", by: 1000) == "superfast")
    }

    @Test func `is let be for a lost frame, and where its preset was asked for`() async throws {
        #expect(try await movie(taken: "veryfast", lost: 1) == "auto")
        #expect(try await movie("medium", taken: "medium") == "medium")
        #expect(try await movie(taken: "veryfast") == "auto")
        #expect(try await movie("medium", taken: "medium") == "medium")
    }
}
