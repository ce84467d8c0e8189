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

    @Test func `a change never asks`() async throws {
        let bench = EngineBench()
        var pictures = EngineBench.movie()
        pictures.inputs.removeLast()
        pictures.connections.removeLast()
        let id = try await bench.running(pictures)
        var more = pictures
        more.inputs.append(InputDescription(name: "microphone", mediaType: .audio))
        more.outputs.append(OutputDescription(name: "sound", kind: .sound, format: "wav"))
        more.connections.append(ConnectionDescription(input: "microphone", output: "sound"))
        do {
            try await bench.engine.configure(id, more, files: ["sound": FakeFile()], client: EngineBench.client())
            Issue.record("the change went through without consent")
        } catch {
            #expect(error.code == .notPermitted)
        }
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
        var pictures = EngineBench.movie()
        pictures.inputs.removeLast()
        pictures.connections.removeLast()
        let id = try await bench.running(pictures)
        let client = EngineBench.client()
        _ = try await bench.gate.requestAccess(
            [.microphone],
            for: client.identity,
            session: client.connection,
            again: client.identifyAgain
        )
        var more = pictures
        more.inputs.append(InputDescription(name: "microphone", mediaType: .audio))
        more.outputs.append(OutputDescription(name: "sound", kind: .sound, format: "wav"))
        more.connections.append(ConnectionDescription(input: "microphone", output: "sound"))
        bench.recorders.refuse(CaptureError(.recorderLost, "no recorder"))
        do {
            try await bench.engine.configure(id, more, files: ["sound": FakeFile()], client: EngineBench.client())
            Issue.record("the change went through without a recorder")
        } catch {
            #expect(error.code == .recorderLost)
        }
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
        do {
            try await bench.engine.addOutput(id, shot, inputs: ["camera"], file: FakeFile(), client: stranger)
            Issue.record("another program changed the session")
        } catch {
            #expect(error.code == .notPermitted)
        }
        var sibling = EngineBench.client(":1.8")
        sibling.identity.pid += 1
        try await bench.engine.addOutput(id, shot, inputs: ["camera"], file: FakeFile(), client: sibling)
    }

    @Test func `an output that is no longer described is finished`() async throws {
        let bench = EngineBench()
        var both = EngineBench.movie()
        both.outputs.append(OutputDescription(name: "sound", kind: .sound, format: "wav"))
        both.connections.append(ConnectionDescription(input: "microphone", output: "sound"))
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
        do {
            _ = try await bench.create(description)
            Issue.record("\(what) was taken")
        } catch let error as CaptureError {
            #expect(error.code == .invalidArgument)
        }
        #expect(bench.machine.log.isEmpty)
    }
}
