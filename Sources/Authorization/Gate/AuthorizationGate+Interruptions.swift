public import CaptureCore

/// What somebody who is interrupted has to know: whether that is over, and whether its consent is still there.
extension AuthorizationGate {
    /// Why nothing is captured for now though it may be allowed, `switchedOff` or `userAway`; `nil` when it may go on.
    public func interruption(of services: Set<Service>, for client: ClientIdentity) async -> CaptureError? {
        if let refusal = switches.refusal(services) { return refusal }
        return await absence(of: client)
    }

    /// Looks whether consent is still there, whatever is switched off. Asks nobody.
    ///
    /// - Throws: `restricted` and `denied` as for a request; `revoked` when there is neither an answer nor a rule that
    ///   allows it; `inputOutput` when the store cannot be used.
    public func checkConsent(to services: Set<Service>, for client: ClientIdentity) throws(CaptureError) {
        let undecided = try refuseOrFindUndecided(services, for: client).undecided
        guard undecided.isEmpty else { throw AuthorizationGate.gone(undecided) }
    }

    /// That an answer which was there is not there any more.
    static func gone(_ services: Set<Service>) -> CaptureError {
        CaptureError(
            .revoked,
            "the consent for \(phrase(services)) was withdrawn or has ended; start again to be asked"
        )
    }
}
