import CaptureCore
import CaptureEngine
import TestSupport
import Testing

/// A photo needs one frame: what follows it is its recorder's alone.
@Suite struct `A photo` {
    private let bench = EngineBench()

    private static let description = SessionDescription.of("camera", "shot", .photo, "jpeg")

    private func start(_ file: FakeFile) async throws -> (id: UInt32, recorder: FakeRecorder) {
        let client = EngineBench.client()
        let id = try await bench.engine.create(Self.description, files: ["shot": file], client: client)
        try await bench.engine.start(id, client: client)
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        let recorder = try #require(bench.recorders.recorder("shot"))
        recorder.isStubborn = true
        return (id, recorder)
    }

    private static var taken: OutputStatistics {
        var counters = OutputStatistics()
        counters.frames = 1
        return counters
    }

    private func state(of id: UInt32) async -> SessionState? {
        await bench.engine.list(for: EngineBench.client()).first { $0.id == id }?.state
    }

    /// Reports, and waits until that was heard.
    private func report(_ counters: OutputStatistics, by recorder: FakeRecorder, in id: UInt32) async throws {
        recorder.report(.progress(counters))
        while try await bench.engine.statistics(of: id, client: EngineBench.client()).outputs["shot"] != counters {
            await Task.yield()
        }
    }

    /// Starts a photo whose recorder has not begun its file, and waits until the camera streams.
    private func startAhead() async throws -> (id: UInt32, recorder: FakeRecorder) {
        bench.recorders.hold("shot")
        let id = try await bench.create(Self.description)
        try await bench.engine.start(id, client: EngineBench.client())
        await bench.machine.wait(for: "start fake:camera")
        await bench.recorders.waitForLaunch("shot")
        return (id, try #require(bench.recorders.recorder("shot")))
    }

    @Test func `has its camera started while its recorder begins, and runs when both have`() async throws {
        let (id, recorder) = try await startAhead()
        #expect(await state(of: id) == .starting)
        recorder.report(.ready(OutputStatistics()))
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
    }

    @Test func `closes its camera if its recorder does not begin`() async throws {
        let (id, recorder) = try await startAhead()
        recorder.kill()
        let end = await bench.watch.wait(id, for: .running, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .recorderLost)
        #expect(bench.machine.log.contains("close fake:camera"))
    }

    @Test func `closes its camera once it has its frame, and is over when its file is complete`() async throws {
        let (id, recorder) = try await start(FakeFile(inode: 1))
        try await report(OutputStatistics(), by: recorder, in: id)
        #expect(!bench.machine.log.contains("close fake:camera"))
        recorder.report(.progress(Self.taken))
        await bench.machine.wait(for: "close fake:camera")
        #expect(await state(of: id) == .running)
        recorder.report(.finished(Self.taken))
        let end = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(end.state == .stopped)
        #expect(try await bench.engine.statistics(of: id, client: EngineBench.client()).outputs["shot"]?.frames == 1)
    }

    @Test func `fails if its file does not come about after that`() async throws {
        let (id, recorder) = try await start(FakeFile(inode: 1))
        recorder.report(.progress(Self.taken))
        await bench.machine.wait(for: "close fake:camera")
        recorder.report(.failed(CaptureError(.inputOutput, "no space left"), OutputStatistics()))
        let end = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .inputOutput)
    }

    @Test func `fails if its recorder dies after that`() async throws {
        let (id, recorder) = try await start(FakeFile(inode: 1))
        recorder.report(.progress(Self.taken))
        await bench.machine.wait(for: "close fake:camera")
        recorder.kill()
        let end = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .recorderLost)
    }

    @Test func `into a pipe keeps its session, whose end would hurry its reader`() async throws {
        let (id, recorder) = try await start(FakeFile())
        try await report(Self.taken, by: recorder, in: id)
        #expect(!bench.machine.log.contains("close fake:camera"))
        recorder.report(.finished(Self.taken))
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
    }

    @Test func `leaves the camera to a recording that goes on`() async throws {
        let id = try await bench.running()
        try await bench.addPhoto(to: id, file: FakeFile(inode: 1))
        let recorder = try #require(bench.recorders.recorder("shot"))
        try await report(Self.taken, by: recorder, in: id)
        #expect(!bench.machine.log.contains("close fake:camera"))
        #expect(await state(of: id) == .running)
    }

    @Test func `that is stopped when it has its frame is finished all the same`() async throws {
        let (id, recorder) = try await start(FakeFile(inode: 1))
        recorder.report(.progress(Self.taken))
        await bench.machine.wait(for: "close fake:camera")
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await state(of: id) == .running)
        recorder.report(.finished(Self.taken))
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
    }
}
