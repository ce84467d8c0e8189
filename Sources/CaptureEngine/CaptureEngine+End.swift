public import Authorization
public import CaptureCore

/// How sessions end: as asked, with their client, with their device, with their consent, with the daemon.
extension CaptureEngine {
    /// Stops a session: its files are finished, then its devices are closed if nobody else uses them.
    ///
    /// Returns at once; the end is the change of state to `stopped`. A session that is ending or over is left to it.
    ///
    /// - Throws: `.noSuchSession`.
    public func stop(_ id: UInt32, client: SessionClient) throws(CaptureError) {
        let session = try sessions.find(id, for: client)
        guard !session.state.isFinal, session.ending == nil else { return }
        Task { await end(session, as: .stopped, nil) }
    }

    /// A client left the bus: its attached sessions end, and so do those that have not begun to run.
    ///
    /// Returns when none of them waits for a person any more, so that a question which the client's own agent leaves
    /// behind is seen to have lost its asker, not its agent. Files are finished after that.
    public func clientGone(_ connection: String) async {
        var waiting: [Task<Void, Never>] = []
        forgetLevels(for: connection)
        for session in sessions.values { session.changes.refuse(of: connection, ChangeQueue.clientGone) }
        for session in sessions.values where session.client.connection == connection {
            if let ending = leave(session) { waiting.append(ending) }
        }
        for ending in waiting { await ending.value }
    }

    /// A process has ended that captured through a bridge: its sessions end, although the bridge's connection is there.
    public func processGone(_ client: ClientIdentity, on connection: String) async {
        for session in sessions.values
        where session.client.connection == connection && session.client.identity == client {
            _ = leave(session)
        }
    }

    /// Ends a session whose client left, if it is one that ends with it.
    ///
    /// - Returns: The end of one that has not begun to run.
    private func leave(_ session: Session) -> Task<Void, Never>? {
        let gone = CaptureError(.unreachable, "its program left before it ran")
        switch session.state {
        case .configured, .authorizing:
            return beginEnd(session, as: .failed, gone)
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
        default:
            session.isAbandoned = true
            finishIfDone(session)
        }
        return nil
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
            state == .stopped && reason == nil ? session.inputs.values.lazy.compactMap(\.deviceFailure).first : nil
        let ending = Task { await self.close(session, as: loss == nil ? state : .interrupted, reason ?? loss) }
        session.end(in: ending)
        refuseChanges(of: session, "ended", reason ?? loss)
        return ending
    }

    private func close(_ session: Session, as state: SessionState, _ reason: CaptureError?) async {
        await session.suspending?.value
        let (final, recorded) = await cease(session, as: UseOutcome(state, reason), reason)
        let given = session.letGo(final)
        await gate.sessionEnded(given, needed: sessions.servicesInUse)
        if state == .stopped, reason == nil, let fault = session.firstFault {
            // It was asked to stop, yet a file of it is not what it should be.
            session.close(as: .failed, fault)
        } else {
            session.close(as: state, reason)
        }
        announce(session)
        sessions.ended(session) { observer.sessionRemoved($0) }
        // Nobody waits for the history's disk but who ends the daemon.
        await recorded.value
    }

    /// Stops everything that a session captures: when this returns nothing of it is delivered, its devices are closed
    /// unless others use them, and its files are finished.
    ///
    /// - Parameter goesOn: Whether its buffers go on later, in other rings.
    /// - Returns: The counters as they stood then, and the writing of the uses' end. Whoever reads the history from now on
    ///   finds it there.
    func cease(_ session: Session, as outcome: UseOutcome, _ reason: CaptureError?, goesOn: Bool = false) async
        -> (final: SessionStatistics, recorded: Task<Void, Never>)
    {
        session.starting?.cancel()
        if reason?.isWithdrawal == true, session.changes.isUnderWay || session.starting != nil {
            // What a change or a start waits for, a slow disk perhaps, is not waited for: what runs stops now.
            for output in session.outputs.values { output.stop() }
            await shown.leave(of: session, atOnce: true, on: self)
        }
        for output in session.outputs.values where !output.isReady {
            let name = output.description.name
            let what =
                session.starting == nil
                ? "the session \(goesOn ? "was interrupted" : "ended") before '\(name)' was added"
                : "stopped before it ran"
            output.refuse(CaptureError(.wrongState, what))
        }
        await pool.giveUp(session.id)
        await session.starting?.value
        // A change under way notices that the session ends and undoes what it began. It no longer waits for files.
        for output in session.outputs.values { output.stopWaiting() }
        await withCheckedContinuation { session.changes.whenIdle($0) }
        await pool.forget(session.id)
        // Devices first, so that nothing is delivered while a slow disk is waited for: what was published until now stays in
        // the rings for the recorders.
        let outputs = Array(session.outputs.values)
        for output in outputs { output.stop() }
        if goesOn { await shown.leave(of: session, atOnce: true, shared: true, on: self) }
        // A camera's metadata ends before the camera does.
        for input in session.inputs.values.sorted(by: { $0.isMetadata && !$1.isMetadata }) {
            let end: StreamEnd = goesOn ? .moved : reason?.isWithdrawal == true ? .revoked : .stopped
            await pool.release(input.shared.device.id, for: session.id, end)
        }
        var final = session.statistics
        await shown.leave(of: session, atOnce: reason?.isWithdrawal == true, on: self)
        session.delivery.end()
        // At once, so that nothing comes to the history before it.
        let recorded = Task.immediate { await uses.end(of: session, as: outcome, reason) }
        await desk.finish(outputs, on: self)
        final.outputs = session.statistics.outputs
        return (final, recorded)
    }

    /// Ends a session whose last file is done, or has all that goes into it: nothing would come of its devices any more.
    /// Buffers whose client has left are of no use to anybody.
    func finishIfDone(_ session: Session) {
        guard session.state == .running, !session.isEnding, !session.changes.isUnderWay,
            !session.outputs.isEmpty,
            session.outputs.values.allSatisfy({ output in
                output.needsNothing || (session.isAbandoned && output.description.kind == .buffer)
            }),
            // A recorder sees the end of a ring before the engine hears of the device's, and may be done first.
            !session.inputs.values.contains(where: { $0.shared.ring.end == .deviceLost })
        else { return }
        Task { await end(session, as: .stopped, nil) }
    }
}

extension CaptureEngine {
    /// Gives grants back that were used beside sessions, for a device's settings.
    public func giveBack(_ grants: [Grant]) async {
        await gate.sessionEnded(grants, needed: sessions.servicesInUse)
    }
}

extension Grant {
    /// That it was withdrawn, and why.
    public var withdrawal: CaptureError {
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

/// Stops sessions when their consent is withdrawn.
extension CaptureEngine: GrantEnforcer {
    /// Ends the sessions whose consent was withdrawn, and interrupts those that may go on later. When it returns,
    /// nothing of them is delivered any more.
    ///
    /// - Returns: Tasks that finish the sessions' files, and checks of sessions that were interrupted before and may
    ///   have to end now.
    public func enforceWithdrawals() async -> [Task<Void, Never>] {
        var rest: [Task<Void, Never>] = []
        var stopping: [Session] = []
        // Tell every session to stop before waiting for any.
        for session in sessions.values where !session.state.isFinal {
            if let stop = beginStop(session) {
                rest.append(stop)
                stopping.append(session)
            }
            if session.isInterrupted {
                let id = session.id
                rest.append(Task { await self.endIfForbidden(id) })
            }
        }
        // Before any of them is waited for: its driver may not answer.
        await shown.leaveLate(on: self)
        for session in stopping { await withCheckedContinuation { session.delivery.whenOver($0) } }
        return rest
    }

    /// Starts the end or interruption of a session; `nil` if it captures nothing or all its grants still hold.
    private func beginStop(_ session: Session) -> Task<Void, Never>? {
        let dead = session.grants.values.filter { !$0.isLive }
        guard let grant = dead.first(where: { $0.withdrawnBy == .withdrawn }) ?? dead.first else { return nil }
        if grant.withdrawnBy == .withdrawn { return beginEnd(session, as: .failed, grant.withdrawal) }
        // The program lost no consent: it may go on, or start again, when the interruption is over.
        guard session.canGoOn else { return beginEnd(session, as: .interrupted, grant.withdrawal) }
        // It is interrupted already and has not started anything again.
        if session.state == .suspended, session.starting == nil, !session.isEnding { return nil }
        return beginInterruption(session, grant.withdrawal)
    }
}
