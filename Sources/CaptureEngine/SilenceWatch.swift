import CaptureCore

/// Watches for cameras and microphones that deliver nothing usable to recordings. Bound to the engine's actor.
struct SilenceWatch {
    /// How long a device may deliver nothing usable to a recording, or three frames if they take longer.
    var limit = Duration.seconds(5)
    /// When it was looked last whether devices deliver.
    private var lastLook = SuspendingClock.now
    /// How long inputs that are recorded have delivered nothing usable, by session and name.
    private var silences: [UInt32: [String: Silence]] = [:]

    /// A look that comes later than this was held up, and devices stood still meanwhile, as `ProofOfLife.patience` has it.
    private static let longestTurn = Duration.milliseconds(1750)

    /// Looks which devices are interrupted, as by a lost signal, and which recordings got nothing usable for too long.
    ///
    /// Whoever calls this seldom was held up, and devices with it: the time starts anew then, as after any interruption.
    ///
    /// - Parameter changed: Told of each session whose interruption changed.
    /// - Returns: The sessions that are to end, each with the reason.
    mutating func look(at sessions: [Session], _ now: SuspendingClock.Instant, changed: (Session) -> Void)
        -> [(Session, CaptureError)]
    {
        let wasHeldUp = lastLook.duration(to: now) > Self.longestTurn
        lastLook = now
        let before = silences
        silences = [:]
        var faults: [(Session, CaptureError)] = []
        for session in sessions where session.state == .running && !session.isEnding {
            let interruption = session.inputs.values.lazy.compactMap(\.shared.source.interruption).first
            if interruption != session.interruption {
                session.interruption = interruption
                changed(session)
            }
            if wasHeldUp || session.standstill != nil || session.still != nil { continue }
            for (name, input) in session.inputs
            where session.outputs.values.contains(where: { $0.records(input.shared) }) {
                var silence = before[session.id]?[name] ?? Silence(since: now)
                silence.look(at: input.shared.counters, now)
                silences[session.id, default: [:]][name] = silence
                guard silence.since.duration(to: now) >= max(limit, input.interval * 3) else { continue }
                faults.append((session, silence.fault(of: input, at: now)))
                break
            }
        }
        return faults
    }

    /// What a recording lacks that ended on time: a device had delivered nothing usable for half of its time by then.
    func fault(behind output: LiveOutput, in session: Session) -> CaptureError? {
        guard output.description.duration > 0, !session.isEnding else { return nil }
        let now = SuspendingClock.now
        for (name, input) in session.inputs where output.reads(input.shared) {
            guard var silence = silences[session.id]?[name] else { continue }
            silence.look(at: input.shared.counters, now)
            guard silence.since.duration(to: now) > max(limit / 2, input.interval * 3) else { continue }
            return silence.fault(of: input, at: now)
        }
        return nil
    }
}

/// How long an input has delivered nothing usable.
private struct Silence {
    /// When something usable was seen last, or could first have come.
    private(set) var since: SuspendingClock.Instant
    private var published: UInt64?
    private var damaged: UInt64 = 0
    private var isDamaged = false

    init(since: SuspendingClock.Instant) {
        self.since = since
    }

    /// Takes the counters of the input's device.
    mutating func look(at counters: RingCounters, _ now: SuspendingClock.Instant) {
        let errors = counters.drops[DropCause.deviceError.rawValue]
        if counters.published != published {
            published = counters.published
            since = now
            isDamaged = false
        } else if errors > damaged {
            isDamaged = true
        }
        damaged = errors
    }

    /// What to tell the one who records.
    func fault(of input: LiveInput, at now: SuspendingClock.Instant) -> CaptureError {
        let device = input.shared.source.format.mediaType == .video ? "camera" : "microphone"
        let what = isDamaged ? "only damaged \(device == "camera" ? "frames" : "sound")" : "nothing"
        let seconds = (since.duration(to: now) + .milliseconds(500)).components.seconds
        return CaptureError(
            .inputOutput,
            "the \(device) delivers \(what): nothing usable came from \(input.shared.device.name) for \(seconds) s"
        )
    }
}

extension LiveInput {
    /// From one frame to the next; 0 where the driver does not say, and for sound, whose periods are short.
    var interval: Duration {
        switch shared.source.format {
        case .video(let format): .nanoseconds(format.interval.nanoseconds)
        case .audio, .metadata: .zero
        }
    }
}
