import Authorization
import CaptureCore
import CaptureEngine
import Synchronization
import TestSupport
import Testing

/// Photos for which a camera that runs changes its size.
@Suite(.timeLimit(.minutes(10))) struct `A photo of another size` {
    private let bench = EngineBench()
    private static let large = PictureSize(width: 1920, height: 1080)
    private static let restart = ["close", "open", "start"].map { "\($0) fake:camera" }

    init() {
        var camera = FakeMachine.camera
        let sizes = [(640, 480), (1280, 720), (1920, 1080)].map {
            DiscreteSize(width: $0.0, height: $0.1, intervals: .discrete([FrameInterval(1, 30)]))
        }
        camera.videoFormats = [VideoFormatOption(pixelFormat: .yuyv, name: "", sizes: .discrete(sizes))]
        bench.machine.plug([camera, FakeMachine.microphone])
    }

    /// A movie of the camera alone, and a buffer beside it.
    private func running() async throws -> UInt32 {
        try await bench.running(EngineBench.buffer.with("movie", .movie, "mkv", of: "camera"))
    }

    private func capture(
        _ id: UInt32,
        _ size: PictureSize = large,
        _ settings: PhotoSettings = PhotoSettings(),
        file: any OpenFile = FakeFile(inode: 100)
    ) async throws -> FakeRecorder {
        var settings = settings
        settings.size = size
        let name = try await bench.engine.capturePhoto(
            id,
            output: "movie",
            settings,
            files: ["1": file],
            client: EngineBench.client()
        )
        return try #require(bench.recorders.recorder(name))
    }

    private func refusal(_ id: UInt32, _ size: PictureSize = large, file: any OpenFile = FakeFile(inode: 100)) async
        -> CaptureError?
    {
        await #expect(throws: CaptureError.self) { _ = try await capture(id, size, file: file) }
    }

    private func camera(_ id: UInt32) async throws -> InputStatistics? {
        try await bench.engine.statistics(of: id, client: EngineBench.client()).inputs["camera"]
    }

    private func take(_ photo: FakeRecorder) {
        var counters = OutputStatistics()
        counters.frames = 1
        photo.report(.progress(counters))
        photo.report(.finished(counters))
    }

    @Test func `has the camera in that size, and the movie goes on after it`() async throws {
        let id = try await running()
        let movie = try #require(bench.recorders.recorder("movie"))
        bench.machine.dawdle(.milliseconds(50))
        let photo = try await capture(id)
        #expect(bench.machine.log == ["open fake:camera", "start fake:camera"] + Self.restart)
        #expect(try await camera(id)?.format.contains("1920x1080") == true)
        #expect(bench.rings.made[0].end == .moved && movie.moves == 0 && bench.watch.bufferMoves == 0)
        // Nobody else is given a frame of that size.
        async let buffer = bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        take(photo)
        await bench.watch.waitForOutput("movie.1")
        // Whoever hears that it is taken finds the camera as it was.
        #expect(bench.machine.log.suffix(3) == Self.restart[...])
        #expect(movie.moves == 1 && bench.watch.bufferMoves == 1 && bench.rings.made.count == 3)
        let counters = try #require(try await camera(id))
        // Closing, opening and starting alone take three tenths of a second, and the camera has 30 frames a second.
        #expect(counters.format.contains("640x480") && counters.drops["paused"] ?? 0 >= 8)
        #expect(try await buffer as? FakeFile === bench.rings.made[2].file as? FakeFile)
        #expect(await bench.state(of: id)?.state == .running)
        #expect(try await bench.uses().map(\.outcome) == [""])
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.openDevices == [])
    }

    @Test func `is taken, however soon its recorder goes`() async throws {
        let id = try await running()
        bench.machine.dawdle(.milliseconds(1))
        for number in 1...40 {
            let photo = try await capture(id)
            take(photo)
            // The end of its connection comes while the camera changes its size back, and as that is done.
            while number % 2 == 0, bench.machine.log.count < 2 + number * 6 { await Task.yield() }
            photo.kill()
            await bench.watch.waitForOutput("movie.\(number)")
            #expect(bench.watch.faults["movie.\(number)"] == .some(nil))
        }
    }

    @Test func `of a sensor's numbers has the camera in a Bayer format`() async throws {
        var camera = FakeMachine.camera
        let sizes = [DiscreteSize(width: 640, height: 480, intervals: .discrete([FrameInterval(1, 30)]))]
        camera.videoFormats = [.yuyv, try #require(PixelFormat(name: "RGGB"))].map {
            VideoFormatOption(pixelFormat: $0, name: "", sizes: .discrete(sizes))
        }
        bench.machine.plug([camera, FakeMachine.microphone])
        let id = try await running()
        let before = bench.machine.log
        let files = ["1": FakeFile(inode: 7)]
        let client = EngineBench.client()
        let raw = PhotoSettings(format: "dng")
        let name = try await bench.engine.capturePhoto(id, output: "movie", raw, files: files, client: client)
        #expect(bench.machine.log == before + Self.restart)
        take(try #require(bench.recorders.recorder(name)))
        await bench.watch.waitForOutput(name)
        #expect(bench.machine.log == before + Self.restart + Self.restart)
        let piped = await #expect(throws: CaptureError.self) {
            try await bench.engine.capturePhoto(id, output: "movie", raw, files: ["1": FakeFile()], client: client)
        }
        #expect(piped?.code == .invalidArgument && piped?.message.contains("pipe") == true)
    }

    @Test func `of a sensor's numbers is refused if the camera has none`() async throws {
        let id = try await running()
        let before = bench.machine.log
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.capturePhoto(
                id,
                output: "movie",
                PhotoSettings(format: "dng"),
                files: ["1": FakeFile(inode: 7)],
                client: EngineBench.client()
            )
        }
        #expect(error?.code == .noSuchFormat)
        #expect(bench.machine.log == before)
    }

    @Test func `costs nothing if the camera runs in it`() async throws {
        let id = try await running()
        let before = bench.machine.log
        take(try await capture(id, PictureSize(width: 640, height: 480)))
        await bench.watch.waitForOutput("movie.1")
        #expect(bench.machine.log == before)
    }

    @Test func `is refused if the camera lacks it, with the nearest`() async throws {
        let id = try await running()
        let before = bench.machine.log
        let lacking = await refusal(id, PictureSize(width: 1900, height: 1000))
        #expect(lacking?.code == .invalidArgument)
        #expect(lacking?.message.contains("1900x1000; the nearest: 1920x1080, 1280x720, 640x480") == true)
        for size in [(0, 0), (-1, 1080), (1920, 1 << 31), (Int.max, Int.min)] {
            let error = await refusal(id, PictureSize(width: size.0, height: size.1))
            #expect(error?.code == .invalidArgument && error?.message.contains("out of range") == true)
        }
        #expect(await refusal(id, file: FakeFile())?.message.contains("pipe") == true)
        #expect(bench.machine.log == before)
        #expect(await bench.state(of: id)?.state == .running)
    }

    @Test func `is refused while others use the camera, or another photo of it is taken`() async throws {
        let id = try await running()
        let before = bench.machine.log
        let other = try await bench.running(EngineBench.buffer)
        let shared = await refusal(id)
        #expect(shared?.code == .busy && shared?.message.contains("other sessions use it") == true)
        try await bench.engine.stop(other, client: EngineBench.client())
        _ = await bench.watch.wait(other, for: .stopped)
        let name = try await bench.engine.capturePhoto(
            id,
            output: "movie",
            PhotoSettings(),
            files: ["1": FakeFile(inode: 7)],
            client: EngineBench.client()
        )
        let taking = await refusal(id)
        #expect(taking?.code == .busy && taking?.message.contains("another photo") == true)
        take(try #require(bench.recorders.recorder(name)))
        await bench.watch.waitForOutput(name)
        #expect(bench.machine.log == before)
        take(try await capture(id))
    }

    @Test func `is over before another session has the camera, or another change its turn`() async throws {
        let id = try await running()
        let photo = try await capture(id)
        let other = try await bench.create(EngineBench.buffer)
        try await bench.engine.start(other, client: EngineBench.client())
        async let second = capture(id, PictureSize(width: 1280, height: 720), file: FakeFile(inode: 101))
        take(photo)
        #expect(await bench.watch.wait(other, for: .running, .failed).state == .running)
        // The other one joins before the second photo or after it, and in neither's size.
        if let next = try? await second {
            take(next)
            await bench.watch.waitForOutput("movie.2")
        }
        let found = try await bench.engine.statistics(of: other, client: EngineBench.client()).inputs["camera"]
        #expect(found?.format.contains("640x480") == true)
    }

    @Test func `keeps no session from its end that waits for the camera`() async throws {
        let id = try await running()
        let photo = try await capture(id)
        let other = try await bench.create(EngineBench.buffer)
        try await bench.engine.start(other, client: EngineBench.client())
        _ = await bench.watch.wait(other, for: .starting)
        try await bench.engine.stop(other, client: EngineBench.client())
        #expect(await bench.watch.wait(other, for: .stopped, .failed).state == .stopped)
        // The photo is not taken yet.
        #expect(try await camera(id)?.format.contains("1920x1080") == true)
        take(photo)
    }

    @Test func `leaves the camera as it was if it cannot be`() async throws {
        let id = try await running()
        let movie = try #require(bench.recorders.recorder("movie"))
        let openings = Atomic(0)
        let refusal = CaptureError(.noSuchFormat, "the driver has another opinion")
        bench.machine.before { [machine = bench.machine] what in
            guard what.hasPrefix("open") else { return }
            machine.failOpening(openings.add(1, ordering: .relaxed).oldValue == 0 ? refusal : nil)
        }
        #expect(await self.refusal(id) == refusal)
        #expect(try await camera(id)?.format.contains("640x480") == true && movie.moves == 1)
        bench.machine.before(nil)
        bench.recorders.refuse(CaptureError(.recorderLost, "no more processes"))
        #expect(await self.refusal(id)?.code == .recorderLost)
        #expect(try await camera(id)?.format.contains("640x480") == true && movie.moves == 2)
        bench.recorders.refuse(nil)
        // So does a recorder that dies.
        let photo = try await capture(id)
        photo.kill()
        await bench.watch.waitForOutput("movie.3")
        #expect(bench.watch.faults["movie.3"]??.code == .recorderLost && movie.moves == 3)
        #expect(await bench.state(of: id)?.state == .running)
    }

    @Test func `ends the session if the camera does not come back`() async throws {
        let id = try await running()
        let photo = try await capture(id)
        bench.machine.failOpening(CaptureError(.inputOutput, "broken"))
        take(photo)
        let end = await bench.watch.wait(id, for: .failed, .stopped)
        #expect(end.state == .failed && end.reason?.message == "broken")
        await bench.watch.waitForOutput("movie.1")
        #expect(bench.watch.faults["movie.1"] == .some(nil))
        #expect(bench.machine.openDevices == [])
    }

    @Test func `ends with its session, its camera and its consent`() async throws {
        let stopped = try await running()
        _ = try await capture(stopped)
        try await bench.engine.stop(stopped, client: EngineBench.client())
        #expect(await bench.watch.wait(stopped, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.openDevices == [])
        let pulled = try await running()
        _ = try await capture(pulled)
        bench.machine.unplug(FakeMachine.camera.id)
        #expect(await bench.watch.wait(pulled, for: .interrupted, .failed).state == .interrupted)
        #expect(bench.machine.openDevices == [])
        let withdrawn = try await running()
        let photo = try await capture(withdrawn)
        photo.isStubborn = true
        let before = bench.rings.made.count
        Task { [gate = bench.gate] in
            try await gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        }
        await photo.waitForStop()
        photo.report(.finished(OutputStatistics()))
        #expect(await bench.watch.wait(withdrawn, for: .failed, .stopped).state == .failed)
        // It is not opened again.
        #expect(bench.machine.openDevices == [] && bench.rings.made.count == before)
    }
}
