import Authorization
import CaptureCore
import TestSupport
import Testing

@testable import CaptureEngine

/// The metadata of a camera's frames, as an output of its own.
@Suite(.timeLimit(.minutes(10))) struct CameraMetadataTests {
    private let other = EngineBench.client(":1.2", program: "other")

    private static let description = SessionDescription(
        inputs: [
            InputDescription(name: "metadata", mediaType: .metadata),
            InputDescription(name: "camera", mediaType: .video),
        ],
        outputs: [OutputDescription(name: "words", kind: .buffer, format: "")],
        connections: [ConnectionDescription(input: "metadata", output: "words")]
    )

    private func bench() -> EngineBench {
        let bench = EngineBench()
        var camera = FakeMachine.camera
        camera.metadata = DeviceMetadata(node: "/dev/video10", formats: [.uvcHeaders])
        bench.machine.plug([camera, FakeMachine.microphone])
        return bench
    }

    private func open(_ bench: EngineBench, _ id: UInt32, _ client: SessionClient = EngineBench.client()) async throws
        -> any OpenFile
    {
        try await bench.engine.openBuffer(id, output: "words", client: client)
    }

    @Test func `streams while its camera does, which opens first and closes last`() async throws {
        let bench = bench()
        let id = try await bench.running(Self.description)
        _ = try await open(bench, id)
        #expect(bench.machine.openDevices == ["fake:camera", "fake:camera:metadata"])
        let inputs = try await bench.engine.statistics(of: id, client: EngineBench.client()).inputs
        #expect(inputs["metadata"]?.device == "fake:camera" && inputs["metadata"]?.format.hasPrefix("UVCH") == true)
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        let closed = bench.machine.log.filter { $0.hasPrefix("close") }
        #expect(closed == ["close fake:camera:metadata", "close fake:camera"])
    }

    @Test func `is one use of the camera, not another`() async throws {
        let bench = bench()
        _ = try await bench.running(Self.description)
        let uses = try await bench.history.page(HistoryFilter(limit: 100)).filter { $0.kind == .use }
        #expect(uses.count == 1 && uses[0].device == "fake:camera")
    }

    @Test func `does not open without the camera's consent, nor without the camera`() async throws {
        let bench = bench()
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        let denied = try await bench.running(Self.description)
        #expect(await bench.watch.wait(denied, for: .failed).reason?.code == .denied)
        #expect(bench.machine.openDevices.isEmpty)
        var alone = Self.description
        alone.inputs.removeLast()
        let error = await #expect(throws: CaptureError.self) { _ = try await bench.create(alone) }
        #expect(error?.code == .invalidArgument && error?.message.contains("media type video") == true)
        alone.inputs.append(InputDescription(name: "camera", mediaType: .video, device: "fake:camera"))
        await #expect(throws: CaptureError.self) { _ = try await bench.create(alone) }
    }

    @Test func `goes into no file, and comes from no camera without it`() async throws {
        let bench = bench()
        var movie = Self.description
        movie.outputs = [OutputDescription(name: "words", kind: .movie, format: "mkv")]
        let error = await #expect(throws: CaptureError.self) { _ = try await bench.create(movie) }
        #expect(error?.code == .invalidArgument && error?.message.contains("kind buffer") == true)
        let silent = await #expect(throws: CaptureError.self) { _ = try await EngineBench().create(Self.description) }
        #expect(silent?.code == .noSuchDevice && silent?.message.contains("has no metadata") == true)
    }

    @Test func `ends at once with a withdrawn consent, and goes on elsewhere for others`() async throws {
        let bench = bench()
        let staying = try await bench.running(Self.description, other)
        let id = try await bench.running(Self.description)
        _ = try await open(bench, id)
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        #expect(bench.machine.log.contains("move fake:camera:metadata at once"))
        #expect(await bench.watch.wait(id, for: .failed).reason?.code == .revoked)
        #expect(await bench.engine.list(for: other).first { $0.id == staying }?.state == .running)
        await #expect(throws: CaptureError.self) { _ = try await open(bench, id) }
        // Alone, its source is closed.
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/other", service: .camera, status: .denied)
        _ = await bench.watch.wait(staying, for: .failed)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `that fails leaves the session and the camera as they are`() async throws {
        let bench = bench()
        let id = try await bench.running(Self.description)
        _ = try await open(bench, id)
        bench.machine.unplug(DeviceID(rawValue: "fake:camera:metadata"))
        // The engine's turn comes after what it heard.
        let session = try await bench.running(EngineBench.buffer, other)
        _ = await bench.watch.wait(session, for: .running)
        #expect(await bench.engine.list(for: EngineBench.client()).first { $0.id == id }?.state == .running)
        #expect(bench.rings.made.contains { $0.end == .deviceLost })
        try await bench.engine.stop(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .stopped, .failed, .interrupted)
        #expect(end.state == .stopped && end.reason == nil)
    }

    @Test func `goes on with its camera after an interruption`() async throws {
        let bench = bench()
        let id = try await bench.running(Self.description)
        try await bench.turn(.camera, on: false)
        _ = await bench.watch.wait(id, for: .suspended)
        #expect(bench.machine.openDevices.isEmpty)
        try await bench.turn(.camera, on: true)
        _ = await bench.watch.wait(id, for: .running)
        #expect(bench.machine.openDevices == ["fake:camera", "fake:camera:metadata"])
    }
}
