import Authorization
public import CaptureCore

extension CaptureEngine {
    /// Starts a session: asks for consent where it must, then opens devices and recorders, then streams.
    ///
    /// Returns at once, in state `authorizing`; a person may take minutes. What comes of it is a change of state.
    ///
    /// - Throws: `.wrongState` unless the session was never started.
    public func start(_ id: UInt32, client: SessionClient) throws(CaptureError) {
        let session = try session(id, for: client)
        guard session.client.connection == client.connection else {
            throw CaptureError(.notPermitted, "only the program that made session \(id) may start it")
        }
        guard session.state == .configured else {
            throw CaptureError(.wrongState, "session \(id) is \(session.state.rawValue); a session starts once")
        }
        session.authorize(in: Task { await self.run(session) })
        announce(session)
    }

    private func run(_ session: Session) async {
        do throws(CaptureError) {
            try await authorize(session)
            try proceed(session)
            session.open()
            announce(session)
            session.inputs = try await open(
                session.description.inputs,
                outputs: session.description.outputs,
                of: session.description,
                in: session
            )
            try proceed(session)
            try await stream(session)
            try proceed(session)
            session.run()
            announce(session)
            finishIfDone(session)
        } catch {
            session.refuse(error)
            // Who is ending the session waits for this task and clears up what it opened.
            if !session.isEnding { await end(session, as: error.code == .deviceLost ? .interrupted : .failed, error) }
        }
    }

    /// Whether a start may go on: nobody stopped the session and no consent was withdrawn meanwhile.
    func proceed(_ session: Session) throws(CaptureError) {
        if session.isEnding { throw CaptureError(.wrongState, "stopped before it ran") }
        if let grant = session.grants.values.first(where: { !$0.isLive }) {
            throw grant.withdrawal
        }
    }

    /// Waits for consent to everything that the session captures.
    private func authorize(_ session: Session) async throws(CaptureError) {
        let services = Set(session.description.inputs.map { Service($0.mediaType) })
        try await history.check()
        let grants = try await gate.requestAccess(
            services,
            for: session.client.identity,
            session: session.client.connection,
            again: session.client.identifyAgain
        )
        try proceed(session)
        try await adopt(grants, in: session)
        try await authorizeSaving(session.description.outputs, of: session, for: session.client, mayAsk: true)
    }

    /// Takes grants into a session, so that their withdrawal ends it, or interrupts it.
    ///
    /// - Throws: As `proceed`. Also if a grant was withdrawn on its way here, which no other check notices.
    func adopt(_ grants: [Service: Grant], in session: Session) async throws(CaptureError) {
        try await confirmIdentity(of: session.client)
        for (service, grant) in grants { session.grants[service] = grant }
        try proceed(session)
    }

    /// Once more at the start, as at the answer: the connection must still be the program that was allowed, and no other
    /// have got it since its first call.
    func confirmIdentity(of client: SessionClient) async throws(CaptureError) {
        let now = try await client.identifyAtStart()
        guard client.identity.isUnchanged(in: now) else {
            throw CaptureError(.notPermitted, "the program behind the connection changed; nothing was started")
        }
    }

    /// Opens devices and begins recorders; on a fault everything opened here is closed again.
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
        do throws(CaptureError) {
            for input in inputs where live[input.name] == nil {
                guard let grant = session.grants[Service(input.mediaType)] else {
                    throw CaptureError(.notPermitted, "there is no consent for the input '\(input.name)'")
                }
                let device = try await pool.resolve(input)
                let shared = try await pool.acquire(input, device, grant: grant, for: session.id)
                let one = LiveInput(shared)
                opened.append(one)
                live[input.name] = one
            }
            // From here on samples may flow: a device that others use streams already.
            try await recordUses(inputs.filter { input in session.uses[input.name] == nil }, live, in: session)
            for output in outputs {
                try proceed(session)
                let one = try await begin(
                    output,
                    of: description,
                    inputs: live,
                    in: session,
                    for: client ?? session.client
                )
                begun.append(one)
            }
            for output in begun {
                // If the session ended while this recorder was launched, only this code knows of it.
                try proceed(session)
                try await waitUntilReady(output, in: session)
            }
            return live
        } catch {
            await discard(begun)
            for output in begun { session.outputs[output.description.name] = nil }
            for input in opened { await pool.release(input.shared.device.id, for: session.id) }
            let names = inputs.map(\.name).filter { session.inputs[$0] == nil }
            await endUses(names, of: session, as: session.isEnding ? .stopped : UseOutcome(.failed, error), error)
            throw error
        }
    }

    private func begin(
        _ output: OutputDescription,
        of description: SessionDescription,
        inputs: [String: LiveInput],
        in session: Session,
        for client: SessionClient
    ) async throws(CaptureError) -> LiveOutput {
        let fed = description.inputs(of: output.name)
        guard output.kind != .buffer else {
            let live = LiveOutput(output, recorder: nil, feeds: fed.compactMap { inputs[$0.name]?.shared })
            session.outputs[output.name] = live
            return live
        }
        let video = fed.first { $0.mediaType == .video }.flatMap { inputs[$0.name]?.shared }
        let audio = fed.first { $0.mediaType == .audio }.flatMap { inputs[$0.name]?.shared }
        var origin = CaptureOrigin(camera: video?.device, microphone: audio?.device)
        if output.kind == .photo, let camera = video?.device, let grant = session.grants[.camera] {
            origin.note(await provider.settings(of: camera, grant: grant))
        }
        let job = RecordingJob(
            output: pace.fitted(output, to: video?.pictures, for: session.client.identity.user),
            hasVideo: video != nil,
            hasAudio: audio != nil,
            origin: origin,
            silenceLimit: silenceLimit.nanoseconds
        )
        let feeds = [video, audio].compactMap(\.self)
        let (file, recording) = try await place(of: output, madeWith: feeds.first, in: session, for: client)
        let given = [video, audio].map { $0?.ring }
        let handle: any RecorderHandle
        do throws(CaptureError) {
            handle = try await recorders.launch(job, file: file, video: given[0]?.file, audio: given[1]?.file)
        } catch {
            await recording?.cancel()
            throw error
        }
        let live = LiveOutput(
            output,
            recorder: handle,
            file: file.identity,
            recording: recording,
            for: client.connection,
            feeds: feeds
        )
        session.outputs[output.name] = live
        // Those that were moved while it was launched; of later moves it is told as all are.
        for (source, ring) in zip([video, audio], given) {
            if let source, let ring { live.launched(with: ring, of: source) }
        }
        // The recorder has its own descriptor now; the daemon keeps no file of a client open.
        session.files[output.name] = nil
        let id = session.id
        Task { [weak self] in
            for await report in handle.reports { await self?.reported(report, by: handle, id, output.name) }
            await self?.recorderGone(handle, id, output.name)
        }
        return live
    }

    private func waitUntilReady(_ output: LiveOutput, in session: Session) async throws(CaptureError) {
        if output.isReady { return }
        let limit = patience.begin
        let id = session.id
        let name = output.description.name
        let timer = Task { [weak self] in
            try await Task.sleep(for: limit)
            await self?.recorderLate(id, name)
        }
        let error = await withCheckedContinuation { output.whenReady($0) }
        timer.cancel()
        if let error { throw error }
    }

    /// A recorder did not begin in time.
    private func recorderLate(_ id: UInt32, _ name: String) {
        let late = CaptureError(.recorderLost, "the recorder of '\(name)' did not begin its file in time")
        guard let output = sessions[id]?.outputs[name], output.refuse(late) else { return }
        output.kill()
    }

    func stream(_ session: Session) async throws(CaptureError) {
        // Sound first: a movie begins with its first picture, by which time the sound shall be there.
        let inputs = session.inputs.values.sorted { left, right in
            left.shared.source.format.mediaType == .audio && right.shared.source.format.mediaType == .video
        }
        for input in inputs { try await pool.stream(input.shared) }
    }
}
