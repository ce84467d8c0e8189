import CaptureBus
public import CaptureCore
import CaptureMessages

/// Inputs that feed outputs, running in the daemon.
///
/// Like AVFoundation's class of the same kind: add inputs and outputs, then start. It connects them if they fit. The
/// session lives in the daemon under a number, so that another process can stop it; an attached one ends with the
/// process that made it. Unlike AVFoundation's it goes on when this object is released: stop it. A session that is over
/// starts again under another number. No frame and no sample passes through this actor.
///
/// Any task may call everything. Changes are made one after the other. Only one task may use the session between a
/// `beginConfiguration` and its `commitConfiguration`.
public actor CaptureSession {
    let daemon: CaptureDaemon
    /// Whether the session ends when the process that made it leaves the bus.
    public nonisolated let isAttached: Bool

    /// The cookie of an agent's question that it takes something for, in the place of a consent; `nil` for one of this
    /// program's own.
    let question: String?

    /// What the daemon knows about the session.
    private enum Life {
        /// Nothing.
        case local
        /// The daemon is making it.
        case creating(Task<Result<SessionHub, CaptureError>, Never>)
        /// The daemon has it.
        case made(MadeSession)
        /// The daemon has it, and a change is under way.
        case changing(MadeSession, Task<Result<Void, CaptureError>, Never>)

        /// The session in the daemon, if there is one.
        var session: MadeSession? {
            switch self {
            case .local, .creating: nil
            case .made(let made), .changing(let made, _): made
            }
        }
    }

    private var life: Life
    private var draft = SessionDraft()
    private var depth = 0
    /// The connections that are disabled, here and in the daemon.
    var disabled: Set<ConnectionDescription> = []
    /// The last look for outputs to read; the next look waits for it.
    var beginning: Task<CaptureError?, Never>?

    /// A session without inputs and outputs; the daemon hears of it at the start.
    ///
    /// - Parameters:
    ///   - daemon: `nil` for the shared connection.
    ///   - isAttached: False for a session that goes on when this process ends.
    public init(on daemon: CaptureDaemon? = nil, isAttached: Bool = true) async throws(CaptureError) {
        self.daemon = try await CaptureDaemon.given(daemon)
        self.isAttached = isAttached
        question = nil
        life = .local
    }

    /// A session by which an agent has the person take something, as a question asks it to.
    package init(on daemon: CaptureDaemon, question: String) {
        self.daemon = daemon
        self.question = question
        isAttached = true
        life = .local
    }

    init(_ daemon: CaptureDaemon, _ hub: SessionHub) {
        self.daemon = daemon
        isAttached = false
        question = nil
        life = .made(MadeSession(hub: hub, following: nil))
    }

    deinit {
        life.session?.following?.cancel()
    }

    // MARK: Configuration

    /// The devices.
    public var inputs: [CaptureDeviceInput] { draft.inputs }
    /// The outputs that are fed by them.
    public var outputs: [any CaptureOutput] { draft.outputs }
    /// Which input feeds which output.
    public var connections: [ConnectionDescription] { draft.connections }
    /// The format for cameras that have no request of their own.
    public var preset: Preset { draft.preset }

    /// The session as it would be sent to the daemon.
    public var description: SessionDescription {
        draft.description(isAttached: isAttached)
    }

    /// Puts off that changes take effect until the matching `commitConfiguration`.
    public func beginConfiguration() {
        depth += 1
    }

    /// Applies what changed since `beginConfiguration`: to a running session at once, or not at all.
    ///
    /// - Throws: The daemon's refusal. The session and its configuration here are then as before.
    public func commitConfiguration() async throws(CaptureError) {
        guard depth > 0 else { throw CaptureError(.usage, "commit without a matching begin of a configuration") }
        depth -= 1
        try await change { _ in }
    }

    /// Sets the format of the cameras that have no request of their own.
    ///
    /// A camera that runs is closed for that and opened again, if this session alone uses it and records no file of it.
    /// Buffers go on in the new format. The frames lost meanwhile are counted as `paused` in `statistics()`.
    ///
    /// - Throws: Of a running session also `busy` if another one uses the camera, too, and `invalidArgument` while a file is
    ///   recorded of it: then everything stays as it is. If the new format cannot be opened, the camera goes on in the former
    ///   one; if that fails, too, the session ends.
    public func setPreset(_ preset: Preset) async throws(CaptureError) {
        try await change { $0.preset = preset }
    }

    /// Adds an input, connected with every output that takes its kind and has none of it yet, unless told not to.
    ///
    /// - Throws: `usage` when the name is taken.
    public func addInput(_ input: CaptureDeviceInput, connecting: Bool = true) async throws(CaptureError) {
        try await change { draft throws(CaptureError) in try draft.add(input, connecting: connecting) }
    }

    /// Adds an output, connected with the first input of each kind that it takes, unless told not to. Of a session that runs
    /// the person is asked for what it takes to save it into the media library, as the start does.
    ///
    /// - Throws: `usage` when the name is taken; of a session that runs what `MediaLibrary.requestSaving()` throws.
    public func addOutput(_ output: any CaptureOutput, connecting: Bool = true) async throws(CaptureError) {
        try await change { draft throws(CaptureError) in try draft.add(output, connecting: connecting) }
        await place(output)
    }

    /// Connects an input with an output, by their names.
    ///
    /// - Throws: `usage` when one is not there or the output cannot be fed by it.
    public func addConnection(from input: String, to output: String) async throws(CaptureError) {
        try await change { draft throws(CaptureError) in try draft.connect(input, output) }
    }

    /// Takes a connection away, by the names of what it connects. An output that has begun keeps its connections: disable
    /// one with `CaptureConnection.setEnabled`, or remove the output. A session starts once each output is fed again.
    ///
    /// - Throws: `usage` if the session has no such connection; `wrongState` once the output has begun.
    public func removeConnection(from input: String, to output: String) async throws(CaptureError) {
        try await change { draft throws(CaptureError) in
            try draft.disconnect(input, output)
            try checkNotBegun(output, in: draft, "its connections stay; disable one, or remove the output")
        }
        disabled.remove(ConnectionDescription(input: input, output: output))
    }

    /// Refuses a change of an output that has begun.
    private func checkNotBegun(_ output: String, in draft: SessionDraft, _ what: String) throws(CaptureError) {
        guard case .made(let made) = life, !made.isOver, made.hasBegun(output, in: draft) else { return }
        throw CaptureError(.wrongState, "the output '\(Printable.text(output))' has begun: \(what)")
    }

    /// Takes an input and its connections away.
    public func removeInput(_ name: String) async throws(CaptureError) {
        try await change { $0.removeInput(name) }
    }

    /// Removes an output and its connections. Its file is finished, and its handler is not called any more. Don't call
    /// this from the handler.
    public func removeOutput(_ name: String) async throws(CaptureError) {
        try await change { $0.removeOutput(name) }
    }

    /// Changes what becomes of what a connection brings, until its output begins.
    func adjust(
        _ connection: CaptureConnection,
        _ kind: MediaType,
        _ edit: (inout ConnectionSettings) -> Void
    ) async throws(CaptureError) {
        let pair = ConnectionDescription(input: connection.input, output: connection.output)
        try await change { draft throws(CaptureError) in
            try checkNotBegun(pair.output, in: draft, "this is set before the start")
            try draft.adjust(pair, kind, edit)
        }
    }

    /// Notes a gain that the daemon was told.
    func noteGain(_ gain: Double, of output: String) { draft.note(gain: gain, of: output) }

    /// Whether the daemon has an output of that name; of a session that was found by its number, the daemon checks.
    func knows(_ output: String) -> Bool {
        guard case .made(let made) = life else { return false }
        return made.following == nil || made.draft.entries.contains { $0.name == output }
    }

    // MARK: Questions

    /// Whether `addInput` would take an input now. Asks nobody, and does not look whether the device is there or free.
    public func canAddInput(_ input: CaptureDeviceInput) -> Bool { draft.refusal(of: input) == nil }

    /// Whether `addOutput` would take an output now. Asks nobody.
    public func canAddOutput(_ output: any CaptureOutput) -> Bool {
        guard case .made(let made) = life, made.isOver else { return draft.refusal(of: output) == nil }
        return remaining(made).refusal(of: output) == nil
    }

    // MARK: Life

    /// The connection to the session in the daemon; `nil` before the daemon has it.
    var hub: SessionHub? { life.session?.hub }

    /// Whether the next start makes a session in the daemon.
    var isToBeMade: Bool { life.session?.isOver ?? true }

    /// The outputs that the daemon knows.
    var knownOutputs: [any CaptureOutput] { life.session?.draft.outputs ?? [] }

    /// The session in the daemon, waiting for one that is being made; `nil` if nobody is making it.
    func made() async -> SessionHub? {
        guard case .creating(let task) = life else { return hub }
        // The error goes to the caller that makes the session.
        guard case .success(let hub) = await task.value else { return nil }
        return hub
    }

    /// Makes the session in the daemon, once; concurrent callers get the same one.
    func create() async throws(CaptureError) -> SessionHub {
        switch life {
        case .made(let made), .changing(let made, _): return made.hub
        case .creating(let task): return try await task.value.get()
        case .local:
            let task = Task { await make() }
            life = .creating(task)
            return try await task.value.get()
        }
    }

    /// Lets go of a session that is over, so that another one can be made. The outputs whose files are finished go with it.
    func renew() async throws(CaptureError) {
        while true {
            switch life {
            case .local: return
            case .creating(let task): _ = await task.value
            case .changing(_, let task): _ = await task.value
            case .made(let made):
                guard made.hub.status.state.isFinal else { return }
                guard let following = made.following else {
                    throw CaptureError(
                        .wrongState,
                        "session \(id ?? 0) is over, and only the program that made it can start it again"
                    )
                }
                for entry in made.draft.entries { await (entry.output as? DataOutput)?.cease() }
                // Another call may have done it meanwhile.
                guard case .made(let now) = life, now.hub === made.hub else { continue }
                following.cancel()
                draft = remaining(made)
                life = .local
                return
            }
        }
    }

    /// What can start again of a session that is over.
    private func remaining(_ made: MadeSession) -> SessionDraft {
        var draft = draft
        for entry in made.draft.entries where made.isFinished(entry) { draft.removeOutput(entry.number) }
        return draft
    }

    private func make() async -> Result<SessionHub, CaptureError> {
        let wanted = draft
        do throws(CaptureError) {
            var description = wanted.description(isAttached: isAttached)
            description.question = question
            let answer = try await daemon.manage(
                "CreateSession",
                [description.busValue, wanted.files(without: [])]
            )
            guard let path = answer.first?.text else { throw CaptureDaemon.malformed("CreateSession") }
            let hub = SessionHub(daemon, path: path)
            do throws(CaptureError) {
                try await hub.connect(isOwn: true)
                disabled = disabled.filter { (try? description.kindToDisable(of: $0)) != nil }
                for connection in disabled { try await hub.enable(false, connection) }
            } catch {
                // It must not be left behind. If the stop cannot be requested, it cannot run either.
                _ = try? await hub.call("Stop")
                throw error
            }
            let events = hub.events()
            let following = Task { [weak self] in
                for await event in events {
                    if case .changed(let status) = event, status.state == .running { await self?.beginBuffers() }
                }
            }
            life = .made(MadeSession(hub: hub, following: following, draft: wanted, description: description))
            return .success(hub)
        } catch {
            life = .local
            return .failure(error)
        }
    }

    /// Changes the configuration when every earlier change is done. Only the local configuration changes if the daemon
    /// does not know the session, if that is over, or if `commitConfiguration` is still to come. Otherwise both change, or
    /// neither.
    private func change(_ edit: (inout SessionDraft) throws(CaptureError) -> Void) async throws(CaptureError) {
        while true {
            switch life {
            case .creating(let task): _ = await task.value
            case .changing(_, let task): _ = await task.value
            case .local: return try edit(&draft)
            case .made(let made) where made.isOver:
                draft = remaining(made)
                return try edit(&draft)
            case .made(let made):
                var wanted = draft
                try edit(&wanted)
                draft = wanted
                if depth > 0 { return }
                let task = Task { await apply(wanted, to: made) }
                life = .changing(made, task)
                return try await task.value.get()
            }
        }
    }

    private func apply(_ wanted: SessionDraft, to before: MadeSession) async -> Result<Void, CaptureError> {
        var made = before
        let result: Result<Void, CaptureError>
        do throws(CaptureError) {
            let again = try made.replaced(by: wanted)
            // The daemon cannot tell a saved output from an older one of the same name, so the old one must go first.
            if !again.isEmpty {
                var between = wanted
                for name in again { between.removeOutput(name) }
                try await send(between, to: &made)
            }
            try await send(wanted, to: &made)
            disabled.formIntersection(made.description.connections)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        draft = made.draft
        let staying = Set(made.draft.entries.map(\.number))
        for entry in before.draft.entries where !staying.contains(entry.number) {
            await (entry.output as? DataOutput)?.cease()
        }
        life = .made(made)
        // An output that cannot be read reports it in its `failure`.
        if made.hub.status.state == .running { await beginBuffers() }
        return result
    }

    private func send(_ wanted: SessionDraft, to made: inout MadeSession) async throws(CaptureError) {
        let known = Set(made.draft.entries.map(\.number))
        let fresh = wanted.entries.filter { !known.contains($0.number) }
        // Before the start there is no need to ask: the start asks, and for the devices, too.
        if question == nil, made.hub.isStarted, fresh.contains(where: { $0.output.description.library != nil }) {
            try await MediaLibrary(on: daemon).requestSaving()
        }
        let description = wanted.description(isAttached: isAttached)
        let ends = fresh.map { ($0.number, made.hub.ends(of: $0.name)) }
        if description != made.description || !fresh.isEmpty {
            try await made.hub.call(
                "Configure",
                [description.busValue, wanted.files(without: known)],
                timeout: SessionHub.patience
            )
        }
        made.draft = wanted
        made.description = description
        made.ends.merge(ends) { $1 }
    }
}
