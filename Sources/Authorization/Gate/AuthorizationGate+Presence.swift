public import CaptureCore

/// Whether the person is there: what was allowed rests while they are not.
extension AuthorizationGate {
    /// From now on captures only while the person is there; with `nil` always.
    ///
    /// What that forbids has been withdrawn when this returns, and nothing is delivered on it any more.
    public func setPresence(_ presence: (any Presence)?) async {
        self.presence = presence
        await presenceChanged()
    }

    /// Looks again who is there. Grants of those who are away have been withdrawn when this returns, and their questions
    /// taken away; answers stay as they are. Nothing is delivered to them any more; files that end by it are not waited for.
    public func presenceChanged() async {
        await lookWhoIsThere()
        // Also where somebody else's look withdrew it.
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
