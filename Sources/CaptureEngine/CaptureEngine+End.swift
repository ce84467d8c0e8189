import Authorization
public import CaptureCore

/// How sessions end: as asked, with their client, with their device, with their consent, with the daemon.
extension CaptureEngine {
    /// Stops a session: its files are finished, then its devices are closed if nobody else uses them.
    ///
    /// Returns at once; the end is the change of state to `stopped`. A session that is ending or over is left to it.
    ///
    /// - Throws: `.noSuchSession`.
    public func stop(_ id: UInt32, client: SessionClient) throws(CaptureError) {
        let session = try session(id, for: client)
        guard !session.state.isFinal, session.ending == nil else { return }
        Task { await end(session, as: .stopped, nil) }
    }

    /// A client left the bus: its attached sessions end, and so do those that have not begun to run.
    ///
    /// Returns when none of them waits for a person any more, so that a question which the client's own agent leaves
    /// behind is seen to have lost its asker, not its agent. Files are finished after that.
    public func clientGone(_ connection: String) async {
        var waiting: [Task<Void, Never>] = []
        for session in sessions.values { session.changes.refuse(of: connection, ChangeQueue.clientGone) }
        for session in sessions.values where session.client.connection == connection {
            let gone = CaptureError(.unreachable, "its program left before it ran")
            switch session.state {
            case .configured, .authorizing:
                if let ending = beginEnd(session, as: .failed, gone) { waiting.append(ending) }
            case .starting: _ = beginEnd(session, as: .failed, gone)
            case .running where session.description.isAttached, .suspended where session.description.isAttached:
                _ = beginEnd(session, as: .stopped, nil)
            // Buffers go on for the connection that has them alone.
            case .running where session.suspending != nil, .suspended:
                _ = beginEnd(
                    session,
                    as: .failed,
                    CaptureError(.unreachable, "its program left while it was interrupted")
                )
            default: session.isAbandoned = true
            }
        }
        for ending in waiting { await ending.value }
    }

    /// Finishes every file, for a daemon that is told to end.
    public func shutDown() async {
        isShuttingDown = true
        await withTaskGroup { group in
            for id in sessions.values.filter({ !$0.state.isFinal }).map(\.id) {
                group.addTask { await self.shutDown(id) }
            }
        }
    }

    private func shutDown(_ id: UInt32) async {
        guard let session = sessions[id] else { return }
        await end(session, as: .stopped, CaptureError(.unreachable, "captured was stopped"))
    }

    /// A device stopped by itself: the sessions that use it are interrupted, those that are only starting too, and their
    /// files finished.
    func deviceEnded(_ users: Set<UInt32>, _ error: CaptureError) async {
        // All at once: a file that is finished while another session's is waited for would look like one that was to end.
        let endings = users.compactMap { sessions[$0] }.compactMap { beginEnd($0, as: .interrupted, error) }
        for ending in endings { await ending.value }
    }

    /// Ends a session once, whatever it is doing; later callers wait for the same end.
    func end(_ session: Session, as state: SessionState, _ reason: CaptureError?) async {
        await beginEnd(session, as: state, reason)?.value
    }

    /// The end of a session, from now on under way; `nil` when it is over.
    func beginEnd(_ session: Session, as state: SessionState, _ reason: CaptureError?) -> Task<Void, Never>? {
        if let ending = session.ending { return ending }
        guard !session.state.isFinal else { return nil }
        // Its files end with a device, and who sees that may stop the session before the loss is heard of here.
        let loss =
            state == .stopped && reason == nil ? session.inputs.values.lazy.compactMap(\.shared.failure).first : nil
        let ending = Task { await self.close(session, as: loss == nil ? state : .interrupted, reason ?? loss) }
        session.end(in: ending)
        refuseChanges(of: session, "ended", reason ?? loss)
        return ending
    }

    private func close(_ session: Session, as state: SessionState, _ reason: CaptureError?) async {
        await session.suspending?.value
        let final = await cease(session, as: UseOutcome(state, reason), reason)
        let given = session.letGo(final)
        await gate.sessionEnded(given, needed: servicesInUse)
        if state == .stopped, reason == nil, let fault = session.firstFault {
            // It was asked to stop, yet a file of it is not what it should be.
            session.close(as: .failed, fault)
        } else {
            session.close(as: state, reason)
        }
        announce(session)
        forgetOldest()
    }

    /// Stops everything that a session captures: when this returns nothing of it is delivered, its devices are closed
    /// unless others use them, and its files are finished.
    ///
    /// - Parameter goesOn: Whether its buffers go on later, in other rings.
    /// - Returns: The counters as they stood then.
    func cease(_ session: Session, as outcome: UseOutcome, _ reason: CaptureError?, goesOn: Bool = false) async
        -> SessionStatistics
    {
        session.starting?.cancel()
        if reason?.isWithdrawal == true, session.changes.isUnderWay || session.starting != nil {
            // What a change or a start waits for, a slow disk perhaps, is not waited for: what runs stops now.
            for output in session.outputs.values { output.stop() }
            await leaveRings(of: session, atOnce: true)
        }
        for output in session.outputs.values where !output.isReady {
            let name = output.description.name
            let what =
                session.starting == nil
                ? "the session \(goesOn ? "was interrupted" : "ended") before '\(name)' was added"
                : "stopped before it ran"
            output.refuse(CaptureError(.wrongState, what))
        }
        await session.starting?.value
        // A change under way notices that the session ends and undoes what it began. It no longer waits for files.
        for output in session.outputs.values { output.stopWaiting() }
        await withCheckedContinuation { session.changes.whenIdle($0) }
        // Devices first, so that nothing is delivered while a slow disk is waited for: what was published until now stays in
        // the rings for the recorders.
        let outputs = Array(session.outputs.values)
        for output in outputs { output.stop() }
        if goesOn { await leaveRings(of: session, atOnce: true, shared: true) }
        for input in session.inputs.values {
            await pool.release(input.shared.device.id, for: session.id, goesOn ? .moved : .stopped)
        }
        var final = session.statistics
        await leaveRings(of: session, atOnce: reason?.isWithdrawal == true)
        session.delivery.end()
        await endUses(Array(session.uses.keys), of: session, as: outcome, reason)
        await finish(outputs)
        final.outputs = session.statistics.outputs
        return final
    }

    /// What sessions that are not at their end need consent for, by their clients.
    var servicesInUse: [ClientIdentity: Set<Service>] {
        var used: [ClientIdentity: Set<Service>] = [:]
        for session in sessions.values where !session.state.isFinal && session.ending == nil {
            used[session.client.identity, default: []].formUnion(session.grants.keys)
        }
        return used
    }
}

extension Grant {
    /// That it was withdrawn, and why.
    var withdrawal: CaptureError {
        switch withdrawnBy {
        case .switchedOff: CaptureError(.switchedOff, "\(service.title) was switched off for every program")
        case .userAway: CaptureError(.userAway, withdrawalReason)
        case .withdrawn: Grant.withdrawal(of: service, withdrawalReason)
        }
    }

    static func withdrawal(of service: Service, _ reason: String) -> CaptureError {
        let why = reason.isEmpty ? "" : ": \(reason)"
        return CaptureError(.revoked, "the consent for \(service.title) was withdrawn\(why)")
    }
}

extension CaptureError {
    /// Whether it says that a program may not see what comes from now on.
    var isWithdrawal: Bool { code == .revoked || code == .switchedOff || code == .userAway }
}
