import CaptureBus
public import CaptureCore
import CaptureKit
import CaptureMessages

/// What a program is about to do in the media library, for the person to confirm.
public struct ConfirmRequest: Hashable, Sendable {
    /// Who asks, and until when.
    public var question: Question
    /// What it is about to do.
    public var action: ConfirmedAction
    /// To how many assets or recordings.
    public var count: Int
    /// The names of the first of them.
    public var names: [String]

    /// A request of the given properties.
    public init(
        _ question: Question,
        action: ConfirmedAction = .delete,
        count: Int,
        names: [String]
    ) {
        self.question = question
        self.action = action
        self.count = count
        self.names = names
    }

    /// A request as `Confirm` brings it.
    init(bus arguments: [BusValue]) throws(CaptureError) {
        let facts: ConfirmFacts = try Question.facts(arguments)
        guard let action = ConfirmedAction(rawValue: facts.action) else {
            throw CaptureError(.invalidArgument, "this agent cannot ask to confirm '\(facts.action)'")
        }
        guard facts.count > 0 else {
            throw CaptureError(.invalidArgument, "a question to confirm needs a count of 1 or more")
        }
        self.init(facts.question, action: action, count: Int(facts.count), names: facts.names)
    }
}
