import Authorization
import CaptureCore

/// What the history is told of sessions: each input is a use, from before its first sample until after its last. Bound to
/// the engine's actor.
final class UseLog {
    private let history: HistoryKeeper
    /// The uses that go on, by session and input.
    private var open: [UInt32: [String: DeviceUseKey]] = [:]

    init(_ history: HistoryKeeper) {
        self.history = history
    }

    /// Makes sure that uses can be recorded.
    nonisolated(nonsending) func check() async throws(CaptureError) { try await history.check() }

    /// Records that inputs are used from now on, unless it is recorded already; on disk when it returns.
    ///
    /// - Throws: `.inputOutput` when it cannot be recorded: then nothing may be captured.
    nonisolated(nonsending) func begin(_ inputs: [InputDescription], _ live: [String: LiveInput], in session: Session)
        async throws(CaptureError)
    {
        var names: [String] = []
        var uses: [DeviceUse] = []
        // The camera of metadata is an input of the same session, and that is one use.
        for input in inputs where input.mediaType != .metadata && open[session.id]?[input.name] == nil {
            let service = Service(input.mediaType)
            guard let device = live[input.name]?.shared.device, let grant = session.grants[service] else {
                throw CaptureError(.internalFault, "the input '\(input.name)' is used without a device or a consent")
            }
            names.append(input.name)
            uses.append(
                DeviceUse(
                    client: session.client.capturer,
                    service: service,
                    device: device.id,
                    deviceName: device.name,
                    basis: grant.basis,
                    session: session.id
                )
            )
        }
        if uses.isEmpty { return }
        for (name, key) in zip(names, try await history.begin(uses)) { open[session.id, default: [:]][name] = key }
    }

    /// Records that inputs are used no more.
    ///
    /// - Parameter names: The inputs; all of the session's if it is nil.
    nonisolated(nonsending) func end(
        _ names: [String]? = nil,
        of session: Session,
        as outcome: UseOutcome,
        _ reason: CaptureError?
    ) async {
        var left = open.removeValue(forKey: session.id) ?? [:]
        let keys = (names ?? Array(left.keys)).compactMap { left.removeValue(forKey: $0) }
        if !left.isEmpty { open[session.id] = left }
        if !keys.isEmpty { await history.end(keys, as: outcome, reason?.message ?? "") }
    }
}

extension UseOutcome {
    /// How a use ends with a session that ends so.
    init(_ state: SessionState, _ reason: CaptureError?) {
        self =
            switch state {
            case _ where reason?.code == .revoked: .revoked
            case .interrupted: .interrupted
            case .failed: .failed
            default: .stopped
            }
    }
}
