import Authorization
import CaptureCore
import CaptureEngine
import Synchronization
import TestSupport
import Testing

/// Photos for which the camera is set, and put back.
@Suite(.timeLimit(.minutes(10))) struct `A bracket` {
    /// A camera that exposes by hand, and notes what is done with it.
    private final class Lender: CameraLender, BorrowedCamera {
        private let notes = Mutex<[String]>([])
        private let refusals = Mutex<[String: CaptureError]>([:])
        private let news = AsyncStream<String>.makeStream()

        var log: [String] { notes.withLock { $0 } }

        func refuse(_ what: String, _ error: CaptureError) { refusals.withLock { $0[what] = error } }

        /// Waits until it was done; for one waiter.
        func wait(for text: String) async { for await note in news.stream where note == text { return } }

        private func note(_ text: String) throws(CaptureError) {
            notes.withLock { $0.append(text) }
            news.continuation.yield(text)
            if let error = refusals.withLock({ $0[text] }) { throw error }
        }

        func lend(_ camera: DeviceDescription, to client: SessionClient) async throws(CaptureError)
            -> any BorrowedCamera
        {
            try note("lend")
            return self
        }

        func controls() async throws(CaptureError) -> [DeviceControl] {
            [
                DeviceControl(
                    name: "exposure_absolute",
                    label: "",
                    kind: .integer,
                    minimum: 1,
                    maximum: 1000,
                    step: 1,
                    defaultValue: 100,
                    value: 100
                )
            ]
        }

        func set(_ changes: [CameraChange]) async throws(CaptureError) -> [DeviceControl] {
            for change in changes { try note("\(change.value)") }
            return try await controls()
        }

        func giveBack() async { try? note("give back") }
    }

    private let bench = EngineBench()
    private let lender = Lender()

    private func running() async throws -> UInt32 {
        let description = EngineBench.buffer.with("photo", .photos, of: "camera")
        let id = try await bench.engine.create(description, files: [:], client: EngineBench.client())
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        return id
    }

    private func capture(_ id: UInt32, _ bracket: [Double], _ cameras: (any CameraLender)? = nil) async throws
        -> FakeRecorder
    {
        let files = Dictionary(
            uniqueKeysWithValues: (1...max(bracket.count, 1)).map { ("\($0)", FakeFile(inode: UInt64($0))) }
        )
        let name = try await bench.engine.capturePhoto(
            id,
            output: "photo",
            PhotoSettings(bracket: bracket),
            files: files,
            client: EngineBench.client(),
            cameras: cameras ?? lender
        )
        return try #require(bench.recorders.recorder(name))
    }

    private func took(_ frames: UInt64, _ recorder: FakeRecorder) {
        var counters = OutputStatistics()
        counters.frames = frames
        recorder.report(.progress(counters))
    }

    /// After two seconds the engine tells the end before the camera is put back. A test that was held up waits for that
    /// here.
    private func allowForDelay(since begun: ContinuousClock.Instant) async {
        if ContinuousClock.now - begun >= .seconds(2) { await lender.wait(for: "give back") }
    }

    @Test func `sets the camera for each photo when the one before is taken, and puts it back before the end is told`()
        async throws
    {
        let id = try await running()
        let recorder = try await capture(id, [-1, 0, 1])
        #expect(recorder.job.isOrdered && recorder.job.fileCount == 3)
        await lender.wait(for: "50")
        took(1, recorder)
        await lender.wait(for: "100")
        #expect(lender.log == ["lend", "50", "100"])
        took(2, recorder)
        await lender.wait(for: "200")
        // The picture is ordered after that.
        while recorder.switches.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        took(3, recorder)
        let begun = ContinuousClock.now
        recorder.report(.finished(OutputStatistics()))
        await bench.watch.waitForOutput("photo.1")
        await allowForDelay(since: begun)
        #expect(lender.log == ["lend", "50", "100", "200", "give back"])
        #expect(recorder.switches == ["shoot -1000", "shoot 0", "shoot 1000"])
        #expect(bench.watch.faults["photo.1"] == .some(nil))
    }

    @Test func `that the camera does not take ends with the reason, and is put back`() async throws {
        let id = try await running()
        lender.refuse("200", CaptureError(.inputOutput, "the driver is stuck"))
        let recorder = try await capture(id, [0, 1])
        recorder.isStubborn = true
        await lender.wait(for: "100")
        took(1, recorder)
        await recorder.waitForStop()
        let begun = ContinuousClock.now
        recorder.report(.failed(CaptureError(.inputOutput, "picture 2 of 2 is missing"), OutputStatistics()))
        await bench.watch.waitForOutput("photo.1")
        #expect(bench.watch.faults["photo.1"]??.message == "the driver is stuck")
        await allowForDelay(since: begun)
        #expect(lender.log.last == "give back")
        #expect(await bench.engine.list(for: EngineBench.client()).first { $0.id == id }?.state == .running)
    }

    @Test func `whose recorder or session ends puts the camera back`() async throws {
        let id = try await running()
        let lost = try await capture(id, [0, 1])
        await lender.wait(for: "100")
        var begun = ContinuousClock.now
        lost.kill()
        await bench.watch.waitForOutput("photo.1")
        await allowForDelay(since: begun)
        #expect(lender.log == ["lend", "100", "give back"])
        _ = try await capture(id, [1, 0])
        await lender.wait(for: "200")
        begun = .now
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        await allowForDelay(since: begun)
        #expect(lender.log == ["lend", "100", "give back", "lend", "200", "give back"])
    }

    @Test func `that cannot be leaves the camera as it is`() async throws {
        let id = try await running()
        let pipe = await #expect(throws: CaptureError.self) {
            try await bench.engine.capturePhoto(
                id,
                output: "photo",
                PhotoSettings(bracket: [0]),
                files: ["1": FakeFile()],
                client: EngineBench.client(),
                cameras: lender
            )
        }
        #expect(pipe?.code == .invalidArgument && lender.log == [])
        await #expect(throws: CaptureError.self) { try await capture(id, [8]) }
        #expect(lender.log == ["lend", "give back"])
        bench.recorders.refuse(CaptureError(.recorderLost, "no more processes"))
        await #expect(throws: CaptureError.self) { try await capture(id, [0]) }
        #expect(lender.log == ["lend", "give back", "lend", "give back"])
        bench.recorders.refuse(nil)
        lender.refuse("lend", CaptureError(.busy, "locked"))
        let busy = await #expect(throws: CaptureError.self) { try await capture(id, [0]) }
        #expect(busy?.code == .busy)
        for wrong in [[.nan], [9], [-.infinity], [Double](repeating: 0, count: 17)] {
            #expect(await code { try await capture(id, wrong) } == .invalidArgument, "\(wrong)")
        }
        #expect(lender.log.filter { $0 == "lend" }.count == 3)
        let free = try await capture(id, [], nil)
        #expect(!free.job.isOrdered)
    }
}
