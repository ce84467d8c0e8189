public import CaptureCore

/// Whether the person is there: what was allowed rests while they are not.
extension AuthorizationGate {
    /// Allows capture only while the person is present, from now on; `nil` allows it always.
    ///
    /// What that forbids has been withdrawn when this returns, and nothing is delivered on it any more.
    public func setPresence(_ presence: (any Presence)?) async {
        self.presence = presence
        await presenceChanged()
    }

    /// Looks again who is present. Before it returns, it withdraws the grants of users who are away and takes away
    /// their questions, and nothing is delivered to them any more. Answers stay. It does not wait for files to be
    /// finished.
    public func presenceChanged() async {
        await lookWhoIsThere()
        // Needed also if another caller's look withdrew the grants.
        await enforce()
    }

    private func lookWhoIsThere() async {
        // First, so that a request which has looked already looks again.
        presenceRevision &+= 1
        guard let presence else { return }
        let live = grants.values.joined().filter { $0.grant?.isLive == true }.map(\.client)
        let waiting = prompts.values.flatMap { $0.waiters.values.map(\.client) }
        var away: [ClientIdentity: String] = [:]
        for client in Set(live + waiting) { away[client] = await presence.absence(of: client) }
        guard !away.isEmpty else { return }
        let gone = withdraw(by: .userAway) { client, _, _ in away[client] }
        for one in gone {
            let words = { (service: Service) in
                "\(one.client.program) loses \(service.title) while it uses it: \(one.reason)"
            }
            report([one.service], for: one.client, .userAway, words) { service in
                (try? statuses([service], for: one.client)[service]) ?? .notDetermined
            }
        }
        for (key, prompt) in prompts {
            for (number, waiter) in prompt.waiters {
                guard let why = away[waiter.client] else { continue }
                dismiss(key, prompt.id, number, CaptureError(.userAway, why))
            }
        }
    }

    /// Why a program may not capture now though its answer may be a yes: `userAway`; `nil` when its user is there.
    public func absence(of client: ClientIdentity) async -> CaptureError? {
        await presence?.absence(of: client).map { CaptureError(.userAway, $0) }
    }
}
