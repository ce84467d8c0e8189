/// A question that an agent puts to the person: which program asks, and until when. Each kind of request has one.
///
/// The daemon has checked every text in it. A text is still the program's claim: make it printable before you show it.
public struct Question: Hashable, Sendable {
    /// The secret that makes the answer count, once.
    public var cookie: String
    /// The program's id, such as `exe:/usr/bin/tool` or `unit:camera.service`.
    public var program: String
    /// How sure its identity is: `sandboxed`, `service`, `user` or `claimed`.
    public var tier: String
    /// Its name, in its own words; may be empty.
    public var name: String
    /// The evidence that it was identified by, in words.
    public var detail: String
    /// Whether any program of the person's account can change the file that its id names.
    public var isReplaceable = false
    /// The asking process; 0 if unknown.
    public var processID: UInt32
    /// Seconds until the question is withdrawn; 0 for no limit.
    public var secondsLeft: UInt32
    /// Whether `capturectl` asks for itself on its own terminal.
    public var isInline: Bool

    /// A question of the given properties.
    public init(
        cookie: String,
        program: String,
        tier: String,
        name: String = "",
        detail: String = "",
        processID: UInt32 = 0,
        secondsLeft: UInt32 = 0,
        isInline: Bool = false
    ) {
        self.cookie = cookie
        self.program = program
        self.tier = tier
        self.name = name
        self.detail = detail
        self.processID = processID
        self.secondsLeft = secondsLeft
        self.isInline = isInline
    }

    /// A question of which nothing is known.
    public init() { self.init(cookie: "", program: "", tier: "") }
}

/// An action that a program is about to take in the media library, which the person confirms.
public enum ConfirmedAction: String, Hashable, Sendable, CaseIterable {
    /// Put assets into the bin.
    case delete
    /// Erase what is in the bin.
    case erase
    /// Take recordings that were kept into the library.
    case save
    /// Throw recordings that were kept away.
    case discard
}

/// The use to be made of the assets that a person picks from the media library.
public enum PickPurpose: String, Hashable, Sendable, CaseIterable, Codable {
    /// The program is handed the contents, once; what it may read stays as it was.
    case pick
    /// The program, which may read chosen assets alone, may read these from now on too.
    case extend
    /// The same, offered without a word of the program: whether at all is asked first.
    case offer
    /// The person changes what a program was given to read, in settings.
    case choose
    /// The person takes something new with the camera; the program is handed that, once, and may use no camera by it.
    case take
}

/// The assets that a person picked.
public struct PickedAssets: Hashable, Sendable {
    /// The ids of what was picked, each once.
    public var picked: [String]
    /// The ids of what the program shall not read any more; for the purpose `choose` alone.
    public var dropped: [String]

    /// Assets by their ids.
    public init(_ picked: [String] = [], dropped: [String] = []) {
        self.picked = picked
        self.dropped = dropped
    }
}
