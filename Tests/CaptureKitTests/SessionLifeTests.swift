import BusSupport
import CaptureBus
import CaptureCore
import CaptureKit
import CaptureSystem
import Testing

/// Sessions of a real daemon, used as an ordinary client program does.
@Suite(.timeLimit(.minutes(10)))
struct SessionLifeTests {
    /// A session of the synthetic camera, small and fast.
    static func session(_ daemon: CaptureDaemon, _ outputs: any CaptureOutput...) async throws -> CaptureSession {
        let session = try await CaptureSession(on: daemon)
        let request = VideoFormatRequest(width: 320, height: 240, framesPerSecond: 30)
        try await session.addInput(.camera("synthetic:camera", request: request))
        for output in outputs { try await session.addOutput(output) }
        return session
    }

    /// Returns when an output has pictures, because stopping it earlier is an error.
    static func recorded(_ output: String, in session: CaptureSession) async throws {
        try await until { try await session.statistics().outputs[output]?.frames ?? 0 > 0 }
    }

    @Test func `tasks that use a new session at the same time make one session`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { _ = try await session.events() } }
            try await group.waitForAll()
        }
        try #require(try await daemon.sessions().count == 1)
        try await session.startRunning()
        #expect(await session.isRunning)
        try await session.stopRunning()
    }

    @Test func `a start and a listener at the same time see the same session run`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        for _ in 0..<5 {
            let session = try await SessionLifeTests.session(daemon, FrameBufferOutput())
            let before = try await daemon.sessions().count
            async let states = session.states()
            async let start: Void = session.start()
            _ = try await (states, start)
            try #require(try await daemon.sessions().count == before + 1)
            for await status in try await states where status.state == .running { break }
            try await session.stopRunning()
        }
    }

    @Test(arguments: ["Configure", "AddOutput"])
    func `an output may be added for as long as its recorder may take to begin`(member: String) async throws {
        // Other calls are given up after 10 s.
        let late: FakeDaemon.Answer = { _, _ throws(CaptureError) in
            try? await Task.sleep(for: .seconds(11))
            return []
        }
        let daemon = try await FakeDaemon([member: late])
        let client = try await daemon.client()
        let photo = try PhotoOutput(toLibrary: LibraryDestination(name: "a.jpg"))
        if member == "AddOutput" {
            try await CaptureSession.session(7, on: client).addOutput(photo, fedBy: ["camera"])
        } else {
            let session = try await SessionLifeTests.session(client)
            _ = try await session.events()
            try await session.addOutput(photo)
        }
        #expect(daemon.calls(member).count == 1)
    }

    @Test func `a stop during the session's creation stops it`() async throws {
        let (asked, question) = AsyncStream<Void>.makeStream()
        let (answers, answer) = AsyncStream<Void>.makeStream()
        let daemon = try await FakeDaemon([
            "CreateSession": { _, _ throws(CaptureError) in
                question.yield()
                for await _ in answers { break }
                return [.objectPath(FakeDaemon.session)]
            },
            "Stop": FakeDaemon.becoming(.stopped),
        ])
        let session = try await SessionLifeTests.session(
            try await daemon.client(),
            FrameBufferOutput()
        )
        let listening = Task { _ = try await session.events() }
        for await _ in asked { break }
        let stopping = Task.immediate { try await session.stopRunning() }
        // The stop is under way before the answer arrives: the session takes its calls in turn.
        _ = await session.status
        answer.yield()
        try await listening.value
        try await stopping.value
        #expect(daemon.calls("Stop").count == 1)
        #expect(await session.status.state == .stopped)
    }

    @Test func `a cancelled task stops a session and waits for its end`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let file = try OutputFile.scratch()
        let session = try await SessionLifeTests.session(daemon, try MovieFileOutput(file: file.descriptor))
        try await session.startRunning()
        try await SessionLifeTests.recorded("movie", in: session)
        let stopping = Task {
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            try await session.stopRunning()
            return await session.status.state
        }
        stopping.cancel()
        #expect(try await stopping.value == .stopped)
        #expect(await session.results.map(\.name) == ["movie"])
    }

    @Test func `a preset set while a camera runs applies to it, and to cameras opened later`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(.camera("synthetic:camera"))
        try await session.addOutput(FrameBufferOutput())
        try await session.setPreset(.medium)
        try await session.startRunning()
        try await session.setPreset(.low)
        #expect(await session.preset == .low)
        try await session.addOutput(FrameBufferOutput(name: "second"))
        let listed = try #require(try await daemon.sessions().first?.description)
        #expect(listed.inputs.map(\.video) == [Preset.low.request])
        #expect(listed.outputs.map(\.name) == ["buffer", "second"])

        // A camera that is opened later follows it.
        await session.beginConfiguration()
        try await session.removeInput("camera")
        try await session.removeOutput("buffer")
        try await session.removeOutput("second")
        try await session.addInput(.camera("synthetic:camera", name: "later"))
        try await session.addOutput(FrameBufferOutput(name: "third"))
        try await session.commitConfiguration()
        let now = try #require(try await daemon.sessions().first?.description)
        #expect(now.inputs.map(\.video) == [Preset.low.request])
        try await session.stopRunning()
    }

    @Test func `a preset set between a session's creation and its start applies to its camera`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(.camera("synthetic:camera"))
        try await session.addOutput(FrameBufferOutput())
        _ = try await session.states()
        try await session.setPreset(.low)
        try await session.startRunning()
        let listed = try #require(try await daemon.sessions().first?.description)
        #expect(listed.inputs.map(\.video) == [Preset.low.request])
        try await session.stopRunning()
    }
}
