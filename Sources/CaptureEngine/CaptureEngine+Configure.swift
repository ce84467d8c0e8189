import Authorization
public import CaptureCore

/// Changes to a session: a whole new description, applied at once or not at all.
extension CaptureEngine {
    /// Gives a session a new description.
    ///
    /// An input or output that keeps its name stays as it is and must be described as before. An output that has
    /// finished is the exception: its description is ignored, or a new output of that name replaces it.
    ///
    /// First the engine opens and starts what is new. When all of it runs, it finishes and closes what is no longer
    /// described. A fault before that leaves the session as it was. The changes of one session run one after the other,
    /// in the order of the calls.
    ///
    /// - Parameters:
    ///   - files: For each new output that writes one, the file that the client opened.
    /// - Throws: `.notPermitted` if it would capture a kind of media without a stored consent (a change never asks:
    ///   request access first); `.wrongState` if the session is over, is starting, or ends before this change's turn.
    public func configure(
        _ id: UInt32,
        _ description: SessionDescription,
        files: [String: any OpenFile],
        client: SessionClient
    ) async throws(CaptureError) {
        try await configure(id, files: files, client: client) { _ in description }
    }

    /// Changes a session's description. The new one is made when the change's turn comes, from the description of that
    /// time.
    private func configure(
        _ id: UInt32,
        files: [String: any OpenFile],
        client: SessionClient,
        _ describe: (SessionDescription) throws(CaptureError) -> SessionDescription
    ) async throws(CaptureError) {
        let session = try changeable(id, by: client)
        // If the session cannot be changed, fail at once.
        try checkChangeable(session)
        try await inTurn(session, for: client) { () throws(CaptureError) in
            try checkChangeable(session)
            try await configure(session, try describe(session.description), files: files, client: client)
        }
    }

    /// Refuses clients that may not change a session, before anything else of the call is looked at.
    ///
    /// - Throws: `.noSuchSession` for another user's session, `.notPermitted` for another program's.
    public func checkMayChange(_ id: UInt32, client: SessionClient) throws(CaptureError) {
        _ = try changeable(id, by: client)
    }

    private func changeable(_ id: UInt32, by client: SessionClient) throws(CaptureError) -> Session {
        let session = try sessions.find(id, for: client)
        guard session.client.identity.hasSameConsent(as: client.identity) else {
            throw CaptureError(.notPermitted, "only the program that made session \(id) may change it")
        }
        return session
    }

    private func checkChangeable(_ session: Session) throws(CaptureError) {
        let id = session.id
        if session.isInterrupted {
            let why = session.reason.map { " (\($0.message))" } ?? ""
            throw CaptureError(
                .wrongState,
                "session \(id) is interrupted\(why); it can be changed when it runs again, or be stopped"
            )
        }
        guard session.state == .configured || session.state == .running, !session.isEnding else {
            throw CaptureError(.wrongState, "session \(id) is \(session.doing) and cannot be changed now")
        }
    }

    private func configure(
        _ session: Session,
        _ description: SessionDescription,
        files: [String: any OpenFile],
        client: SessionClient
    ) async throws(CaptureError) {
        let state = session.state
        let kept = session.state == .configured ? Set(session.files.keys) : Set(session.outputs.keys)
        let described = Set(description.outputs.filter(\.takesFile).map(\.name))
        let replaced = session.replaced(by: description, files)
        let finished = session.outputs.filter { $0.value.isDone && replaced[$0.key] == nil }
        try description.validate(
            files: kept.intersection(described).union(files.keys),
            finished: Set(finished.keys)
        )
        try desk.checkSaving(description)
        for input in description.inputs { _ = try await pool.resolve(input) }
        // Meanwhile the session may have been started, ended or interrupted.
        try checkChangeable(session)
        guard session.state == state else {
            throw CaptureError(.wrongState, "session \(session.id) was started meanwhile; try the change again")
        }
        let staying = session.state == .configured ? described.subtracting(files.keys) : Set(session.written.keys)
        let goingOn = session.written.filter { staying.contains($0.key) }
        try sessions.refuseShared(files, beside: goingOn, of: session.id, for: client)
        if session.state == .configured {
            session.description = description
            session.files = session.files.filter { described.contains($0.key) }.merging(files) { $1 }
            observer.sessionChanged(session.snapshot)
            return
        }
        try stays(session, in: description, files)
        // Held from here on, so that no other session is given one of them meanwhile.
        for (name, file) in files { session.files[name] = file }
        do throws(CaptureError) {
            try await apply(description, replacing: replaced, to: session, for: client)
        } catch {
            for name in files.keys { session.files[name] = nil }
            for (name, output) in replaced where session.outputs[name] == nil { session.outputs[name] = output }
            await giveBackIdleGrants(of: session)
            throw error
        }
    }

    /// Adds one output to a session, fed by inputs that it has: a photo of a running recording, say. The oldest finished
    /// outputs give way if there are too many.
    public func addOutput(
        _ id: UInt32,
        _ output: OutputDescription,
        inputs: [String],
        file: (any OpenFile)?,
        client: SessionClient
    ) async throws(CaptureError) {
        let files = file.map { [output.name: $0] } ?? [:]
        try await configure(id, files: files, client: client) { present throws(CaptureError) in
            guard !present.outputs.contains(where: { $0.name == output.name }) else {
                throw CaptureError(.invalidArgument, "session \(id) already has an output '\(output.name)'")
            }
            var description = present
            // Finished ones stay for their counters while there is room.
            while description.outputs.count >= SessionDescription.mostParts {
                let done = description.outputs.first { sessions[id]?.outputs[$0.name]?.isDone == true }
                guard let name = done?.name else {
                    throw CaptureError(
                        .busy,
                        "session \(id) already has \(SessionDescription.mostParts) outputs; remove one"
                    )
                }
                description.outputs.removeAll { $0.name == name }
                description.connections.removeAll { $0.output == name }
            }
            description.outputs.append(output)
            description.connections += inputs.map { ConnectionDescription(input: $0, output: output.name) }
            return description
        }
    }

    /// What keeps its name must stay as it is: a change of it would interrupt what it feeds.
    private func stays(
        _ session: Session,
        in new: SessionDescription,
        _ files: [String: any OpenFile]
    ) throws(CaptureError) {
        let old = session.description
        for input in new.inputs {
            if let before = old.inputs.first(where: { $0.name == input.name }), before != input {
                throw CaptureError(
                    .invalidArgument,
                    "input '\(input.name)' is running; give a changed input another name"
                )
            }
        }
        for output in new.outputs {
            guard let before = old.outputs.first(where: { $0.name == output.name }),
                session.outputs[output.name]?.isDone != true
            else { continue }
            if before != output || files[output.name] != nil
                || old.inputs(of: output.name) != new.inputs(of: output.name)
            {
                throw CaptureError(
                    .invalidArgument,
                    "output '\(output.name)' is running; give a changed output another name"
                )
            }
        }
    }

    private func apply(
        _ description: SessionDescription,
        replacing replaced: [String: LiveOutput],
        to session: Session,
        for client: SessionClient
    ) async throws(CaptureError) {
        let needed = session.needed(of: description, replacing: Set(replaced.keys))
        let missing = Set(needed.map { Service($0.mediaType) }).subtracting(session.grants.keys)
        if !missing.isEmpty {
            for service in missing {
                let status = try await gate.status(service, for: session.client.identity)
                // What policy forbids is refused below, with the file that says so.
                if status == .authorized || status == .restricted { continue }
                throw CaptureError(
                    .notPermitted,
                    "there is no consent for the \(service.rawValue) yet; request access, then change"
                )
            }
            let grants = try await gate.requestAccess(
                missing,
                for: session.client.identity,
                session: session.client.connection,
                mayAsk: false,
                again: session.client.identifyAgain
            )
            try await session.adopt(grants)
        }
        let known = Set(session.outputs.keys).subtracting(replaced.keys)
        let fresh = description.outputs.filter { !known.contains($0.name) }
        try await desk.authorizeSaving(fresh, of: session, for: client, mayAsk: false)
        let inputs = try await open(
            needed,
            outputs: fresh,
            of: description,
            in: session,
            for: client
        )
        let added = inputs.filter { session.inputs[$0.key] == nil }
        do throws(CaptureError) {
            if session.isEnding {
                throw CaptureError(.wrongState, "session \(session.id) ended or was interrupted meanwhile")
            }
            for input in added.values { try await pool.stream(input.shared) }
        } catch {
            let begun = session.outputs.filter { !known.contains($0.key) }
            await desk.discard(Array(begun.values))
            for name in begun.keys { session.outputs[name] = nil }
            for input in added.values { await pool.release(input.shared.device.id, for: session.id) }
            await uses.end(Array(added.keys), of: session, as: .failed, error)
            throw error
        }
        await commit(description, inputs, in: session)
    }

    private func commit(_ description: SessionDescription, _ inputs: [String: LiveInput], in session: Session) async {
        session.inputs = inputs
        session.description = description
        session.before = session.before.filter { before in description.inputs.contains { $0.name == before.key } }
        observer.sessionChanged(session.snapshot)
        let goneOutputs = session.outputs.filter { output in !description.outputs.contains { $0.name == output.key } }
        await desk.finish(Array(goneOutputs.values), forChangeOf: session, on: self)
        // The end or interruption that came meanwhile finishes and closes the rest.
        if session.isEnding { return }
        for name in goneOutputs.keys { session.outputs[name] = nil }
        for (name, input) in inputs where !description.inputs.contains(where: { $0.name == name }) {
            session.inputs[name] = nil
            let id = input.shared.device.id
            if !session.inputs.values.contains(where: { $0.shared.device.id == id }) {
                await pool.release(id, for: session.id)
                // The history tells of the end of this use, so its program sees nothing more of it.
                await shown.leave(id, by: session, on: self)
            }
            await uses.end([name], of: session, as: .stopped, nil)
        }
        await giveBackIdleGrants(of: session)
    }

    /// Gives back the grants of what a session captures no longer, or does not yet: what was allowed for one session, or
    /// while it is used, does not outlive that.
    private func giveBackIdleGrants(of session: Session) async {
        let needed = Set(session.description.inputs.map { Service($0.mediaType) })
        let idle = session.grants.filter { !needed.contains($0.key) }
        if idle.isEmpty { return }
        session.grants = session.grants.filter { needed.contains($0.key) }
        await gate.sessionEnded(Array(idle.values), needed: sessions.servicesInUse)
    }
}

extension Session {
    /// The finished outputs that new ones of the same names replace: a file came for them, or they are to be saved in
    /// another way.
    fileprivate func replaced(by new: SessionDescription, _ files: [String: any OpenFile]) -> [String: LiveOutput] {
        outputs.filter { name, output in
            guard output.isDone, let now = new.outputs.first(where: { $0.name == name }) else { return false }
            return files[name] != nil || (now.library != nil && now != output.description)
        }
    }
}

extension ClientIdentity {
    /// Whether another process is the same program of the same user, by all that is known of both but their numbers: it
    /// has the same consent.
    fileprivate func hasSameConsent(as other: ClientIdentity) -> Bool {
        program == other.program && tier == other.tier && user == other.user && executable == other.executable
    }
}
