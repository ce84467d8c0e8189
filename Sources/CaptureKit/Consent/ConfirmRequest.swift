import CaptureBus
import CaptureCore

/// What a program is about to do in the media library, for the person to confirm.
public struct ConfirmRequest: Hashable, Sendable {
    /// What it is about to do.
    public enum Action: String, Hashable, Sendable, CaseIterable {
        /// Put assets into the bin.
        case delete
        /// Erase what is in the library's bin.
        case erase
        /// Take recordings that were kept into the library.
        case save
        /// Throw recordings that were kept away.
        case discard
    }

    /// What the answer refers to.
    public var cookie: String
    /// The id of the program that asks.
    public var program: String
    /// How sure its identity is.
    public var tier: String
    /// Its name, in its own words.
    public var name: String
    /// What its identity is made of.
    public var detail: String
    /// The asking process.
    public var processID: UInt32
    /// Seconds until the question is withdrawn; 0 for no limit.
    public var secondsLeft: UInt32
    /// Whether `capturectl` asks for itself on its own terminal.
    public var isInline: Bool
    /// What it is about to do.
    public var action: Action
    /// To how many assets or recordings.
    public var count: Int
    /// The names of the first of them.
    public var names: [String]

    /// A request of the given properties.
    public init(
        cookie: String,
        program: String,
        tier: String,
        name: String = "",
        detail: String = "",
        processID: UInt32 = 0,
        secondsLeft: UInt32 = 0,
        isInline: Bool = false,
        action: Action = .delete,
        count: Int,
        names: [String]
    ) {
        self.cookie = cookie
        self.program = program
        self.tier = tier
        self.name = name
        self.detail = detail
        self.processID = processID
        self.secondsLeft = secondsLeft
        self.isInline = isInline
        self.action = action
        self.count = count
        self.names = names
    }

    /// A request as `Confirm` brings it.
    init(bus arguments: [BusValue]) throws(CaptureError) {
        guard arguments.count == 2, let cookie = arguments[0].text, let facts = arguments[1].properties else {
            throw CaptureError(.invalidArgument, "a question comes as a cookie and its facts")
        }
        let word = facts["action"]?.text ?? ""
        guard let action = Action(rawValue: word) else {
            throw CaptureError(.invalidArgument, "'\(word)' is nothing that this agent can have confirmed")
        }
        guard let count = facts["count"]?.integer, count > 0 else {
            throw CaptureError(.invalidArgument, "a question of confirming says of how many it is, 1 or more")
        }
        self.init(
            cookie: cookie,
            program: facts["program"]?.text ?? "",
            tier: facts["tier"]?.text ?? "",
            name: facts["name"]?.text ?? "",
            detail: facts["detail"]?.text ?? "",
            processID: UInt32(clamping: facts["pid"]?.integer ?? 0),
            secondsLeft: UInt32(clamping: facts["secondsLeft"]?.integer ?? 0),
            isInline: facts["inline"]?.boolean ?? false,
            action: action,
            count: Int(count),
            names: facts["names"]?.texts ?? []
        )
    }
}
