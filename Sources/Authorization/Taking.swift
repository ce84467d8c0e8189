public import CaptureCore

/// A question by which a person takes a photo or movie for a program. While it stands, the agent that shows it may use
/// camera and microphone for that, whatever the program itself may. Made by the gate alone. Thread-safe.
public final class Taking: Sendable {
    /// The program that gets what is taken.
    public let client: ClientIdentity
    /// What may be used for it: the camera, and for a movie the microphone as well, where that is allowed at all.
    public let services: Set<Service>
    /// How long a movie may be, in seconds; 0 for a photo.
    public let longest: Int

    init(_ client: ClientIdentity, _ services: Set<Service>, longest: Int) {
        self.client = client
        self.services = services
        self.longest = longest
    }
}

extension Taking: Hashable {
    /// Whether both are the same question's.
    public static func == (left: Taking, right: Taking) -> Bool { left === right }

    /// By which question's it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AuthorizationGate {
    /// What a program may have a person take, whatever its consent: policy, switches and the person's absence stand above it.
    ///
    /// - Parameters:
    ///   - longest: How long a movie may be, in seconds; 0 for a photo.
    ///   - client: The program.
    /// - Throws: `restricted`, `switchedOff` and `userAway`.
    public func taking(longest: Int, for client: ClientIdentity) async throws(CaptureError) -> Taking {
        if let absence = await absence(of: client) { throw absence }
        try answers.policy.refuseRestricted([.camera], to: PolicySubject(client))
        if let refusal = switchboard.switches.refusal([.camera]) { throw refusal }
        // A movie without sound is better than none; what is switched off later ends it.
        let hasSound =
            longest > 0 && switchboard.switches.refusal([.microphone]) == nil
            && answers.policy.verdict(on: PolicySubject(client), .microphone).decision != .restrict
        return Taking(client, hasSound ? [.camera, .microphone] : [.camera], longest: longest)
    }

    /// Has the person take it. Needs no consent of the program's and changes none.
    ///
    /// It counts among the questions of `pick`. When this returns, nothing is captured for it any more.
    ///
    /// - Parameters:
    ///   - taking: What; each once.
    ///   - kind: The word of what is taken.
    ///   - requester: The program that it is for.
    /// - Returns: What the agent calls it by.
    /// - Throws: As `pick`.
    public func take(
        _ taking: Taking,
        _ kind: String,
        by requester: Requester
    ) async throws(CaptureError) -> PickedAssets {
        takings.insert(taking)
        let result = await Result.of { () throws(CaptureError) in
            try await library.pick(.take, nil, [kind], 1, taking, by: requester, on: self)
        }
        takings.remove(taking)
        let (user, program) = (taking.client.answerUser, taking.client.program)
        grants.revoke(user: user, program: program, why: "the question is over") { $0.given.taking == taking }
        await enforcers.enforce(awaitingFiles: false)
        return try result.get()
    }
}
