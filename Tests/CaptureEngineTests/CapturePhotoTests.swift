import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

/// Photos that are taken while a session runs.
@Suite(.timeLimit(.minutes(10))) struct `Capturing photos` {
    private let bench = EngineBench()

    init() throws {
        var camera = FakeMachine.camera
        let size = DiscreteSize(width: 640, height: 480, intervals: .discrete([FrameInterval(1, 30)]))
        camera.videoFormats += [
            VideoFormatOption(pixelFormat: try #require(PixelFormat(name: "RGGB")), name: "", sizes: .discrete([size]))
        ]
        bench.machine.plug([camera, FakeMachine.microphone])
    }

    private static let photos = SessionDescription.of("camera", "photo", .photos)

    private static func files(_ numbers: ClosedRange<Int>) -> [String: any OpenFile] {
        Dictionary(uniqueKeysWithValues: numbers.map { ("\($0)", FakeFile(inode: UInt64(100 + $0))) })
    }

    private func running() async throws -> UInt32 {
        let id = try await bench.engine.create(Self.photos, files: [:], client: EngineBench.client())
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        return id
    }

    @discardableResult
    private func capture(
        _ id: UInt32,
        of output: String = "photo",
        _ settings: PhotoSettings = PhotoSettings(),
        _ files: [String: any OpenFile]? = nil,
        by client: SessionClient = EngineBench.client()
    ) async throws -> String {
        try await bench.engine.capturePhoto(
            id,
            output: output,
            settings,
            files: files ?? ["1": FakeFile()],
            client: client
        )
    }

    private func refusal(
        _ id: UInt32,
        of output: String = "photo",
        _ settings: PhotoSettings = PhotoSettings(),
        _ files: [String: any OpenFile]? = nil,
        by client: SessionClient = EngineBench.client()
    ) async -> CaptureError? {
        await #expect(throws: CaptureError.self) { try await capture(id, of: output, settings, files, by: client) }
    }

    private func taken(_ name: String) async {
        var counters = OutputStatistics()
        counters.frames = 1
        bench.recorders.recorder(name)?.report(.finished(counters))
        await bench.watch.waitForOutput(name)
    }

    @Test func `starts a recorder for each, and none before; the session goes on`() async throws {
        let id = try await running()
        #expect(bench.recorders.started == 0)
        let before = bench.machine.log
        for number in 1...3 {
            let name = try await capture(id, PhotoSettings(format: "png", quality: 40))
            #expect(name == "photo.\(number)")
            let job = try #require(bench.recorders.recorder(name)?.job)
            #expect((job.output.kind, job.output.format, job.output.quality) == (.photo, "png", 40))
            #expect(job.hasVideo && !job.hasAudio && job.fileCount == 1)
            await taken(name)
        }
        #expect(bench.machine.log == before)
        let session = try #require(await bench.engine.list(for: EngineBench.client()).first { $0.id == id })
        #expect(session.state == .running && session.description == Self.photos)
        let counters = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(counters.outputs.keys.sorted() == ["photo"])
    }

    @Test func `ends with the camera, if another session keeps that open`() async throws {
        let both = Self.photos.with("samples", of: "microphone")
        let client = EngineBench.client()
        let id = try await bench.engine.create(both, files: [:], client: client)
        try await bench.engine.start(id, client: client)
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        _ = try await bench.running(EngineBench.buffer)
        let name = try await capture(id)
        var less = both
        less.inputs.removeFirst()
        less.outputs.removeFirst()
        less.connections.removeFirst()
        try await bench.engine.configure(id, less, files: [:], client: client)
        #expect(bench.watch.faults.keys.contains(name))
        #expect(!bench.machine.log.contains("close fake:camera"))
    }

    @Test func `works beside a movie, and of its camera`() async throws {
        let id = try await bench.running()
        let name = try await capture(id, of: "movie")
        #expect(name == "movie.1")
        await taken(name)
        #expect(await bench.engine.list(for: EngineBench.client()).first { $0.id == id }?.state == .running)
    }

    @Test func `hands all files of a burst to one recorder`() async throws {
        let id = try await running()
        let name = try await capture(id, PhotoSettings(burst: 3), Self.files(1...3))
        #expect(bench.recorders.recorder(name)?.job.fileCount == 3)
        // Two writers of a file would each write over what the other wrote.
        let shared = await refusal(id, PhotoSettings(), ["1": FakeFile(inode: 102)])
        #expect(shared?.code == .invalidArgument)
        await taken(name)
        try await capture(id, PhotoSettings(), ["1": FakeFile(inode: 102)])
    }

    @Test func `has a file for each companion, and needs one frame for both`() async throws {
        let id = try await running()
        let settings = PhotoSettings(format: "dng", burst: 2, companion: "jpeg")
        let name = try await capture(id, settings, Self.files(1...4))
        let job = try #require(bench.recorders.recorder(name)?.job)
        #expect((job.fileCount, job.pictureCount, job.companion) == (4, 2, "jpeg"))
        await taken(name)
    }

    @Test func `refuses what cannot be, and says what would be right`() async throws {
        let id = try await running()
        for (settings, files) in [
            (PhotoSettings(format: "gif"), Self.files(1...1)), (PhotoSettings(quality: 0), Self.files(1...1)),
            (PhotoSettings(burst: 0), [:]), (PhotoSettings(burst: 17), Self.files(1...17)),
            (PhotoSettings(burst: 2), Self.files(1...1)), (PhotoSettings(), Self.files(2...2)), (PhotoSettings(), [:]),
            (PhotoSettings(library: LibraryDestination()), Self.files(1...1)),
            (PhotoSettings(companion: "jpeg"), Self.files(1...2)),
            (PhotoSettings(companion: "tiff"), Self.files(1...2)),
            (PhotoSettings(companion: "png"), Self.files(1...1)), (PhotoSettings(companion: "png"), Self.files(2...3)),
            (PhotoSettings(burst: 9, companion: "png"), Self.files(1...18)),
            (PhotoSettings(companion: "png", library: LibraryDestination()), [:]),
            (PhotoSettings(format: "dng", companion: "png", library: LibraryDestination()), [:]),
            (PhotoSettings(companion: "dng", library: LibraryDestination()), [:]),
            (PhotoSettings(format: "dng", companion: "jpeg", library: LibraryDestination()), Self.files(1...2)),
        ] {
            #expect(await refusal(id, settings, files)?.code == .invalidArgument, "\(settings)")
        }
        #expect(await refusal(id, of: "nothing")?.code == .invalidArgument)
        #expect(await refusal(id, by: EngineBench.client(":1.2", program: "other"))?.code == .notPermitted)
        #expect(await refusal(id, by: EngineBench.client(":1.3", user: 1001))?.code == .noSuchSession)
        var sound = EngineBench.movie()
        sound.inputs.removeFirst()
        sound.connections.removeFirst()
        let deaf = try await bench.running(sound)
        #expect(await refusal(deaf, of: "movie")?.code == .invalidArgument)
        #expect(bench.recorders.started == 1)
    }

    @Test func `is refused before the start and after the stop`() async throws {
        let id = try await bench.engine.create(Self.photos, files: [:], client: EngineBench.client())
        #expect(await refusal(id)?.code == .wrongState)
        try await bench.engine.start(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .running)
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped)
        let error = await refusal(id)
        #expect(error?.code == .wrongState && error?.message.contains("stopped") == true, "\(error?.message ?? "")")
    }

    @Test func `takes eight at a time`() async throws {
        let id = try await running()
        for _ in 1...8 { try await capture(id) }
        #expect(await refusal(id)?.code == .busy)
        await taken("photo.3")
        try await capture(id)
    }

    @Test func `that fails leaves the session as it is`() async throws {
        let id = try await running()
        bench.recorders.refuse(CaptureError(.recorderLost, "no more processes"))
        #expect(await refusal(id)?.code == .recorderLost)
        bench.recorders.refuse(nil)
        let name = try await capture(id)
        let full = CaptureError(.inputOutput, "full", errno: 28)
        bench.recorders.recorder(name)?.report(.failed(full, OutputStatistics()))
        await bench.watch.waitForOutput(name)
        #expect(bench.watch.faults[name]??.message == "full")
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
    }

    @Test func `ends with the withdrawal of the consent, and says so`() async throws {
        let id = try await running()
        let name = try await capture(id)
        let recorder = try #require(bench.recorders.recorder(name))
        recorder.isStubborn = true
        async let answer: Void = bench.gate.set(
            user: 1000,
            program: "exe:/usr/bin/tester",
            service: .camera,
            status: .denied
        )
        await recorder.waitForStop()
        #expect(await refusal(id)?.code == .revoked)
        recorder.report(.failed(CaptureError(.inputOutput, "the camera's stream ended"), OutputStatistics()))
        try await answer
        await bench.watch.waitForOutput(name)
        #expect(bench.watch.faults[name]??.code == .revoked)
        #expect(await bench.watch.wait(id, for: .failed).reason?.code == .revoked)
        #expect(await refusal(id)?.code == .revoked)
    }

    @Test func `stays while the session's description changes`() async throws {
        let id = try await running()
        let name = try await capture(id)
        let more = Self.photos.with("frames", of: "camera")
        try await bench.engine.configure(id, more, files: [:], client: EngineBench.client())
        await taken(name)
        #expect(bench.watch.faults[name] == .some(nil))
    }

    @Test func `into the library has a raw photo's JPEG inside, so that both are one asset`() async throws {
        let id = try await running()
        let library = LibraryDestination(name: "sea.dng")
        let settings = PhotoSettings(format: "dng", burst: 9, companion: "jpeg", library: library)
        let name = try await capture(id, settings, [:])
        let recorder = try #require(bench.recorders.recorder(name))
        #expect((recorder.job.fileCount, recorder.job.pictureCount) == (9, 9))
        #expect(recorder.job.companion == "jpeg" && recorder.job.embedsCompanion)
        recorder.report(.finished(OutputStatistics()))
        recorder.kill()
        await bench.watch.waitForOutput(name)
        #expect(bench.saver.log.filter { $0.hasPrefix("begin photo.1") }.count == 9)
    }

    @Test func `into the library makes an asset of each picture of a burst`() async throws {
        let id = try await running()
        let name = try await capture(id, PhotoSettings(burst: 2, library: LibraryDestination(name: "sea")), [:])
        let recorder = try #require(bench.recorders.recorder(name))
        #expect(recorder.job.fileCount == 2)
        recorder.report(.finished(OutputStatistics()))
        recorder.kill()
        await bench.watch.waitForOutput(name)
        #expect(bench.saver.log.filter { $0.hasPrefix("begin photo.1") }.count == 2)
        #expect(bench.saver.log.suffix(2) == ["save photo.1", "save photo.1"])
        #expect(bench.saver.log.contains("authorize without asking"))
    }
}
