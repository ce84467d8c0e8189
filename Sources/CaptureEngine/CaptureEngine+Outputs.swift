import Authorization
import CaptureCore
import Logging

/// What recorders report, and what that means for their sessions.
extension CaptureEngine {
    func reported(_ report: RecorderReport, by recorder: any RecorderHandle, _ id: UInt32, _ name: String) {
        guard let (session, output) = output(name, of: id, writtenBy: recorder) else { return }
        log.log(level: report.isProgress ? .trace : .debug, "recorder of '\(name)' in session \(id): \(report.words)")
        switch report {
        case .ready(let counters):
            output.statistics = counters
            output.begin()
        case .progress(let counters):
            output.statistics = counters
            output.endIfFull()
        case .finished(let counters):
            output.statistics = counters
            pace.note(
                counters,
                of: output.description,
                from: output.feeds.lazy.compactMap(\.pictures).first,
                for: session.client.identity.user
            )
            ended(output, silence(behind: output, in: session), in: session)
        case .failed(let error, let counters):
            output.statistics = counters
            ended(output, error, in: session)
        }
    }

    /// The recorder's connection ended. Unless it reported an end before, the recorder was lost.
    func recorderGone(_ recorder: any RecorderHandle, _ id: UInt32, _ name: String) {
        guard let (session, output) = output(name, of: id, writtenBy: recorder) else { return }
        log.debug("recorder of '\(name)' in session \(id): gone, \(recorder.end)")
        let why = recorder.end.isEmpty ? "" : ": \(recorder.end)"
        let error = CaptureError(.recorderLost, "the recorder of '\(name)' ended before its file was finished\(why)")
        guard let recording = output.recording else { return finished(output, error, in: session) }
        output.gone(error) { fault in
            Task { await self.save(recording, of: output, fault, in: session) }
            finishIfDone(session)
        }
    }

    /// The output that a recorder still works for: a name may have passed to another output since.
    private func output(_ name: String, of id: UInt32, writtenBy recorder: any RecorderHandle) -> (Session, LiveOutput)?
    {
        guard let session = sessions[id], let output = session.outputs[name], output.recorder === recorder,
            !output.isDone
        else { return nil }
        return (session, output)
    }

    /// An output is at its end, and those whom it concerns are told.
    func finished(_ output: LiveOutput, _ error: CaptureError?, in session: Session) {
        // If the output never began, its waiter gets the error: the start fails, or the change is undone.
        if output.isReady { session.note(error) }
        observer.outputFinished(
            session.snapshot,
            output: output.description.name,
            error: error,
            statistics: output.statistics
        )
        output.finish(error)
        finishIfDone(session)
    }

    /// Ends a session whose last file is done: nothing would come of its devices any more.
    func finishIfDone(_ session: Session) {
        guard session.state == .running, !session.isEnding, !session.changes.isUnderWay,
            !session.outputs.isEmpty,
            session.outputs.values.allSatisfy({ $0.isDone || $0.isSaving }),
            // A recorder sees the end of a ring before the engine hears of the device's, and may be done first.
            !session.inputs.values.contains(where: { $0.shared.ring.end == .deviceLost })
        else { return }
        Task { await end(session, as: .stopped, nil) }
    }

    /// Tells recorders to finish and waits until each has. Kills those that take too long.
    ///
    /// - Parameter session: The session whose change needs this. The wait stops when that session ends or is
    ///   interrupted.
    func finish(_ outputs: [LiveOutput], forChangeOf session: Session? = nil) async {
        let waiting = outputs.filter { !$0.isDone && $0.recorder != nil }
        for output in waiting { output.stop() }
        let limit = patience.finish
        let timer = Task {
            try await Task.sleep(for: limit)
            self.kill(waiting)
        }
        for output in waiting where !output.isDone && session?.isEnding != true {
            await withCheckedContinuation { output.whenDone($0) }
        }
        timer.cancel()
    }

    /// Ends recorders that did not finish in time; one that is gone has its file saved perhaps.
    private func kill(_ outputs: [LiveOutput]) {
        for output in outputs { output.kill() }
    }

    /// Ends outputs of a start or a change that did not come about.
    func discard(_ outputs: [LiveOutput]) async {
        // What is being saved was captured, and stays.
        let unsaved = outputs.filter { !$0.isDone && !$0.isSaving }
        for output in outputs {
            output.kill()
            output.finish(nil)
        }
        for output in unsaved { await output.recording?.cancel() }
    }
}
