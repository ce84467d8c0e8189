import Authorization
import CaptureCore

/// A change of a session: a whole new description, applied at once or not at all. Bound to the engine's actor.
struct SessionChange {
    private let session: Session
    /// For each new output that writes one, the file that the client opened.
    private let files: [String: any OpenFile]
    private let client: SessionClient

    init(of session: Session, files: [String: any OpenFile], by client: SessionClient) {
        self.session = session
        self.files = files
        self.client = session.acting(client)
    }

    /// Gives the session a new description. Only while no other change of it is under way.
    func apply(_ description: SessionDescription, on engine: isolated CaptureEngine) async throws(CaptureError) {
        let state = session.state
        let kept = session.state == .configured ? Set(session.files.keys) : Set(session.outputs.keys)
        let described = Set(description.outputs.filter(\.takesFile).map(\.name))
        let replaced = replaced(by: description)
        let description =
            state == .configured
            ? description : description.withGains(of: session.description, except: Set(replaced.keys))
        let finished = session.outputs.filter { $0.value.isDone && replaced[$0.key] == nil }
        try description.validate(
            files: kept.intersection(described).union(files.keys),
            finished: Set(finished.keys)
        )
        try engine.desk.checkSaving(description)
        for input in description.inputs { _ = try await engine.pool.resolve(input) }
        // Meanwhile the session may have been started, ended or interrupted.
        try session.checkChangeable()
        guard session.state == state else {
            throw CaptureError(.wrongState, "session \(session.id) was started meanwhile; try the change again")
        }
        let staying = session.state == .configured ? described.subtracting(files.keys) : Set(session.written.keys)
        let goingOn = session.written.filter { staying.contains($0.key) }
        try engine.sessions.refuseShared(files, beside: goingOn, of: session.id, for: client)
        if session.state == .configured {
            session.description = description
            session.files = session.files.filter { described.contains($0.key) }.merging(files) { $1 }
            engine.observer.sessionChanged(session.snapshot)
            return
        }
        try checkStays(in: description)
        // Held from here on, so that no other session is given one of them meanwhile.
        for (name, file) in files { session.files[name] = file }
        do throws(CaptureError) {
            try await carryOut(description, replacing: replaced, on: engine)
        } catch {
            for name in files.keys { session.files[name] = nil }
            for (name, output) in replaced where session.outputs[name] == nil { session.outputs[name] = output }
            await giveBackIdleGrants(on: engine)
            throw error
        }
    }

    /// What keeps its name must stay as it is: a change of it would interrupt what it feeds. The format of what feeds no file
    /// may change.
    private func checkStays(in new: SessionDescription) throws(CaptureError) {
        let old = session.description
        for input in new.inputs {
            if let before = old.inputs.first(where: { $0.name == input.name }), before != input {
                if InputRestart.isAsked(before, input) {
                    try InputRestart.check(input, of: session)
                    continue
                }
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
                || old.inputs(of: output.name).map(\.name) != new.inputs(of: output.name).map(\.name)
            {
                throw CaptureError(
                    .invalidArgument,
                    "output '\(output.name)' is running; give a changed output another name"
                )
            }
        }
    }

    private func carryOut(
        _ description: SessionDescription,
        replacing replaced: [String: LiveOutput],
        on engine: isolated CaptureEngine
    ) async throws(CaptureError) {
        let needed = session.needed(of: description, replacing: Set(replaced.keys))
        let missing = Set(needed.map { Service($0.mediaType) }).subtracting(session.grants.keys)
        if !missing.isEmpty {
            for service in missing where session.client.taking == nil {
                let status = try await engine.gate.status(service, for: session.client.identity)
                // What policy forbids is refused below, with the file that says so.
                if status == .authorized || status == .restricted { continue }
                throw CaptureError(
                    .notPermitted,
                    "there is no consent for the \(service.rawValue) yet; request access, then change"
                )
            }
            try await engine.adopt(try await engine.grants(missing, for: session.client, mayAsk: false), in: session)
        }
        let known = Set(session.outputs.keys).subtracting(replaced.keys)
        let fresh = description.outputs.filter { !known.contains($0.name) }
        try await engine.desk.authorizeSaving(fresh, of: session, for: client, mayAsk: false)
        let inputs = try await engine.open(
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
            for input in added.values { try await engine.pool.stream(input.shared) }
            var restart = InputRestart(of: session, beside: added.values.map(\.shared))
            try await restart.apply(description, on: engine)
        } catch {
            let begun = session.outputs.filter { !known.contains($0.key) }
            await engine.desk.discard(Array(begun.values))
            for name in begun.keys { session.outputs[name] = nil }
            await engine.release(Array(added.values), of: session)
            await engine.uses.end(Array(added.keys), of: session, as: .failed, error)
            throw error
        }
        // A gain that was set meanwhile counts.
        let now = description.withGains(of: session.description, except: Set(replaced.keys))
        await commit(now, added.merging(session.inputs) { $1 }, on: engine)
    }

    private func commit(
        _ description: SessionDescription,
        _ inputs: [String: LiveInput],
        on engine: isolated CaptureEngine
    ) async {
        session.inputs = inputs
        session.description = description
        session.before = session.before.filter { before in description.inputs.contains { $0.name == before.key } }
        engine.observer.sessionChanged(session.snapshot)
        let kept = inputs.filter { input in description.inputs.contains { $0.name == input.key } }.values.map(\.shared)
        // A photo that is being taken goes with its camera.
        let goneOutputs = session.outputs.filter { name, output in
            session.isShot(name)
                ? !kept.contains { output.reads($0) } : !description.outputs.contains { $0.name == name }
        }
        await engine.desk.finish(Array(goneOutputs.values), forChangeOf: session, on: engine)
        // The end or interruption that came meanwhile finishes and closes the rest.
        if session.isEnding { return }
        for name in goneOutputs.keys { session.outputs[name] = nil }
        for (name, input) in inputs where !description.inputs.contains(where: { $0.name == name }) {
            session.inputs[name] = nil
            let id = input.shared.device.id
            if !session.inputs.values.contains(where: { $0.shared.device.id == id }) {
                await engine.pool.release(id, for: session.id)
                // The history tells of the end of this use, so its program sees nothing more of it.
                await engine.shown.leave(id, by: session, on: engine)
            }
            await engine.uses.end([name], of: session, as: .stopped, nil)
        }
        await giveBackIdleGrants(on: engine)
    }

    /// Gives back the grants of what a session captures no longer, or does not yet: what was allowed for one session, or
    /// while it is used, does not outlive that.
    private func giveBackIdleGrants(on engine: isolated CaptureEngine) async {
        let needed = Set(session.description.inputs.map { Service($0.mediaType) })
        let idle = session.grants.filter { !needed.contains($0.key) }
        if idle.isEmpty { return }
        session.grants = session.grants.filter { needed.contains($0.key) }
        await engine.gate.sessionEnded(Array(idle.values), needed: engine.sessions.servicesInUse)
    }

    /// The finished outputs that new ones of the same names replace: a file came for them, or they are to be saved in
    /// another way.
    private func replaced(by new: SessionDescription) -> [String: LiveOutput] {
        session.outputs.filter { name, output in
            guard output.isDone, var now = new.outputs.first(where: { $0.name == name }) else { return false }
            // It may have been changed while the output ran.
            now.settings.gain = output.description.settings.gain
            return files[name] != nil || (now.library != nil && now != output.description)
        }
    }
}

extension Session {
    /// Refuses changes, unless it may be changed now.
    func checkChangeable() throws(CaptureError) {
        if isInterrupted {
            let why = reason.map { " (\($0.message))" } ?? ""
            throw CaptureError(
                .wrongState,
                "session \(id) is interrupted\(why); it can be changed when it runs again, or be stopped"
            )
        }
        guard state == .configured || state == .running, !isEnding else {
            throw CaptureError(.wrongState, "session \(id) is \(doing) and cannot be changed now")
        }
    }
}
