public import CaptureKit

/// A question for an agent to put to the person: who wants what, and why.
///
/// The daemon has checked every text in it, and whoever shows a text makes it printable again: it is the program's claim.
public struct PromptRequest: Hashable, Sendable {
    /// Who asks, and until when.
    public var question: Question
    /// The services that it asks for, in the order of the rows.
    public var services: [AuthorizationService]
    /// Why, in the program's words, by service.
    public var reasons: [AuthorizationService: String]
    /// How a program came that gives no reason.
    public var bridge: Bridge?
    /// How long a yes can hold, in the words of `GrantLifetime`; empty if it can only hold for always.
    public var lifetimes: [String] = []
    /// The services that may be allowed for chosen assets only; empty if the daemon takes no such answer.
    public var limitable: [AuthorizationService] = []

    /// A request of the given properties.
    public init(
        _ question: Question,
        services: [AuthorizationService],
        reasons: [AuthorizationService: String] = [:]
    ) {
        self.question = question
        self.services = services
        self.reasons = reasons
    }
}

/// The result of a question.
public enum PromptAnswer: Hashable, Sendable {
    /// Yes or no for every service, except for adding to the library if reading it was allowed. A yes may only hold for a
    /// shorter time or for chosen assets if the request says so.
    case answered([AuthorizationService: PersonsAnswer])
    /// Yes or no to what a program is about to do.
    case confirmed(ConfirmedAction, Bool)
    /// What the person picked from the media library.
    case picked(PickedAssets)
    /// The person closed the question: nothing is stored.
    case dismissed
    /// The question was withdrawn before it was answered.
    case withdrawn
}

extension PromptRequest {
    /// The services in the order of the questions: reading the library comes before adding, which follows from a yes.
    var rows: [AuthorizationService] {
        let others = services.filter { !AuthorizationService.ofLibrary.contains($0) }
        return others + AuthorizationService.ofLibrary.reversed().filter(services.contains)
    }

    /// The next service to ask about; `nil` if none is left.
    func next(after answers: [AuthorizationService: PersonsAnswer]) -> AuthorizationService? {
        rows.first { row in
            answers[row] == nil && !(row == .libraryAdd && answers[.libraryReadWrite]?.isAllowed == true)
        }
    }
}
