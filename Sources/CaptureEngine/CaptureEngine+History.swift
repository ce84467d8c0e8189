import Authorization
import CaptureCore

/// What the history is told of sessions: each input is a use, from before its first sample until after its last.
extension CaptureEngine {
    /// Records that inputs are used from now on; on disk when it returns.
    ///
    /// - Throws: `.inputOutput` when it cannot be recorded: then nothing may be captured.
    func recordUses(_ inputs: [InputDescription], _ live: [String: LiveInput], in session: Session)
        async throws(CaptureError)
    {
        var names: [String] = []
        var uses: [DeviceUse] = []
        for input in inputs {
            let service = Service(input.mediaType)
            guard let device = live[input.name]?.shared.device, let grant = session.grants[service] else {
                throw CaptureError(.internalFault, "the input '\(input.name)' is used without a device or a consent")
            }
            names.append(input.name)
            uses.append(
                DeviceUse(
                    client: session.client.identity,
                    service: service,
                    device: device.id,
                    deviceName: device.name,
                    basis: grant.basis,
                    session: session.id
                )
            )
        }
        if uses.isEmpty { return }
        for (name, key) in zip(names, try await history.begin(uses)) { session.uses[name] = key }
    }

    /// Records that inputs are used no more.
    func endUses(_ names: [String], of session: Session, as outcome: UseOutcome, _ reason: CaptureError?) async {
        let keys = names.compactMap { session.uses.removeValue(forKey: $0) }
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
