import CaptureBus
import CaptureCore

/// What a person is asked to pick from the media library.
public struct PickRequest: Hashable, Sendable {
    /// What becomes of what is picked.
    public enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// The program is handed the contents, once.
        case pick
        /// The program, which may read chosen assets alone, may read these from now on too.
        case extend
        /// The same, which the program did not ask for: whether the person wants to at all is asked first.
        case offer
        /// The person changes what a program may read, in settings.
        case choose
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
    /// What becomes of what is picked.
    public var purpose: Purpose
    /// The id of the program that may read what is chosen: of `choose` another than the one that asks.
    public var subject: String
    /// The kinds that may be picked; empty for all.
    public var kinds: Set<MediaAssetKind>
    /// How many may be picked, at most.
    public var limit: Int

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
        purpose: Purpose = .pick,
        subject: String? = nil,
        kinds: Set<MediaAssetKind> = [],
        limit: Int
    ) {
        self.cookie = cookie
        self.program = program
        self.tier = tier
        self.name = name
        self.detail = detail
        self.processID = processID
        self.secondsLeft = secondsLeft
        self.isInline = isInline
        self.purpose = purpose
        self.subject = subject ?? program
        self.kinds = kinds
        self.limit = limit
    }

    /// A request as `Pick` brings it.
    init(bus arguments: [BusValue]) throws(CaptureError) {
        guard arguments.count == 2, let cookie = arguments[0].text, let facts = arguments[1].properties else {
            throw CaptureError(.invalidArgument, "a question comes as a cookie and its facts")
        }
        let word = facts["purpose"]?.text ?? ""
        guard let purpose = Purpose(rawValue: word) else {
            throw CaptureError(.invalidArgument, "'\(word)' is nothing that this agent can have picked for")
        }
        guard let limit = facts["limit"]?.integer, limit > 0 else {
            throw CaptureError(.invalidArgument, "a question of picking says how many assets, 1 or more")
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
            purpose: purpose,
            subject: facts["subject"]?.text,
            kinds: Set((facts["kinds"]?.texts ?? []).compactMap(MediaAssetKind.init)),
            limit: Int(clamping: limit)
        )
    }
}

/// What a person picked.
public struct PickAnswer: Hashable, Sendable {
    /// The ids of what was picked, in the order of picking.
    public var picked: [MediaAsset.ID]
    /// The ids of what the program shall not read any more; for the purpose `choose` alone.
    public var dropped: [MediaAsset.ID]

    /// An answer; an empty one keeps everything as it is, and is none to `pick`.
    public init(_ picked: [MediaAsset.ID] = [], dropped: [MediaAsset.ID] = []) {
        self.picked = picked
        self.dropped = dropped
    }
}
