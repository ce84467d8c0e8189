import Authorization
import CaptureCore

/// Inputs of a running session whose devices go on in another format: closed, opened anew, and read in other rings. Bound
/// to the engine's actor.
struct InputRestart {
    private let session: Session
    /// The devices of the inputs that the same change adds.
    private let added: [SharedSource]
    /// Those that run in another format now, as they were described before.
    private var changed: [InputDescription] = []
    /// The one that is closed, as it was described before, and since when it delivers nothing.
    private var closed: (input: InputDescription, since: ContinuousClock.Instant)?

    init(of session: Session, beside added: [SharedSource]) {
        self.session = session
        self.added = added
    }

    /// Whether an input is described as the same device in another format.
    static func isAsked(_ before: InputDescription, _ now: InputDescription) -> Bool {
        var same = now
        (same.video, same.audio) = (before.video, before.audio)
        return before != now && before == same
    }

    /// Refuses another format for an input that feeds a file.
    ///
    /// - Throws: `invalidArgument`.
    static func check(_ input: InputDescription, of session: Session) throws(CaptureError) {
        guard let shared = session.inputs[input.name]?.shared,
            let output = session.outputs.values.filter({ $0.records(shared) }).map(\.description.name).min()
        else { return }
        throw CaptureError(
            .invalidArgument,
            "input '\(input.name)' feeds '\(output)', whose file has one format; change the format before that output is added, or after it"
                + " has finished"
        )
    }

    /// Restarts the inputs that a description changes, or none.
    ///
    /// - Throws: `busy` for a device that another session or input uses; what opening and starting throw.
    mutating func apply(_ new: SessionDescription, on engine: isolated CaptureEngine) async throws(CaptureError) {
        let before = session.description.inputs
        do throws(CaptureError) {
            for input in new.inputs {
                guard let former = before.first(where: { $0.name == input.name }), former != input else { continue }
                try await restart(input, instead: former, on: engine)
                changed.append(former)
            }
        } catch {
            await takeBack(on: engine)
            throw error
        }
    }

    /// Gives the inputs their former formats back. If they cannot have them, the session ends.
    private mutating func takeBack(on engine: isolated CaptureEngine) async {
        do throws(CaptureError) {
            if let closed { try await open(closed.input, since: closed.since, on: engine) }
            while let former = changed.popLast() { try await restart(former, instead: former, on: engine) }
        } catch {
            _ = engine.beginEnd(session, as: .failed, error)
        }
    }

    private mutating func restart(
        _ input: InputDescription,
        instead former: InputDescription,
        on engine: isolated CaptureEngine
    ) async throws(CaptureError) {
        // An input whose outputs have all finished may be closed.
        guard let shared = session.inputs[input.name]?.shared else { return }
        guard (session.inputs.values.map(\.shared) + added).count(where: { $0 === shared }) == 1 else {
            throw CaptureError(
                .busy,
                "\(shared.device.name) feeds two inputs of this session; remove one before you change its format"
            )
        }
        // An output that came with this change records, too.
        try InputRestart.check(input, of: session)
        let grant = try session.grant(for: input)
        let start = ContinuousClock.now
        try await engine.pool.restart(shared, as: input, grant: grant, for: session.id)
        closed = (former, since: start)
        try await open(input, since: start, on: engine)
        closed = nil
    }

    /// Opens an input whose device was closed, and has the session's buffers go on there.
    ///
    /// - Parameter start: Since when frames are lost.
    private func open(
        _ input: InputDescription,
        since start: ContinuousClock.Instant,
        on engine: isolated CaptureEngine
    ) async throws(CaptureError) {
        guard let former = session.inputs[input.name]?.shared else { return }
        let shared = try await engine.reopen(input, former.device, for: session)
        session.countPause(of: input.name, former.source.format, since: start)
        session.inputs[input.name] = LiveInput(shared)
        for (name, output) in session.outputs where output.reads(former) {
            if output.recorder == nil {
                session.outputs[name] = LiveOutput(output.description, recorder: nil, feeds: [shared])
                if output.description.kind == .buffer, !session.isDisabled(name) {
                    engine.observer.bufferMoved(session.snapshot, output: name)
                }
            } else if output.isDone {
                output.leaveFeeds()
            }
        }
    }
}

extension CaptureEngine {
    /// Opens a device that was closed for a session, and has it stream.
    func reopen(_ input: InputDescription, _ device: DeviceDescription, for session: Session)
        async throws(CaptureError) -> SharedSource
    {
        let grant = try session.grant(for: input)
        let shared = try await pool.acquire(input, device, grant: grant, for: session.id)
        do throws(CaptureError) {
            try session.proceed()
            try await pool.stream(shared)
            try session.proceed()
        } catch {
            await pool.release(shared.device.id, for: session.id)
            throw error
        }
        return shared
    }
}

extension Session {
    /// The consent to an input.
    func grant(for input: InputDescription) throws(CaptureError) -> Grant {
        guard let grant = grants[Service(input.mediaType)] else {
            throw CaptureError(.notPermitted, "there is no consent for the input '\(input.name)'")
        }
        return grant
    }

    /// Counts what a device would have delivered since it was closed, before it is replaced.
    func countPause(of input: String, _ format: MediaFormat, since start: ContinuousClock.Instant) {
        var counters = statistics.inputs[input] ?? InputStatistics()
        counters.drops[DropCause.paused.name, default: 0] += format.count(in: .now - start)
        before[input] = counters
    }
}

extension MediaFormat {
    /// Frames or sample frames of a time.
    fileprivate func count(in time: Duration) -> UInt64 {
        let rate =
            switch self {
            case .video(let format): format.interval.framesPerSecond
            case .audio(let format): Double(format.sampleRate)
            case .metadata: 0.0
            }
        return UInt64(max(0, Double(time.nanoseconds) / 1e9 * rate))
    }
}
