import CaptureBus
public import CaptureCore
import CaptureKit
import CaptureMessages

/// What a person is asked to pick from the media library.
public struct PickRequest: Hashable, Sendable {
    /// Who asks, and until when.
    public var question: Question
    /// What becomes of what is picked.
    public var purpose: PickPurpose
    /// The id of the program that may read what is chosen: of `choose` another than the one that asks.
    public var subject: String
    /// The kinds that may be picked; empty for all.
    public var kinds: Set<MediaAssetKind>
    /// How many may be picked, at most.
    public var limit: Int
    /// What the person takes something new with; empty where there is nothing to take.
    public var services: Set<AuthorizationService> = []
    /// How long a movie may be that the person takes, in seconds.
    public var longest = 0

    /// A request of the given properties.
    public init(
        _ question: Question,
        purpose: PickPurpose = .pick,
        subject: String? = nil,
        kinds: Set<MediaAssetKind> = [],
        limit: Int
    ) {
        self.question = question
        self.purpose = purpose
        self.subject = subject ?? question.program
        self.kinds = kinds
        self.limit = limit
    }

    /// A request as `Pick` brings it.
    init(bus arguments: [BusValue]) throws(CaptureError) {
        let facts: PickFacts = try Question.facts(arguments)
        guard let purpose = PickPurpose(rawValue: facts.purpose) else {
            throw CaptureError(.invalidArgument, "this agent cannot ask to pick for '\(facts.purpose)'")
        }
        guard facts.limit > 0 else {
            throw CaptureError(.invalidArgument, "a question to pick needs a limit of 1 or more")
        }
        self.init(
            facts.question,
            purpose: purpose,
            subject: facts.subject,
            kinds: Set(facts.kinds.compactMap(MediaAssetKind.init)),
            limit: Int(facts.limit)
        )
        services = Set(facts.services.compactMap(AuthorizationService.init))
        longest = Int(facts.duration)
    }
}
