import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Pausing an output` {
    private let bench = EngineBench()

    private func refusal(
        of output: String,
        in id: UInt32,
        by client: SessionClient = EngineBench.client()
    ) async -> CaptureError.Code? {
        await #expect(throws: CaptureError.self) {
            try await bench.engine.setPaused(true, id, output: output, client: client)
        }?.code
    }

    @Test func `is told to its recorder, and opens and closes nothing`() async throws {
        let id = try await bench.running()
        let before = bench.machine.log
        for isPaused in [true, false] {
            try await bench.engine.setPaused(isPaused, id, output: "movie", client: EngineBench.client())
        }
        #expect(bench.recorders.recorder("movie")?.pauses == [true, false])
        #expect(bench.machine.log == before)
        #expect(try await bench.uses().allSatisfy(\.outcome.isEmpty))
    }

    @Test func `is for the program that made the session`() async throws {
        let id = try await bench.running()
        let other = EngineBench.client(":1.2", program: "other")
        #expect(await refusal(of: "movie", in: id, by: other) == .notPermitted)
        #expect(await refusal(of: "movie", in: id, by: EngineBench.client(":1.3", user: 1001)) == .noSuchSession)
        #expect(bench.recorders.recorder("movie")?.pauses == [])
    }

    @Test func `is as marking is: told to its recorder, for its program, where there are chapters and room`()
        async throws
    {
        let (id, client) = (try await bench.running(), EngineBench.client())
        func refusal(_ title: String, in id: UInt32, _ output: String, by client: SessionClient) async -> CaptureError
            .Code?
        {
            await #expect(throws: CaptureError.self) {
                try await bench.engine.mark(id, output: output, title: title, client: client)
            }?.code
        }
        let other = EngineBench.client(":1.2", program: "other")
        #expect(await refusal("goal", in: id, "movie", by: other) == .notPermitted)
        #expect(await refusal("a\nb", in: id, "movie", by: client) == .invalidArgument)
        #expect(await refusal("goal", in: id, "nothing", by: client) == .invalidArgument)
        for index in 1...255 { try await bench.engine.mark(id, output: "movie", title: "\(index)", client: client) }
        #expect(await refusal("goal", in: id, "movie", by: client) == .overQuota)
        #expect(bench.recorders.recorder("movie")?.markers == (1...255).map(String.init))
        let buffer = try await bench.running(EngineBench.buffer)
        #expect(await refusal("goal", in: buffer, "frames", by: client) == .invalidArgument)
        try await bench.engine.stop(id, client: client)
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(await refusal("goal", in: id, "movie", by: client) == .wrongState)
    }

    @Test func `is as the beginning of a movie with a pre-roll: told to its recorder, for its program`() async throws {
        let whole = try await bench.running()
        await #expect(throws: CaptureError.self) {
            try await bench.engine.begin(whole, output: "movie", from: nil, client: EngineBench.client())
        }
        var description = EngineBench.movie(named: "goal")
        description.outputs[0].preRoll = 1_000_000_000
        await bench.engine.setPreRollMemory(2 << 20)
        let id = try await bench.running(description)
        #expect(bench.recorders.recorder("goal")?.job.preRollBytes == 2 << 20)
        let other = EngineBench.client(":1.2", program: "other")
        await #expect(throws: CaptureError.self) {
            try await bench.engine.begin(id, output: "goal", from: nil, client: other)
        }
        #expect(bench.recorders.recorder("goal")?.switches == [])
        try await bench.engine.begin(id, output: "goal", from: nil, client: EngineBench.client())
        #expect(bench.recorders.recorder("goal")?.switches == ["begin"])
        for (change, word): ((inout OutputDescription) -> Void, String) in [
            ({ $0.preRoll = 301_000_000_000 }, "300"), ({ $0.duration = 1 }, "longer"),
            ({ $0.preRoll = -1 }, "more than 0"), ({ $0.fragmentInterval = 99_999_999 }, "0.1 s to 30 s"),
            ({ $0.fragmentInterval = 30_000_000_001 }, "0.1 s to 30 s"), ({ $0.fragmentInterval = 0 }, "0.1 s to 30 s"),
            ({ $0.tags = [.title: "a\nb"] }, "one line"),
            (
                { ($0.preRoll, $0.kind, $0.format, $0.fragmentInterval) = (0, .frames, "raw", 1_000_000_000) },
                "no fragments"
            ),
        ] {
            var description = description
            change(&description.outputs[0])
            let error = await #expect(throws: CaptureError.self) { try await bench.create(description) }
            #expect(error?.code == .invalidArgument && error?.message.contains(word) == true)
        }
    }

    @Test func `is for movies and sounds that record`() async throws {
        let id = try await bench.create()
        #expect(await refusal(of: "movie", in: id) == .wrongState)
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        #expect(await refusal(of: "nothing", in: id) == .invalidArgument)
        let buffer = try await bench.running(EngineBench.buffer)
        #expect(await refusal(of: "frames", in: buffer) == .invalidArgument)
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(await refusal(of: "movie", in: id) == .wrongState)
    }
}
