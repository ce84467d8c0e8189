import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The gain and the levels of an output` {
    private let bench = EngineBench()

    /// A session of a microphone alone, recorded into a movie.
    private static let sound = SessionDescription.of("microphone", "movie", .movie, "mkv")

    /// The same of a camera.
    private static let pictures = SessionDescription.of("camera", "movie", .movie, "mkv")

    private func running() async throws -> UInt32 { try await bench.running(Self.sound) }

    private func refusal(_ body: () async throws -> Void) async -> CaptureError.Code? {
        await #expect(throws: CaptureError.self) { try await body() }?.code
    }

    @Test func `a gain is told to the recorder, is described, and stays under a new description`() async throws {
        let id = try await running()
        for gain in [6.0, 6, -60] {
            try await bench.engine.setGain(gain, id, output: "movie", client: EngineBench.client())
        }
        let recorder = try #require(bench.recorders.recorder("movie"))
        #expect(recorder.switches == ["gain 6.0", "gain -60.0"])
        try await bench.engine.configure(id, Self.sound, files: [:], client: EngineBench.client())
        #expect(recorder.switches.count == 2)
        let now = await bench.watch.wait(id, for: .running).description.outputs.first
        #expect(now?.settings.gain == -60)
    }

    @Test func `a gain ends with its output: one that takes the name of a finished one has its own`() async throws {
        let described = Self.sound.with("frames", of: "camera")
        let (id, client) = (try await bench.running(described), EngineBench.client())
        try await bench.engine.setGain(6, id, output: "movie", client: client)
        bench.recorders.recorder("movie")?.report(.finished(OutputStatistics()))
        await bench.watch.waitForOutput("movie")
        try await bench.engine.configure(id, described, files: ["movie": FakeFile()], client: client)
        #expect(bench.recorders.recorder("movie")?.job.output.settings.gain == 0)
        #expect(await bench.watch.wait(id, for: .running).description.outputs.first?.settings.gain == 0)
    }

    @Test func `a gain before the start goes along with the recorder's job`() async throws {
        let id = try await bench.create(Self.sound)
        try await bench.engine.setGain(3, id, output: "movie", client: EngineBench.client())
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        #expect(bench.recorders.recorder("movie")?.job.output.settings.gain == 3)
        #expect(bench.recorders.recorder("movie")?.switches == [])
    }

    @Test func `are for the program that made the session, and outputs with sound`() async throws {
        let id = try await running()
        let other = EngineBench.client(":1.2", program: "other")
        let engine = bench.engine
        #expect(await refusal { try await engine.setGain(1, id, output: "movie", client: other) } == .notPermitted)
        #expect(
            await refusal { try await engine.watchLevels(true, id, output: "movie", client: other) } == .notPermitted
        )
        let own = EngineBench.client()
        #expect(await refusal { try await engine.setGain(41, id, output: "movie", client: own) } == .invalidArgument)
        #expect(await refusal { try await engine.setGain(.nan, id, output: "movie", client: own) } == .invalidArgument)
        #expect(await refusal { try await engine.setGain(1, id, output: "film", client: own) } == .invalidArgument)
        let silent = try await bench.running(Self.pictures)
        #expect(await refusal { try await engine.setGain(0, silent, output: "movie", client: own) } == .invalidArgument)
        #expect(
            await refusal { try await engine.watchLevels(true, silent, output: "movie", client: own) }
                == .invalidArgument
        )
        try await engine.stop(id, client: own)
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(await refusal { try await engine.setGain(1, id, output: "movie", client: own) } == .wrongState)
        #expect(await refusal { try await engine.watchLevels(true, id, output: "movie", client: own) } == .wrongState)
    }

    @Test func `levels are told to those who asked, until they leave, and no faster than they are to come`()
        async throws
    {
        let id = try await running()
        let recorder = try #require(bench.recorders.recorder("movie"))
        let loud = [AudioLevel(average: -3, peak: 0)]
        let client = EngineBench.client()
        try await bench.engine.watchLevels(true, id, output: "movie", client: client)
        try await bench.engine.watchLevels(true, id, output: "movie", client: EngineBench.client(":1.9"))
        for _ in 0..<1000 { recorder.report(.levels(loud)) }
        var counters = OutputStatistics()
        counters.samples = 1
        recorder.report(.progress(counters))
        while try await bench.engine.statistics(of: id, client: client).outputs["movie"]?.samples != 1 {
            await Task.yield()
        }
        #expect(bench.watch.levels.first?.connections == [client.connection, ":1.9"])
        #expect(bench.watch.levels.first?.levels == loud)
        #expect(bench.watch.levels.count < 100)
        await bench.engine.clientGone(":1.9")
        // A connection with two readers is told until both have left; its recorder hears of the first and the last alone.
        try await bench.engine.watchLevels(true, id, output: "movie", client: client)
        try await bench.engine.watchLevels(false, id, output: "movie", client: client)
        #expect(recorder.switches == ["levels on"])
        try await bench.engine.watchLevels(false, id, output: "movie", client: client)
        try await bench.engine.watchLevels(false, id, output: "movie", client: client)
        #expect(recorder.switches == ["levels on", "levels off"])
    }

    @Test func `at most sixteen connections hear of an output's levels`() async throws {
        let id = try await running()
        for number in 0..<16 {
            let client = EngineBench.client(":2.\(number)")
            try await bench.engine.watchLevels(true, id, output: "movie", client: client)
        }
        let engine = bench.engine
        let last = EngineBench.client(":2.16")
        #expect(await refusal { try await engine.watchLevels(true, id, output: "movie", client: last) } == .busy)
    }

    @Test func `settings that an output cannot have are refused before anything is opened`() async throws {
        var wrong = Self.sound
        wrong.outputs[0].settings.rotation = 90
        #expect(await refusal { _ = try await bench.create(wrong) } == .invalidArgument)
        wrong.outputs[0].settings = ConnectionSettings()
        wrong.outputs[0].settings.channels = [0, 0]
        #expect(await refusal { _ = try await bench.create(wrong) } == .invalidArgument)
        #expect(bench.machine.log.isEmpty)
    }
}
