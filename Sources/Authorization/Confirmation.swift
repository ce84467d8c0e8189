public import CaptureCore

/// What a program that may is about to do, for the person to confirm this once.
public struct Confirmation: Hashable, Sendable {
    /// Who is about to do it.
    public var client: ClientIdentity
    /// The program's name for people, neutralized: its claim, unless the tier says more.
    public var name: String
    /// What it is about to do.
    public var action: ConfirmedAction
    /// To how many.
    public var count: Int
    /// The names of the first of them.
    public var names: [String]
    /// The connection of the program.
    public var session: String
    /// When nobody waits for it any more.
    public var deadline: ContinuousClock.Instant
    /// Noted by the prompter before it hands the question out.
    public let sight = PromptSight()

    /// How many names are told.
    public static let mostNames = 10
}

extension ConfirmedAction {
    /// What it comes to for so many, in words that follow a "to".
    public func words(_ count: Int) -> String {
        let things = { (what: String) in count == 1 ? "1 \(what)" : "\(count) \(what)s" }
        return switch self {
        case .delete: "put \(things("item")) of the media library into the bin"
        case .erase: "erase \(things("item")) in the media library's bin for good"
        case .save: "save \(things("kept recording")) into the media library"
        case .discard: "discard \(things("kept recording")) for good"
        }
    }
}
