import Authorization
import CaptureCore

/// Sessions whose service is switched off or whose user is away: their buffers go on when that is over.
extension CaptureEngine {
    /// Looks which interrupted sessions may go on, after a service was switched on or a user came back, and lets them.
    ///
    /// Returns at once; that one goes on is its change of state to `running`. Nobody is asked: one whose consent is not
    /// there any more ends.
    public func resume() {
        for session in sessions.values where session.isInterrupted {
            beginResumption(session)
        }
    }

    /// Ends an interrupted session whose consent was withdrawn meanwhile: it has no live grant that could tell.
    func endIfForbidden(_ id: UInt32) async {
        guard let session = sessions[id] else { return }
        await session.suspending?.value
        guard session.state == .suspended, !session.isEnding else { return }
        do throws(CaptureError) {
            try await gate.checkConsent(to: session.neededServices, for: session.client.identity)
        } catch {
            await end(session, as: .failed, error)
        }
    }

    /// Starts the interruption of a session. Later callers get the same task.
    func beginInterruption(_ session: Session, _ reason: CaptureError) -> Task<Void, Never> {
        if let task = session.ending ?? session.suspending { return task }
        let task = Task { await self.suspend(session, reason) }
        session.interrupt(in: task)
        refuseChanges(of: session, "was interrupted", reason)
        return task
    }

    private func suspend(_ session: Session, _ withdrawal: CaptureError) async {
        let (counters, recorded) = await cease(session, as: .interrupted, withdrawal, goesOn: true)
        await recorded.value
        session.before = counters.inputs
        session.inputs = [:]
        // What keeps a device or a ring alive goes; the counters of finished files stay.
        for output in session.outputs.values { output.leaveFeeds() }
        for output in session.buffers {
            session.outputs[output.name] = LiveOutput(output, recorder: nil, feeds: [])
        }
        // All grants are given back, since nothing is captured; which they were tells what is still needed.
        let services = session.neededServices
        let given = Array(session.grants.values)
        session.grants = session.grants.filter { services.contains($0.key) }
        await gate.sessionEnded(given, needed: sessions.servicesInUse)
        session.looksAgain = false
        let reason = await gate.interruption(of: services, for: session.client.identity)
        let looksAgain = session.looksAgain
        session.endInterruption()
        // Whoever ends it waits for this.
        if session.isEnding { return }
        rest(session, reason ?? withdrawal)
        if reason == nil || looksAgain { beginResumption(session) }
    }

    private func rest(_ session: Session, _ reason: CaptureError) {
        if session.state == .suspended, session.reason == reason { return }
        session.suspend(reason)
        announce(session)
    }

    private func beginResumption(_ session: Session) {
        session.resume { Task { await self.goOn(session) } }
    }

    private func goOn(_ session: Session) async {
        do throws(CaptureError) {
            repeat {
                session.looksAgain = false
                guard let reason = await gate.interruption(of: session.neededServices, for: session.client.identity)
                else { return try await reopen(session) }
                if !session.isEnding { rest(session, reason) }
            } while session.looksAgain && !session.isEnding
            session.endResumption()
        } catch {
            session.endResumption()
            // Who ends or interrupts the session waits for this task and clears up what it opened.
            if session.isEnding { return }
            switch error.code {
            case .switchedOff, .userAway: _ = beginInterruption(session, error)
            case .deviceLost, .noSuchDevice:
                await end(session, as: .interrupted, CaptureError(.deviceLost, error.message, errno: error.errno))
            default: await end(session, as: .failed, error)
            }
        }
    }

    /// Lets an interrupted session run again, as a start does, but that nobody is asked.
    private func reopen(_ session: Session) async throws(CaptureError) {
        session.delivery.begin()
        try await uses.check()
        try await adopt(try await grants(session.neededServices, for: session.client, mayAsk: false), in: session)
        do throws(CaptureError) {
            try await openAgain(session)
        } catch {
            // A device that is refused for a dead grant does not say what ended it.
            throw session.withdrawal ?? error
        }
        session.run()
        announce(session)
        for output in session.buffers where output.kind == .buffer && !session.isDisabled(output.name) {
            observer.bufferMoved(session.snapshot, output: output.name)
        }
        finishIfDone(session)
    }

    private func openAgain(_ session: Session) async throws(CaptureError) {
        try session.proceed()
        // The very devices that it had, also where it took the first of its kind.
        let inputs = session.needed(of: session.description).map { input in
            var same = input
            same.device = session.before[input.name]?.device ?? input.device
            return same
        }
        session.inputs = try await open(inputs, outputs: session.buffers, of: session.description, in: session)
        try session.proceed()
        try await stream(session)
        try session.proceed()
    }
}

extension Session {
    /// Whether it can be interrupted and go on: it runs, or is interrupted, and has a buffer that its client may read, or takes
    /// photos on demand. Files are finished instead, and what a person takes by a question is over.
    var canGoOn: Bool {
        state == .suspended || state == .running && !buffers.isEmpty && !isAbandoned && client.taking == nil
    }

    /// The outputs that no recorder writes.
    fileprivate var buffers: [OutputDescription] { description.outputs.filter { !$0.kind.hasRecorder } }

    /// The inputs that a description still needs. An input is not opened again if all its outputs have finished.
    ///
    /// - Parameter replaced: Finished outputs that new ones of the same names replace.
    func needed(of description: SessionDescription, replacing replaced: Set<String> = []) -> [InputDescription] {
        let needed = description.inputs.filter { input in
            let fed = description.connections.filter { $0.input == input.name }.map(\.output)
            return fed.isEmpty || fed.contains { outputs[$0]?.isDone != true || replaced.contains($0) }
        }
        // A camera stays as long as its metadata is needed.
        return description.inputs.filter { input in
            needed.contains(input)
                || input.mediaType.isFrames
                    && needed.contains { $0.mediaType == .metadata && $0.device == input.device }
        }
    }

    /// What it needs consent for to go on.
    fileprivate var neededServices: Set<Service> { Set(needed(of: description).map { Service($0.mediaType) }) }
}
