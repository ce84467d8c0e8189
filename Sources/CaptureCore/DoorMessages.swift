/// A request of `captured` to the process that holds the descriptors of a program.
///
/// The text is the contract between `captured` and `captured-door`, which belong to the same build. An unknown key is
/// an error.
public enum DoorRequest: Hashable, Sendable {
    /// Take the descriptor of a ticket, once, and describe it.
    case look(ticket: UInt32)
    /// Send `text` over the first descriptor beside this request, which is a socket. Send the ticket's descriptor with
    /// it, followed by the other descriptors beside the request.
    case hand(ticket: UInt32, text: String)
    /// Report the size of a ticket's file and when it last changed.
    case mark(ticket: UInt32)
    /// Close the descriptor of a ticket. There is no answer, because closing may take for ever.
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
    /// - Throws: `CaptureError.Code.badData` naming the missing, wrong or unknown key.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("a request to captured-door", values)
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
        case let word: throw CaptureError(.badData, "unknown request '\(word ?? "")' to captured-door")
        }
        try words.finish()
    }
}

/// An answer of that process. Each request but `drop` gets one, in the order of the requests.
public enum DoorAnswer: Hashable, Sendable {
    /// The facts about the file that the descriptor refers to.
    case file(PassedFileFacts)
    /// The descriptor was sent on.
    case handed
    /// The program has sent something.
    case used
    /// The program has sent nothing yet.
    case unused
    /// The size of a regular file in bytes, and when it last changed, in nanoseconds since 1970.
    case mark(FileMark)
    /// Not a regular file, so it cannot be compared.
    case unmarked
    /// The request failed: with errno, and the reason in words.
    case failed(errno: Int32, reason: String)

    /// A longer reason is cut to this many characters.
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
    /// - Throws: `CaptureError.Code.badData` if the text is malformed, or a value is out of range.
    public init(text: String) throws(CaptureError) {
        let values = try KeyValueText.decode(text)
        var words = MessageWords("an answer from captured-door", values)
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
        case let word: throw CaptureError(.badData, "unknown answer '\(word ?? "")' from captured-door")
        }
        try words.finish()
    }
}

/// Facts about a descriptor that a program passed.
public struct PassedFileFacts: Hashable, Sendable {
    /// Whether it was opened for writing.
    public var isWritable: Bool
    /// The identity of a regular file; `nil` for anything else.
    public var identity: FileIdentity?

    /// Creates the facts.
    public init(isWritable: Bool, identity: FileIdentity?) {
        self.isWritable = isWritable
        self.identity = identity
    }
}

/// The state of a regular file at one moment, to find out later whether it was written to.
public struct FileMark: Hashable, Sendable {
    /// Its size in bytes.
    public var size: Int64
    /// When its content last changed, in nanoseconds since 1970.
    public var changed: Int64

    /// Creates a mark with the given values.
    public init(size: Int64, changed: Int64) {
        self.size = size
        self.changed = changed
    }
}
