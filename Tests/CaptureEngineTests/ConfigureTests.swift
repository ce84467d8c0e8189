import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite struct `Changes to a running session` {
    @Test func `an added output begins while the others go on`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        try await bench.addPhoto(to: id)
        #expect(bench.recorders.recorder("shot") != nil)
        bench.recorders.recorder("shot")?.stop()
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
    }

    @Test func `a session that exists gets no question`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        var asked = EngineBench.movie()
        asked.question = "0123456789abcdef0123456789abcdef"
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.configure(id, asked, files: [:], client: EngineBench.client())
        }
        #expect(error?.code == .invalidArgument)
        #expect(await bench.engine.list(for: EngineBench.client()).first?.description == EngineBench.movie())
    }

    @Test func `a change that fails leaves the session as it was`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.recorders.refuse(CaptureError(.recorderLost, "no recorder"))
        await #expect(throws: CaptureError.self) {
            try await bench.addPhoto(to: id)
        }
        let session = await bench.engine.list(for: EngineBench.client()).first
        #expect(session?.state == .running)
        #expect(session?.description == EngineBench.movie())
    }

    /// A buffer, and another of a second input from the same camera.
    private func twice(_ request: VideoFormatRequest = VideoFormatRequest()) -> SessionDescription {
        var description = EngineBench.buffer
        description.inputs.append(InputDescription(name: "again", mediaType: .video, video: request))
        description.outputs.append(OutputDescription(name: "second", kind: .buffer, format: ""))
        description.connections.append(ConnectionDescription(input: "again", output: "second"))
        return description
    }

    private let large = VideoFormatRequest(width: 1280, height: 720, isExact: true)

    @Test(arguments: [false, true])
    func `a second input that the camera does not fit leaves the first its camera`(isShared: Bool) async throws {
        let bench = EngineBench()
        let other = EngineBench.client(":1.2", program: "other")
        if isShared { _ = try await bench.running(EngineBench.movie(), other) }
        let id = try await bench.running(EngineBench.buffer)
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.configure(id, twice(large), files: [:], client: EngineBench.client())
        }
        #expect(error?.code == .busy)
        #expect(!bench.machine.log.contains("close fake:camera"))
        try await bench.engine.configure(id, twice(), files: [:], client: EngineBench.client())
        try await bench.engine.configure(id, EngineBench.buffer, files: [:], client: EngineBench.client())
        #expect(!bench.machine.log.contains("close fake:camera"))
        // It still counts as one who uses the camera.
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(bench.machine.log.contains("close fake:camera") == !isShared)
    }

    @Test func `a second input whose recorder is refused leaves the first its camera`() async throws {
        let bench = EngineBench()
        let id = try await bench.running(EngineBench.buffer)
        var more = twice()
        more.outputs[1] = OutputDescription(name: "second", kind: .movie, format: "mkv")
        bench.recorders.refuse(CaptureError(.recorderLost, "no recorder"))
        await #expect(throws: CaptureError.self) {
            try await bench.engine.configure(id, more, files: ["second": FakeFile()], client: EngineBench.client())
        }
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
        #expect(!bench.machine.log.contains("close fake:camera"))
    }

    @Test func `a camera does not change its format when the same change has it feed a second input`() async throws {
        let bench = EngineBench()
        let id = try await bench.running(EngineBench.buffer)
        var more = twice()
        more.inputs[0].video = large
        #expect(
            await code { try await bench.engine.configure(id, more, files: [:], client: EngineBench.client()) } == .busy
        )
        #expect(!bench.machine.log.contains("close fake:camera"))
    }

    @Test func `a change never asks`() async throws {
        let bench = EngineBench()
        let pictures = SessionDescription.of("camera", "movie", .movie, "mkv")
        let id = try await bench.running(pictures)
        let more = pictures.with("sound", .sound, "wav", of: "microphone")
        let refusal = await code {
            try await bench.engine.configure(id, more, files: ["sound": FakeFile()], client: EngineBench.client())
        }
        #expect(refusal == .notPermitted, "the change went through without consent")
        #expect(!bench.machine.log.contains("open fake:microphone"))
    }

    @Test func `what is captured no longer is not allowed by the session any more`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        try await bench.engine.configure(id, EngineBench.buffer, files: [:], client: EngineBench.client())
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .microphone, status: .denied)
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        // Nothing is delivered any more; the files' end may take a moment.
        #expect(await bench.watch.wait(id, for: .failed, .stopped).state == .failed)
    }

    @Test func `what a change that fails would have captured is not, either`() async throws {
        let bench = EngineBench()
        let pictures = SessionDescription.of("camera", "movie", .movie, "mkv")
        let id = try await bench.running(pictures)
        let client = EngineBench.client()
        _ = try await bench.gate.requestAccess([.microphone], for: client.requester)
        let more = pictures.with("sound", .sound, "wav", of: "microphone")
        bench.recorders.refuse(CaptureError(.recorderLost, "no recorder"))
        let refusal = await code {
            try await bench.engine.configure(id, more, files: ["sound": FakeFile()], client: EngineBench.client())
        }
        #expect(refusal == .recorderLost, "the change went through without a recorder")
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .microphone, status: .denied)
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
    }

    @Test func `the same program adds to its session from another process, and another program does not`() async throws
    {
        let bench = EngineBench()
        let id = try await bench.running()
        let shot = OutputDescription(name: "shot", kind: .photo, format: "jpeg")
        var stranger = EngineBench.client(":1.7")
        stranger.identity.program = "exe:/usr/bin/other"
        let refusal = await code {
            try await bench.engine.addOutput(id, shot, inputs: ["camera"], file: FakeFile(), client: stranger)
        }
        #expect(refusal == .notPermitted, "another program changed the session")
        var sibling = EngineBench.client(":1.8")
        sibling.identity.pid += 1
        try await bench.engine.addOutput(id, shot, inputs: ["camera"], file: FakeFile(), client: sibling)
    }

    @Test func `an output that is no longer described is finished`() async throws {
        let bench = EngineBench()
        let both = EngineBench.movie().with("sound", .sound, "wav", of: "microphone")
        let id = try await bench.running(both)
        try await bench.engine.configure(id, EngineBench.movie(), files: [:], client: EngineBench.client())
        let statistics = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(Array(statistics.outputs.keys) == ["movie"])
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
    }
}

@Suite struct `Descriptions that cannot be` {
    private static func recording(_ kind: OutputKind, _ format: String, to output: String = "o") -> SessionDescription {
        SessionDescription(
            inputs: [InputDescription(name: "a", mediaType: .video)],
            outputs: [OutputDescription(name: "o", kind: kind, format: format)],
            connections: [ConnectionDescription(input: "a", output: output)]
        )
    }

    @Test(arguments: [
        ("no input", SessionDescription(inputs: [], outputs: [], connections: [])),
        ("an unknown format", recording(.movie, "avi")), ("a sound file of a camera", recording(.sound, "wav")),
        ("a connection to nothing", recording(.movie, "mkv", to: "x")),
    ])
    func `are refused before anything is opened`(_ what: String, _ description: SessionDescription) async throws {
        let bench = EngineBench()
        #expect(await code { try await bench.create(description) } == .invalidArgument, "\(what) was taken")
        #expect(bench.machine.log.isEmpty)
    }
}
