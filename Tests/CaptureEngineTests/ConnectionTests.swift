import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Enabling and disabling a connection` {
    private let bench = EngineBench()

    private func refusal(
        of input: String,
        to output: String,
        in id: UInt32,
        by client: SessionClient = EngineBench.client()
    ) async -> CaptureError.Code? {
        await #expect(throws: CaptureError.self) {
            try await bench.engine.setEnabled(false, id, from: input, to: output, client: client)
        }?.code
    }

    private func set(_ isEnabled: Bool, _ id: UInt32) async throws {
        try await bench.engine.setEnabled(isEnabled, id, from: "camera", to: "movie", client: EngineBench.client())
    }

    private func disabled(_ id: UInt32) async throws -> [String]? {
        try await bench.engine.statistics(of: id, client: EngineBench.client()).outputs["movie"]?.disabledInputs
    }

    @Test func `is told to the recorder once, and opens and closes nothing`() async throws {
        let id = try await bench.running()
        let before = bench.machine.log
        for isEnabled in [true, false, false, true] { try await set(isEnabled, id) }
        #expect(bench.recorders.recorder("movie")?.switches == ["video off", "video on"])
        try await set(false, id)
        #expect(try await disabled(id) == ["camera"])
        #expect(bench.machine.log == before)
        #expect(try await bench.uses().allSatisfy(\.outcome.isEmpty))
    }

    @Test func `before the start goes along with the recorder's job`() async throws {
        let id = try await bench.create()
        try await set(false, id)
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        #expect(bench.recorders.recorder("movie")?.job.disabled == [.video])
        #expect(bench.recorders.recorder("movie")?.switches == [])
        #expect(try await disabled(id) == ["camera"])
    }

    @Test func `is for the program that made the session, and for connections that it has`() async throws {
        let id = try await bench.running()
        let other = EngineBench.client(":1.2", program: "other")
        #expect(await refusal(of: "camera", to: "movie", in: id, by: other) == .notPermitted)
        let user = EngineBench.client(":1.3", user: 1001)
        #expect(await refusal(of: "camera", to: "movie", in: id, by: user) == .noSuchSession)
        #expect(await refusal(of: "camera", to: "nothing", in: id) == .invalidArgument)
        #expect(await refusal(of: "nothing", to: "movie", in: id) == .invalidArgument)
        try await bench.addPhoto(to: id)
        #expect(await refusal(of: "camera", to: "shot", in: id) == .invalidArgument)
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(await refusal(of: "camera", to: "movie", in: id) == .wrongState)
    }

    @Test func `is forgotten for an output that becomes one which cannot be disabled`() async throws {
        let id = try await bench.create()
        try await set(false, id)
        var changed = EngineBench.buffer
        (changed.outputs[0].name, changed.outputs[0].kind) = ("movie", .photos)
        changed.connections[0].output = "movie"
        try await bench.engine.configure(id, changed, files: [:], client: EngineBench.client())
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        #expect(try await disabled(id) == [])
    }
}
