/// What `captured` asks of the process that holds the descriptors which a program passed.
///
/// The text is the contract between `captured` and `captured-door`; both are of one build, and an unknown key is an error.
public enum DoorRequest: Hashable, Sendable {
    /// Take the descriptor of a ticket, once, and say what it leads to.
    case look(ticket: UInt32)
    /// Send `text` over the socket that comes beside this request, with the descriptor of the ticket, then with the
    /// others that come beside it.
    case hand(ticket: UInt32, text: String)
    /// Say how large the file of a ticket is, and when it changed last.
    case mark(ticket: UInt32)
    /// Close the descriptor of a ticket. There is no answer: that may take for ever.
    case drop(ticket: UInt32)
    /// Say whether the program has sent anything yet, which shows that it has its end of the connection.
    case use

    /// The request as text.
    public var text: String {
        switch self {
        case .look(let ticket): KeyValueText.encode([("message", "look"), ("ticket", "\(ticket)")])
        case .hand(let ticket, let text):
            KeyValueText.encode([("message", "hand"), ("ticket", "\(ticket)"), ("text", text)])
        case .mark(let ticket): KeyValueText.encode([("message", "mark"), ("ticket", "\(ticket)")])
        case .drop(let ticket): KeyValueText.encode([("message", "drop"), ("ticket", "\(ticket)")])
        case .use: KeyValueText.encode([("message", "use")])
        }
    }

    /// Reads a request from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` naming the key that is missing, wrong or unknown.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a request to a door", values)
        if values["message"] == "use" {
            self = .use
            try words.finish()
            return
        }
        let ticket = try words.number("ticket", in: UInt32(1)...)
        switch values["message"] {
        case "look": self = .look(ticket: ticket)
        case "hand": self = .hand(ticket: ticket, text: try words.word("text"))
        case "mark": self = .mark(ticket: ticket)
        case "drop": self = .drop(ticket: ticket)
        case let word: throw CaptureError(.badData, "a door was asked to '\(word ?? "")', which is unknown")
        }
        try words.finish()
    }
}

/// What the process answers; one answer for each request but `drop`, in their order.
public enum DoorAnswer: Hashable, Sendable {
    /// What the descriptor leads to.
    case file(PassedFileFacts)
    /// It was sent on.
    case handed
    /// The program has sent something.
    case used
    /// The program has sent nothing yet.
    case unused
    /// The size of a regular file in bytes, and when it changed last, in nanoseconds since 1970.
    case mark(FileMark)
    /// It is no regular file, so that there is nothing to compare.
    case unmarked
    /// It did not work: the kernel's number, and the reason in words.
    case failed(errno: Int32, reason: String)

    /// The most characters of a reason that are kept.
    private static let longestReason = 300

    /// The answer as text.
    public var text: String {
        switch self {
        case .file(let facts):
            KeyValueText.encode([
                ("message", "file"), ("writable", facts.isWritable ? "1" : "0"),
                ("regular", facts.identity == nil ? "0" : "1"), ("device", "\(facts.identity?.device ?? 0)"),
                ("inode", "\(facts.identity?.inode ?? 0)"),
            ])
        case .handed: KeyValueText.encode([("message", "handed")])
        case .used: KeyValueText.encode([("message", "used")])
        case .unused: KeyValueText.encode([("message", "unused")])
        case .mark(let mark):
            KeyValueText.encode([("message", "mark"), ("size", "\(mark.size)"), ("changed", "\(mark.changed)")])
        case .unmarked: KeyValueText.encode([("message", "unmarked")])
        case .failed(let errno, let reason):
            KeyValueText.encode([("message", "failed"), ("errno", "\(errno)"), ("reason", reason)])
        }
    }

    /// Reads an answer from its text.
    ///
    /// - Throws: `CaptureError.Code.badData` when it is not of this form, or a value is out of its range.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a door's answer", values)
        switch values["message"] {
        case "file":
            let isWritable = try words.number("writable", in: 0...1) == 1
            let isRegular = try words.number("regular", in: 0...1) == 1
            let device = try words.number("device", in: UInt64(0)...)
            let inode = try words.number("inode", in: UInt64(0)...)
            self = .file(
                PassedFileFacts(
                    isWritable: isWritable,
                    identity: isRegular ? FileIdentity(device: device, inode: inode) : nil
                )
            )
        case "handed": self = .handed
        case "used": self = .used
        case "unused": self = .unused
        case "mark":
            let size = try words.number("size", in: Int64(0)...)
            self = .mark(FileMark(size: size, changed: try words.number("changed", in: Int64.min...)))
        case "unmarked": self = .unmarked
        case "failed":
            let errno = try words.number("errno", in: Int32(0)...)
            self = .failed(errno: errno, reason: String(try words.word("reason").prefix(Self.longestReason)))
        case let word: throw CaptureError(.badData, "a door answered '\(word ?? "")', which is unknown")
        }
        try words.finish()
    }
}

/// What is known of a descriptor that a program passed.
public struct PassedFileFacts: Hashable, Sendable {
    /// Whether it was opened for writing.
    public var isWritable: Bool
    /// Which regular file it is; `nil` for anything else.
    public var identity: FileIdentity?

    /// The given facts.
    public init(isWritable: Bool, identity: FileIdentity?) {
        self.isWritable = isWritable
        self.identity = identity
    }
}

/// What a regular file was at one moment, to tell whether it was written to since.
public struct FileMark: Hashable, Sendable {
    /// Bytes.
    public var size: Int64
    /// When its content changed last, in nanoseconds since 1970.
    public var changed: Int64

    /// A mark of the given values.
    public init(size: Int64, changed: Int64) {
        self.size = size
        self.changed = changed
    }
}
