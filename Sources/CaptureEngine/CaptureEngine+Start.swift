import Authorization
public import CaptureCore

extension CaptureEngine {
    /// Starts a session: asks for consent where it must, then opens devices and recorders, then streams.
    ///
    /// Returns at once, in state `authorizing`; a person may take minutes. What comes of it is a change of state.
    ///
    /// - Throws: `.wrongState` unless the session was never started.
    public func start(_ id: UInt32, client: SessionClient) throws(CaptureError) {
        let session = try sessions.find(id, for: client)
        guard session.client.connection == client.connection else {
            throw CaptureError(.notPermitted, "only the program that made session \(id) may start it")
        }
        guard session.state == .configured, !session.isEnding else {
            let doing = session.state == .configured ? session.doing : session.state.rawValue
            throw CaptureError(.wrongState, "session \(id) is \(doing); a session starts once")
        }
        session.authorize(in: Task { await self.run(session) })
        announce(session)
    }

    private func run(_ session: Session) async {
        do throws(CaptureError) {
            try await authorize(session)
            try session.proceed()
            session.open()
            announce(session)
            session.inputs = try await open(
                session.description.inputs,
                outputs: session.description.outputs,
                of: session.description,
                in: session
            )
            try session.proceed()
            try await stream(session)
            try session.proceed()
            session.run()
            announce(session)
            finishIfDone(session)
        } catch {
            session.refuse(error)
            // Who is ending the session waits for this task and clears up what it opened.
            if !session.isEnding { await end(session, as: error.code == .deviceLost ? .interrupted : .failed, error) }
        }
    }

    /// Waits for consent to everything that the session captures.
    private func authorize(_ session: Session) async throws(CaptureError) {
        let services = Set(session.description.inputs.map { Service($0.mediaType) })
        try await uses.check()
        try await adopt(try await grants(services, for: session.client, mayAsk: true), in: session)
        try await desk.authorizeSaving(session.description.outputs, of: session, for: session.client, mayAsk: true)
    }

    /// Has a session take grants. What it does not take is given back: what was allowed for one session ends with that.
    func adopt(_ grants: [Service: Grant], in session: Session) async throws(CaptureError) {
        do throws(CaptureError) {
            try await session.adopt(grants)
        } catch {
            let lost = grants.filter { session.grants[$0.key] !== $0.value }.values
            await giveBack(Array(lost))
            throw error
        }
    }

    /// Grants on the consent of a client, or on the question by which a person takes something.
    func grants(
        _ services: Set<Service>,
        for client: SessionClient,
        mayAsk: Bool
    ) async throws(CaptureError) -> [Service: Grant] {
        if let taking = client.taking { return try await gate.requestAccess(services, for: taking) }
        return try await gate.requestAccess(services, for: client.requester, mayAsk: mayAsk)
    }

    /// Opens devices and begins recorders; on a fault everything opened here is closed again.
    ///
    /// Where all outputs are photos or buffers, devices start to stream meanwhile: whoever is late takes a later frame.
    ///
    /// - Parameter client: Who asks for the outputs; `nil` for the session's maker.
    func open(
        _ inputs: [InputDescription],
        outputs: [OutputDescription],
        of description: SessionDescription,
        in session: Session,
        for client: SessionClient? = nil
    ) async throws(CaptureError) -> [String: LiveInput] {
        var live = session.inputs
        var begun: [LiveOutput] = []
        var opened: [LiveInput] = []
        var starts: [String: RecorderStart] = [:]
        var streaming: Task<Result<Void, CaptureError>, Never>?
        defer { for start in starts.values { start.dismiss() } }
        do throws(CaptureError) {
            // A camera before its metadata.
            for input in inputs.sorted(by: { $1.mediaType == .metadata && $0.mediaType != .metadata })
            where live[input.name] == nil {
                let grant = try session.grant(for: input)
                let device = try await pool.resolve(input)
                let shared = try await pool.acquire(input, device, grant: grant, for: session.id)
                let one = LiveInput(shared)
                opened.append(one)
                live[input.name] = one
            }
            // They start while the use is written to the history, and not before: a device that does not open costs no
            // process.
            starts = desk.start(outputs)
            // From here on samples may flow: a device that others use streams already.
            try await uses.begin(inputs, live, in: session)
            try session.proceed()
            if outputs.allSatisfy({ $0.kind == .photo || $0.kind == .buffer }) { streaming = streamMeanwhile(opened) }
            for output in outputs {
                try session.proceed()
                let one = try await desk.begin(
                    output,
                    by: starts[output.name],
                    of: description,
                    inputs: live,
                    in: session,
                    for: client ?? session.client,
                    on: self
                )
                begun.append(one)
            }
            for output in begun {
                // If the session ended while this recorder got its job, only this code knows of it.
                try session.proceed()
                try await desk.waitUntilReady(output, on: self)
            }
            try await streaming?.value.get()
            return live
        } catch {
            // What is starting is closed after that.
            _ = await streaming?.value
            await desk.discard(begun)
            for output in begun { session.outputs[output.description.name] = nil }
            await release(opened, of: session)
            let names = inputs.map(\.name).filter { session.inputs[$0] == nil }
            await uses.end(names, of: session, as: session.isEnding ? .stopped : UseOutcome(.failed, error), error)
            throw error
        }
    }

    /// Gives back the devices of inputs that a session no longer has, unless another input of it uses them.
    func release(_ gone: [LiveInput], of session: Session) async {
        let used = Set(session.inputs.values.map(\.shared.device.id))
        for id in Set(gone.map(\.shared.device.id)).subtracting(used) { await pool.release(id, for: session.id) }
    }

    func stream(_ session: Session) async throws(CaptureError) {
        for source in CaptureEngine.inOrder(session.inputs.values) { try await pool.stream(source) }
    }

    private func streamMeanwhile(_ inputs: [LiveInput]) -> Task<Result<Void, CaptureError>, Never> {
        let sources = CaptureEngine.inOrder(inputs)
        return Task {
            await Result.of { () throws(CaptureError) in
                for source in sources { try await pool.stream(source) }
            }
        }
    }

    private static func inOrder(_ inputs: some Sequence<LiveInput>) -> [SharedSource] {
        // Sound first: a movie begins with its first picture, by which time the sound shall be there. A camera comes before
        // its metadata.
        let order: [MediaType] = [.audio, .video, .metadata]
        let sources = inputs.map(\.shared)
        return order.flatMap { kind in sources.filter { $0.source.format.mediaType == kind } }
    }
}

/// The rings that clients map.
extension CaptureEngine {
    /// The ring behind an output of kind `buffer`, for the connection that made the session.
    ///
    /// Nothing in it was captured before the session joined the device: where others kept it streaming, it goes on in
    /// another ring first, without a loss to them.
    ///
    /// - Throws: Why the start failed, if it did; `.wrongState` unless the session runs; `.notPermitted` for anyone but
    ///   its maker.
    public func openBuffer(_ id: UInt32, output name: String, client: SessionClient) async throws(CaptureError)
        -> any OpenFile
    {
        let session = try sessions.find(id, for: client)
        while true {
            // A buffer gets no frames of a photo's size.
            while let still = session.still { await still.whenOver(on: self) }
            do throws(CaptureError) {
                return try await shown.open(for: session, on: self) { () throws(CaptureError) in
                    try reading(name, of: id, by: client)
                }
            } catch {
                if session.still == nil { throw error }
            }
        }
    }

    /// The input whose ring a client may be given now.
    private func reading(_ name: String, of id: UInt32, by client: SessionClient) throws(CaptureError) -> LiveInput {
        let session = try sessions.find(id, for: client)
        guard session.client.connection == client.connection, session.client.caller == client.identity else {
            throw CaptureError(.notPermitted, "only the program that made session \(id) may have its buffers")
        }
        if let refusal = session.refusal { throw refusal }
        guard session.state == .running, !session.isEnding else {
            throw CaptureError(.wrongState, "session \(id) is \(session.doing), not running")
        }
        guard let output = session.outputs[name], output.description.kind == .buffer,
            let input = session.description.inputs(of: name).first, let live = session.inputs[input.name]
        else { throw CaptureError(.invalidArgument, "session \(id) has no output '\(name)' of kind buffer") }
        guard !session.isDisabled(name) else {
            throw CaptureError(
                .wrongState,
                "the connection from '\(input.name)' to '\(name)' is disabled; enable it first"
            )
        }
        guard session.still == nil else {
            throw CaptureError(.wrongState, "session \(id) takes a photo of another size; try again after that")
        }
        let service = Service(input.mediaType)
        guard let grant = session.grants[service], grant.isLive else {
            throw session.grants[service]?.withdrawal ?? Grant.withdrawal(of: service, "")
        }
        return live
    }
}
