import BusSupport
import CaptureBus
import CaptureKit
import CaptureMessages
import CaptureSystem
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SessionTests {
    private func session(_ daemon: FakeDaemon, output: any CaptureOutput) async throws -> CaptureSession {
        let session = try await CaptureSession(on: try await daemon.client())
        try await session.addInput(.camera())
        try await session.addInput(.microphone("hw:1,0"))
        try await session.addOutput(output)
        return session
    }

    @Test func `a start sends the whole description with the open file, and returns when samples flow`() async throws {
        let daemon = try await FakeDaemon(["Start": FakeDaemon.becoming(.authorizing, .starting, .running)])
        let file = try OutputFile.scratch()
        let session = try await session(daemon, output: try MovieFileOutput(file: file.descriptor, format: "mp4"))
        try await session.startRunning()

        #expect(await session.id == 7)
        #expect(await session.isRunning)
        let call = try #require(daemon.calls("CreateSession").first)
        let sent = try SessionDescription(busValue: call.arguments[0])
        #expect(sent.inputs.map(\.name) == ["camera", "microphone"])
        #expect(sent.inputs[1].device == "hw:1,0")
        #expect(sent.outputs.map(\.format) == ["mp4"])
        #expect(sent.connections.map(\.input) == ["camera", "microphone"])
        #expect(sent.isAttached)
        #expect(call.arguments[1].outputNames == ["movie"])
    }

    @Test func `a refusal is the error of the start`() async throws {
        let daemon = try await FakeDaemon([
            "Start": { daemon, _ throws(CaptureError) in
                try daemon.become(.authorizing)
                try daemon.become(.failed, CaptureError(.denied, "the camera is denied"))
                return []
            }
        ])
        let session = try await session(daemon, output: FrameBufferOutput())
        let error = await #expect(throws: CaptureError.self) { try await session.startRunning() }
        #expect(error?.code == .denied)
        #expect(error?.code.exitCode == 77)
        withExtendedLifetime(daemon) {}
    }

    @Test func `a stop waits for the end and keeps what became of the outputs`() async throws {
        let daemon = try await FakeDaemon([
            "Start": FakeDaemon.becoming(.running),
            "Stop": { daemon, _ throws(CaptureError) in
                var counters = OutputStatistics()
                counters.frames = 42
                try daemon.finish("movie", nil, counters)
                try daemon.become(.stopped)
                return []
            },
        ])
        let file = try OutputFile.scratch()
        let session = try await session(daemon, output: try MovieFileOutput(file: file.descriptor))
        try await session.startRunning()
        try await session.stopRunning()
        #expect(await session.status.state == .stopped)
        #expect(await session.results.map(\.statistics.frames) == [42])
        withExtendedLifetime(daemon) {}
    }

    @Test(.timeLimit(.minutes(10)))
    func `a session of somebody else's runs on, and its stop fails at once`() async throws {
        let daemon = try await FakeDaemon([
            "Start": FakeDaemon.becoming(.running),
            "Stop": { _, _ throws(CaptureError) in throw CaptureError(.noSuchSession, "there is no session 1") },
        ])
        let session = try await session(daemon, output: FrameBufferOutput())
        try await session.startRunning()
        #expect(await code { try await session.stopRunning() } == .noSuchSession)
        withExtendedLifetime(daemon) {}
    }

    @Test func `a session that came to its end by itself while it was to be stopped has stopped`() async throws {
        let daemon = try await FakeDaemon([
            "Start": FakeDaemon.becoming(.running),
            "Stop": { daemon, _ throws(CaptureError) in
                try daemon.become(.stopped)
                throw CaptureError(.wrongState, "the session is stopped already")
            },
        ])
        let session = try await session(daemon, output: FrameBufferOutput())
        try await session.startRunning()
        try await session.stopRunning()
        #expect(await session.status == SessionStatus(.stopped))
        withExtendedLifetime(daemon) {}
    }

    @Test func `a device that goes away interrupts with that reason`() async throws {
        let daemon = try await FakeDaemon(["Start": FakeDaemon.becoming(.running)])
        let session = try await session(daemon, output: FrameBufferOutput())
        try await session.startRunning()
        let states = try await session.states()
        try daemon.become(.interrupted, CaptureError(.deviceLost, "the camera was unplugged"))
        var last: SessionStatus?
        for await state in states { last = state }
        #expect(last?.interruption == .deviceLost)
        #expect(last?.reason?.code.exitCode == 74)
    }

    @Test func `a daemon that vanishes ends its sessions as unreachable`() async throws {
        let daemon = try await FakeDaemon(["Start": FakeDaemon.becoming(.running)])
        let session = try await session(daemon, output: FrameBufferOutput())
        try await session.startRunning()
        let states = try await session.states()
        await daemon.connection.close()
        var last: SessionStatus?
        for await state in states { last = state }
        #expect(last?.state == .failed)
        #expect(last?.reason?.code == .unreachable)
    }

    @Test func `without a daemon every call is unreachable`() async throws {
        let bus = try PrivateBus()
        let daemon = try await CaptureDaemon.connect(to: bus.kind)
        #expect(await code { _ = try await daemon.sessions() } == .unreachable)
    }

    @Test func `changes between begin and commit are sent as one, with the files of new outputs alone`() async throws {
        let daemon = try await FakeDaemon(["Start": FakeDaemon.becoming(.running)])
        let (movie, photo) = (try OutputFile.scratch(), try OutputFile.scratch())
        let session = try await session(daemon, output: try MovieFileOutput(file: movie.descriptor))
        try await session.startRunning()
        await session.beginConfiguration()
        try await session.addOutput(try PhotoOutput(file: photo.descriptor))
        try await session.removeInput("microphone")
        #expect(daemon.calls("Configure").isEmpty)
        try await session.commitConfiguration()
        let call = try #require(daemon.calls("Configure").first)
        let sent = try SessionDescription(busValue: call.arguments[0])
        #expect(sent.inputs.map(\.name) == ["camera"])
        #expect(sent.outputs.map(\.name) == ["movie", "photo"])
        #expect(sent.connections.count == 2)
        #expect(call.arguments[1].outputNames == ["photo"])
    }

    @Test func `a refused change leaves the configuration as it was`() async throws {
        let daemon = try await FakeDaemon([
            "Start": FakeDaemon.becoming(.running),
            "Configure": { _, _ throws(CaptureError) in throw CaptureError(.busy, "the camera is in use") },
        ])
        let file = try OutputFile.scratch()
        let session = try await session(daemon, output: try MovieFileOutput(file: file.descriptor))
        try await session.startRunning()
        let before = await session.description
        let error = await #expect(throws: CaptureError.self) { try await session.removeInput("microphone") }
        #expect(error == CaptureError(.busy, "the camera is in use"))
        #expect(await session.description == before)
        withExtendedLifetime(daemon) {}
    }

    @Test func `outputs are connected with what they take, and no more than once of a kind`() async throws {
        let bus = try PrivateBus()
        let session = try await CaptureSession(on: try await CaptureDaemon.connect(to: bus.kind))
        let file = try OutputFile.scratch()
        try await session.addOutput(try SoundFileOutput(file: file.descriptor))
        try await session.addInput(.camera("a", name: "first"))
        try await session.addInput(.camera("b", name: "second"))
        try await session.addInput(.microphone())
        try await session.addOutput(FrameBufferOutput())
        #expect(
            await session.connections == [
                ConnectionDescription(input: "microphone", output: "sound"),
                ConnectionDescription(input: "first", output: "buffer"),
            ]
        )
        await #expect(throws: CaptureError.self) { try await session.addConnection(from: "second", to: "sound") }
        await #expect(throws: CaptureError.self) { try await session.addInput(.camera("c", name: "first")) }
    }
}
