public import CaptureCore

/// What a person is asked to pick from the media library, in an agent that shows all of it.
public struct PickQuestion: Hashable, Sendable {
    /// Who asks: the program itself, or the command line for settings.
    public var client: ClientIdentity
    /// The program's name for people, neutralized: its claim, unless the tier says more.
    public var name: String
    /// What becomes of what is picked.
    public var purpose: PickPurpose
    /// The id of the program that may read what is chosen: the client's own but for settings.
    public var subject: String
    /// The words of the kinds that are shown; empty for all.
    public var kinds: Set<String>
    /// What may be used for it, where something new is taken.
    public var taking: Taking?
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
        case .take: "the person took a \(kinds.first ?? "photo") for \(subject), to be handed to it once"
        case .pick: "the person picked \(things) of the media library for \(subject), to be handed to it once"
        case .extend, .offer: "the person let \(subject) read \(things) more of the media library"
        case .choose:
            "the person let \(subject) read \(things) more of the media library, and \(answer.dropped.count) less"
        }
    }
}
