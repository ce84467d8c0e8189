import Authorization
import CaptureCore
import CaptureEngine
import TestSupport

/// An engine on a fake machine, with a person who answers as the test says.
struct EngineBench {
    let machine = FakeMachine()
    let recorders = FakeRecorders()
    let rings = FakeRings()
    let watch = StateWatch()
    let saver = FakeSaver()
    let gate: AuthorizationGate
    let history: HistoryKeeper
    let engine: CaptureEngine

    init(
        history store: HistoryStore = .inMemory(),
        hasLibrary: Bool = true,
        answer: @escaping @Sendable (PromptRequest) async throws(CaptureError) -> [Service: Bool]
    ) {
        self.init(history: store, hasLibrary: hasLibrary, prompter: ClosurePrompter(answer))
    }

    init(
        history store: HistoryStore = .inMemory(),
        hasLibrary: Bool = true,
        prompter: any Prompter = ClosurePrompter.yes
    ) {
        history = HistoryKeeper(store)
        gate = AuthorizationGate(prompter: prompter)
        engine = CaptureEngine(
            devices: machine,
            rings: rings,
            recorders: recorders,
            gate: gate,
            observer: watch,
            history: history,
            saver: hasLibrary ? saver : nil,
            patience: RecorderPatience(begin: .seconds(600), finish: .seconds(600))
        )
    }

    static func client(
        _ connection: String = ":1.1",
        user: UInt32 = 1000,
        program: String = "tester"
    ) -> SessionClient {
        let identity = ClientIdentity(
            program: "exe:/usr/bin/\(program)",
            tier: .claimed,
            user: user,
            name: program,
            detail: "a test"
        )
        return SessionClient(identity: identity, connection: connection) { () throws(CaptureError) in identity }
    }

    /// Camera and microphone into one movie file.
    static func movie(named name: String = "movie", attached: Bool = false) -> SessionDescription {
        SessionDescription(
            inputs: [
                InputDescription(name: "camera", mediaType: .video),
                InputDescription(name: "microphone", mediaType: .audio),
            ],
            outputs: [OutputDescription(name: name, kind: .movie, format: "mkv")],
            connections: [
                ConnectionDescription(input: "camera", output: name),
                ConnectionDescription(input: "microphone", output: name),
            ],
            isAttached: attached
        )
    }

    /// A camera's ring for its client to map.
    static let buffer = SessionDescription.of("camera", "frames")

    func create(_ description: SessionDescription = movie(), _ client: SessionClient = client()) async throws -> UInt32
    {
        let files = description.outputs.filter { $0.kind != .buffer }.map { ($0.name, FakeFile() as any OpenFile) }
        return try await engine.create(
            description,
            files: Dictionary(uniqueKeysWithValues: files),
            client: client
        )
    }

    /// Adds a photo of the camera to a session.
    func addPhoto(to id: UInt32, file: any OpenFile = FakeFile(), _ client: SessionClient = client()) async throws {
        let photo = OutputDescription(name: "shot", kind: .photo, format: "jpeg")
        try await engine.addOutput(id, photo, inputs: ["camera"], file: file, client: client)
    }

    func running(_ description: SessionDescription = movie(), _ client: SessionClient = client()) async throws -> UInt32
    {
        let id = try await create(description, client)
        try await engine.start(id, client: client)
        _ = await watch.wait(id, for: .running, .failed)
        return id
    }
}

extension SessionDescription {
    /// A session of nobody's connection, of one input into one output: a buffer, unless told.
    static func of(
        _ input: String,
        _ output: String,
        _ kind: OutputKind = .buffer,
        _ format: String = ""
    ) -> SessionDescription {
        SessionDescription(inputs: [], outputs: [], connections: []).with(output, kind, format, of: input)
    }

    /// The same with one more output of an input, which is added where it is not there.
    func with(
        _ output: String,
        _ kind: OutputKind = .buffer,
        _ format: String = "",
        of input: String
    ) -> SessionDescription {
        var more = self
        if !inputs.contains(where: { $0.name == input }) {
            more.inputs.append(InputDescription(name: input, mediaType: input == "microphone" ? .audio : .video))
        }
        more.outputs.append(OutputDescription(name: output, kind: kind, format: format))
        more.connections.append(ConnectionDescription(input: input, output: output))
        return more
    }
}

/// A person who says yes, this time.
struct ThisTime: Prompter {
    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        Dictionary(uniqueKeysWithValues: request.services.map { ($0, PersonsAnswer(true, lifetime: .session)) })
    }
}
