import CaptureKit

/// What came of a session that was run to its end.
struct SessionOutcome: Sendable {
    /// The last counters.
    var statistics: SessionStatistics
    /// The output that it was about.
    var output: String
    /// Why it did not end as asked; `nil` when its file is complete.
    var error: CaptureError?
    /// What came of it in the media library, if it is there.
    var saved: SavedOutput?
    /// Whether the output was at its end when it was counted last; otherwise its recorder may have gone on since.
    var isFinal = true
}

/// Runs a session of one output from its start to its end: shows progress, obeys Ctrl-C.
struct SessionRun {
    let session: CaptureSession
    /// The output's name.
    let output: String
    /// Gets its name then, and none when the session is refused.
    var file: OutputFile?
    var naming = Naming.whenItPlays
    var display: ProgressDisplay?
    /// Its end asks the session to end, as the first Ctrl-C does.
    var closing: Task<Void, Never>?
    /// Whether the movie keeps what comes until somebody has it begin.
    var hasPreRoll = false

    /// When a file gets its name. One that never does leaves nothing and replaces nothing.
    enum Naming {
        /// For a session that goes on by itself.
        case whenRunning
        /// As soon as a part of it would outlive a kill.
        case whenItPlays
        /// For a photo.
        case whenComplete
    }

    private enum Event: Sendable {
        case session(SessionEvent)
        case failed(CaptureError)
        case interrupt
        /// What shows the session was closed.
        case close
        case enter
        case tick
    }

    /// Starts, and waits for the end.
    ///
    /// - Throws: Why nothing was captured. What went wrong after that is in the outcome.
    func toTheEnd() async throws(CaptureError) -> SessionOutcome {
        try await follow(untilRunning: false)
    }

    /// Starts, and returns when the session runs.
    func untilRunning() async throws(CaptureError) {
        _ = try await follow(untilRunning: true)
    }

    private func follow(untilRunning: Bool) async throws(CaptureError) -> SessionOutcome {
        let (events, feed) = AsyncStream<Event>.makeStream()
        let interrupts = Interrupts { feed.yield(.interrupt) }
        let changes = try await session.events()
        let forward = Task { for await change in changes { feed.yield(.session(change)) } }
        let asked = closing.map { closing in
            Task {
                await closing.value
                feed.yield(.close)
            }
        }
        defer {
            asked?.cancel()
            forward.cancel()
            withExtendedLifetime(interrupts) {}
        }
        try await session.start()
        var (ticker, enter): (Ticker?, EnterKey?)
        defer { withExtendedLifetime((ticker, enter)) {} }
        var display = display
        var pace = ProgressPace(isShown: display != nil)
        var phase = Phase.starting
        var outcome = SessionOutcome(statistics: SessionStatistics(), output: output, isFinal: false)
        // Before it runs nothing was shown, and the line is perhaps that of a question.
        defer { if ticker != nil { display?.clear() } }
        for await event in events {
            switch event {
            case .session(.changed(let status)):
                if status.state == .running, phase == .starting {
                    if naming == .whenRunning { try await named() }
                    if untilRunning { return outcome }
                    phase = .running
                    if hasPreRoll {
                        enter = EnterKey { feed.yield(.enter) }
                        await tellHowToBegin(canType: enter != nil)
                    }
                    let ticks = waitsForName ? nil : pace.next(after: nil)
                    ticker = Ticker(milliseconds: ticks?.interval ?? 100) { feed.yield(.tick) }
                }
                guard status.state.isFinal else { continue }
                if phase == .interrupted {
                    let made = outcome.statistics.outputs[output]
                    guard let made, made.frames > 0 || made.samples > 0 else { throw SessionRun.nothing }
                }
                // What ended the session is the cause of what its output lacks. A daemon that is stopped says so: the
                // recording is whole, but shorter than was asked.
                outcome.error = status.reason ?? outcome.error ?? (status.state == .stopped ? nil : reason(status))
                if phase == .starting {
                    if let error = outcome.error { throw error }
                    // A short one may have come to its end, unseen, before it was seen to run; one of which no output
                    // ended was stopped from elsewhere before it captured anything.
                    guard outcome.statistics.outputs[output] != nil else {
                        throw CaptureError(.dismissed, "the session was stopped before anything was captured")
                    }
                }
                outcome = await withFinalCounters(outcome)
                if outcome.statistics.outputs[output]?.isWaiting == true {
                    throw outcome.error ?? SessionRun.neverBegun
                }
                if outcome.error == nil { try await named() } else { nameWhatPlays(outcome.statistics) }
                if outcome.error == nil, file?.isLost == true { outcome.error = SessionRun.lost }
                return outcome
            case .session(.finished(let result)) where result.name == output:
                outcome.statistics.outputs[output] = result.statistics
                outcome.isFinal = true
                outcome.saved = result.saved
                outcome.error = outcome.error ?? result.error
                if phase == .running {
                    phase = .stopping
                    // The daemon ends a session whose last output is done. A photo is over in a moment, whoever takes one
                    // more of its session.
                    if naming != .whenComplete { stop(feed) }
                }
            case .session: continue
            case .failed(let error):
                if phase == .starting || phase == .interrupted { throw error }
                outcome.error = outcome.error ?? error
                nameWhatPlays(outcome.statistics)
                return outcome
            // What shows the session closes because the session ends, too; only a second Ctrl-C stops waiting.
            case .close where phase == .stopping || phase == .interrupted: continue
            case .interrupt, .close:
                switch phase {
                case .starting:
                    // It may run already, unseen: whether anything was captured shows at its end.
                    phase = .interrupted
                    stop(feed)
                case .running:
                    phase = .stopping
                    stop(feed)
                case .interrupted: throw SessionRun.nothing
                case .stopping:
                    outcome.error = CaptureError(.timedOut, "stopped waiting; the recorder finishes the file by itself")
                    nameWhatPlays(outcome.statistics)
                    return outcome
                }
            case .enter:
                // A session that is over meanwhile says so by its end.
                if phase == .running { try? await session.beginRecording(output) }
            case .tick:
                // A question that fails because the session ended meanwhile: its end is the next event.
                if let now = try? await session.statistics() {
                    outcome.statistics = now
                    display?.show(now, output: output)
                    if waitsForName, plays(now) { try await named() }
                    if !waitsForName, let ticks = pace.next(after: now.outputs[output]) {
                        ticker?.set(first: ticks.first, milliseconds: ticks.interval)
                    }
                }
                if file?.isLost == true, phase == .running {
                    outcome.error = SessionRun.lost
                    phase = .stopping
                    stop(feed)
                }
            }
        }
        return outcome
    }

    private enum Phase {
        case starting
        /// Told to stop before it was seen to run.
        case interrupted
        case running
        case stopping
    }

    private static let lost = CaptureError(
        .inputOutput,
        "the output file was deleted or replaced while it was being recorded"
    )

    private static let neverBegun = CaptureError(
        .dismissed,
        "the movie was never begun, so nothing was recorded"
    )

    private static let nothing = CaptureError(.dismissed, "interrupted before anything was captured")

    private func tellHowToBegin(canType: Bool) async {
        let command = "capturectl begin \(await session.id ?? 0)"
        Output.message("waiting; to record: \(canType ? "press Enter, or call " : "")\(command)")
    }

    private func stop(_ feed: AsyncStream<Event>.Continuation) {
        let session = session
        Task {
            do throws(CaptureError) {
                try await session.stop()
            } catch {
                feed.yield(.failed(error))
            }
        }
    }

    /// Gives the file its name; a session that runs without one is stopped.
    private func named() async throws(CaptureError) {
        do throws(CaptureError) {
            if hasPreRoll { try file?.keepBeside() } else { try file?.keep() }
        } catch {
            try await session.stop()
            throw error
        }
    }

    private var waitsForName: Bool { naming == .whenItPlays && file?.isKept == false }

    private func plays(_ statistics: SessionStatistics) -> Bool {
        statistics.outputs[output].map { $0.duration > 0 && !$0.isWaiting } ?? false
    }

    /// Gives the file of a run that failed its name, if there is something in it, or that is not known.
    private func nameWhatPlays(_ statistics: SessionStatistics) {
        guard waitsForName, plays(statistics) || statistics.outputs[output] == nil else { return }
        // What ended the run is told; that another file took the name meanwhile is not the cause.
        try? file?.keep()
    }

    private func withFinalCounters(_ outcome: SessionOutcome) async -> SessionOutcome {
        var outcome = outcome
        // A daemon that is gone has left the counters of the last tick; one that comes after it knows no more.
        if !outcome.isFinal, outcome.error?.code == .unreachable { return outcome }
        let result = outcome.isFinal ? outcome.statistics.outputs[output] : nil
        // The daemon keeps the counters of a session that is over.
        if let now = try? await session.statistics() {
            outcome.statistics = now
            outcome.isFinal = true
        }
        if let result { outcome.statistics.outputs[output] = result }
        return outcome
    }

    private func reason(_ status: SessionStatus) -> CaptureError {
        CaptureError(.internalFault, "the session \(status.state.rawValue) without a reason")
    }
}

extension OutputFile {
    /// Gives the file its name, or that with a number if it was taken while the movie waited: what was kept is not lost.
    fileprivate func keepBeside() throws(CaptureError) {
        let whole = path
        var number = 1
        try keep {
            number += 1
            let suffix = FileFormat.fileExtension(of: whole).map { ".\($0)" } ?? ""
            return "\(whole.dropLast(suffix.count))-\(number)\(suffix)"
        }
        if path != whole {
            Output.message("\(Printable.text(whole)) was made by another program; this is \(Printable.text(path))")
        }
    }
}
