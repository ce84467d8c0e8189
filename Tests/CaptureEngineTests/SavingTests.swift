import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An output for the media library` {
    private let bench = EngineBench()
    private var saver: FakeSaver { bench.saver }

    private static func movie(_ library: LibraryDestination? = LibraryDestination()) -> SessionDescription {
        var description = EngineBench.movie()
        description.outputs[0].library = library
        return description
    }

    private func create(_ description: SessionDescription = movie()) async throws(CaptureError) -> UInt32 {
        try await bench.engine.create(description, files: [:], client: EngineBench.client())
    }

    private func running() async throws -> UInt32 {
        let id = try await create()
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        return id
    }

    private func end(of id: UInt32) async -> SessionSnapshot {
        await bench.watch.wait(id, for: .stopped, .failed, .interrupted)
    }

    @Test func `takes no file, and is saved when it is stopped, before it is said to be done`() async throws {
        let id = try await running()
        #expect(saver.log == ["authorize", "begin movie of Fake Camera"])
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await end(of: id).state == .stopped)
        #expect(saver.log.last == "save movie")
        #expect(bench.watch.saved == ["movie": SavedOutput(asset: "asset of movie")])
    }

    @Test func `is given up, and its recorder gets no job, if the consent goes while that starts`() async throws {
        let id = try await create()
        bench.recorders.beforeStart { [bench] in
            await bench.saver.wait(for: "begin movie of Fake Camera")
            // It returns when the session is over, which waits for this start.
            Task { try await bench.gate.reset(user: 1000, program: nil, service: .camera) }
            var refusal = ""
            while !refusal.contains("is ending") {
                await Task.yield()
                do throws(CaptureError) {
                    _ = try await bench.engine.openBuffer(id, output: "movie", client: EngineBench.client())
                } catch {
                    refusal = error.message
                }
            }
        }
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).reason?.code == .revoked)
        await bench.recorders.waitForDismissal()
        #expect(bench.recorders.recorder("movie") == nil)
        #expect(saver.log.last == "cancel movie")
    }

    @Test func `is saved when its recorder is gone, not when that says that it is done`() async throws {
        let id = try await running()
        let recorder = try #require(bench.recorders.recorder("movie"))
        var counters = OutputStatistics()
        counters.bytes = 7
        recorder.report(.finished(counters))
        while try await bench.engine.statistics(of: id, client: EngineBench.client()).outputs["movie"]?.bytes != 7 {
            await Task.yield()
        }
        #expect(!saver.log.contains("save movie"))
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
        recorder.kill()
        #expect(await end(of: id).state == .stopped)
        #expect(saver.log.last == "save movie")
    }

    @Test func `that may not be saved keeps the whole start from happening`() async throws {
        saver.refuse(CaptureError(.denied, "no saving"))
        let id = try await create()
        try await bench.engine.start(id, client: EngineBench.client())
        let end = await end(of: id)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .denied)
        #expect(bench.machine.log.isEmpty)
        #expect(saver.log == ["authorize"])
    }

    @Test func `that is not saved in the end fails its session with the reason`() async throws {
        saver.fail(CaptureError(.revoked, "the consent went; the recording is kept"))
        let id = try await running()
        try await bench.engine.stop(id, client: EngineBench.client())
        let end = await end(of: id)
        #expect(end.state == .failed)
        #expect(end.reason?.message == "the consent went; the recording is kept")
        #expect(bench.watch.saved.isEmpty)
        #expect(!saver.log.contains("cancel movie"))
    }

    @Test func `is saved as far as it goes when its recorder fails or is lost`() async throws {
        for error in [CaptureError(.inputOutput, "the disk is full"), nil] {
            let bench = EngineBench()
            let id = try await bench.engine.create(Self.movie(), files: [:], client: EngineBench.client())
            try await bench.engine.start(id, client: EngineBench.client())
            _ = await bench.watch.wait(id, for: .running)
            let recorder = try #require(bench.recorders.recorder("movie"))
            if let error { recorder.report(.failed(error, OutputStatistics())) }
            recorder.kill()
            let end = await bench.watch.wait(id, for: .stopped, .failed)
            #expect(end.reason?.code == error?.code ?? .recorderLost)
            #expect(bench.saver.log.last == "save movie")
            #expect(bench.watch.saved["movie"] != nil)
        }
    }

    @Test func `ends when the library takes no more of it, and is saved`() async throws {
        saver.limit(1000)
        let id = try await running()
        let recorder = try #require(bench.recorders.recorder("movie"))
        var counters = OutputStatistics()
        for bytes: UInt64 in [999, 1000] {
            counters.bytes = bytes
            recorder.report(.progress(counters))
        }
        await recorder.waitForStop()
        let end = await end(of: id)
        #expect(end.reason?.code == .overQuota)
        #expect(saver.log.last == "save movie")
        #expect(bench.watch.saved["movie"] != nil)
    }

    @Test func `is given up when it is a photo that failed`() async throws {
        let id = try await running()
        var photo = OutputDescription(name: "shot", kind: .photo, format: "jpeg")
        photo.library = LibraryDestination()
        try await bench.engine.addOutput(id, photo, inputs: ["camera"], file: nil, client: EngineBench.client())
        let recorder = try #require(bench.recorders.recorder("shot"))
        recorder.report(.failed(CaptureError(.inputOutput, "the disk is full"), OutputStatistics()))
        recorder.kill()
        await bench.watch.waitForOutput("shot")
        #expect(saver.log.last == "cancel shot")
    }

    @Test func `is given up when its session cannot start`() async throws {
        bench.machine.failStarting(CaptureError(.deviceLost, "the camera is gone"))
        let id = try await create()
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await end(of: id).reason?.code == .deviceLost)
        #expect(saver.log == ["authorize", "begin movie of Fake Camera", "cancel movie"])
        bench.recorders.refuse(CaptureError(.recorderLost, "no recorder"))
        bench.machine.failStarting(nil)
        let next = try await create()
        try await bench.engine.start(next, client: EngineBench.client())
        #expect(await end(of: next).reason?.code == .recorderLost)
        #expect(saver.log.last == "cancel movie")
    }

    @Test func `lets the devices go while it is being saved`() async throws {
        saver.hold()
        let id = try await running()
        bench.recorders.recorder("movie")?.stop()
        await saver.wait(for: "save movie")
        await bench.machine.wait(for: "close fake:camera")
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
        saver.release()
        #expect(await end(of: id).state == .stopped)
    }

    @Test func `that is added to a session asks nobody`() async throws {
        let id = try await running()
        var photo = OutputDescription(name: "shot", kind: .photo, format: "jpeg")
        photo.library = LibraryDestination()
        try await bench.engine.addOutput(id, photo, inputs: ["camera"], file: nil, client: EngineBench.client())
        #expect(saver.log.suffix(2) == ["authorize without asking", "begin shot of Fake Camera"])
        saver.refuse(CaptureError(.notPermitted, "never decided"))
        photo.name = "other"
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.addOutput(id, photo, inputs: ["camera"], file: nil, client: EngineBench.client())
        }
        #expect(error?.code == .notPermitted)
        #expect(await bench.engine.list(for: EngineBench.client()).first?.description.outputs.count == 2)
    }

    @Test(arguments: [true, false])
    func `has either a file or the library when it is added to a session`(hasBoth: Bool) async throws {
        let id = try await running()
        var photo = OutputDescription(name: "shot", kind: .photo, format: "jpeg")
        photo.library = hasBoth ? LibraryDestination() : nil
        let (output, file) = (photo, hasBoth ? FakeFile() : nil)
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.addOutput(id, output, inputs: ["camera"], file: file, client: EngineBench.client())
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains(hasBoth ? "takes no file" : "without a file") == true)
    }

    @Test func `is a movie, a sound or a photo, without a file, under a name that the library takes`() async throws {
        func refusal(
            _ description: SessionDescription,
            _ files: [String: any OpenFile] = [:],
            _ bench: EngineBench = EngineBench()
        ) async -> String? {
            do {
                _ = try await bench.engine.create(description, files: files, client: EngineBench.client())
                return nil
            } catch {
                return error.code == .invalidArgument ? error.message : "\(error.code)"
            }
        }
        #expect(await refusal(Self.movie(), ["movie": FakeFile()])?.contains("takes no file") == true)
        #expect(await refusal(Self.movie(LibraryDestination(name: "a/b")))?.contains("contains a '/'") == true)
        var frames = EngineBench.buffer
        frames.outputs = [
            OutputDescription(name: "frames", kind: .frames, format: "y4m", library: LibraryDestination())
        ]
        #expect(await refusal(frames)?.contains("only takes movies, sound and photos") == true)
        #expect(await refusal(Self.movie(), [:], EngineBench(hasLibrary: false))?.contains("no media library") == true)
    }
}
