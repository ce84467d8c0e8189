/// What a person is asked to pick from the media library, in an agent that shows all of it.
public struct PickQuestion: Hashable, Sendable {
    /// What becomes of what is picked.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// The program is handed the contents, once; what it may read stays as it was.
        case pick
        /// The program, which may read chosen assets alone, may read these from now on too.
        case extend
        /// The same, offered without a word of the program: whether at all is asked first.
        case offer
        /// The person changes what a program was given to read, in settings.
        case choose
    }

    /// Who asks: the program itself, or the command line for settings.
    public var client: ClientIdentity
    /// The program's name for people, neutralized: its claim, unless the tier says more.
    public var name: String
    /// What becomes of what is picked.
    public var purpose: Purpose
    /// The id of the program that may read what is chosen: the client's own but for settings.
    public var subject: String
    /// The words of the kinds that are shown; empty for all.
    public var kinds: Set<String>
    /// How many may be picked, 1 to `mostAssets`.
    public var limit: Int
    /// The connection of the program.
    public var session: String
    /// When nobody waits for it any more.
    public var deadline: ContinuousClock.Instant
    /// Noted by the prompter before it hands the question out.
    public let sight = PromptSight()

    /// How many assets can be picked at a time, at most.
    public static let mostAssets = 1000

    /// What picking came to, in a sentence.
    func outcome(_ answer: PickedAssets) -> String {
        let count = answer.picked.count
        let things = count == 1 ? "1 item" : "\(count) items"
        return switch purpose {
        case .pick: "the person picked \(things) of the media library for \(subject), to be handed to it once"
        case .extend, .offer: "the person let \(subject) read \(things) more of the media library"
        case .choose:
            "the person let \(subject) read \(things) more of the media library, and \(answer.dropped.count) less"
        }
    }
}

/// What a person picked.
public struct PickedAssets: Hashable, Sendable {
    /// The ids of what was picked, each once.
    public var picked: [String]
    /// The ids of what the program shall not read any more; in settings alone.
    public var dropped: [String]

    /// Assets by their ids.
    public init(_ picked: [String] = [], dropped: [String] = []) {
        self.picked = picked
        self.dropped = dropped
    }
}
