/// Values that a program tells of a moment of a recording. A movie keeps them in a track of their own.
public struct TimedMetadata: Hashable, Sendable {
    /// Bytes of UTF-8 that a text may have.
    public static let longest = 4096
    /// How many may be told at once.
    public static let mostAtOnce = 64
    /// Bytes of all that may be told at once.
    public static let mostBytesAtOnce = 32_768
    /// How many a movie takes in a second.
    public static let mostPerSecond = 1000
    /// How far ahead of the clock a time may be, in nanoseconds.
    public static let mostAhead: Int64 = 1_000_000_000

    /// A JSON object on one line. Only its length, its braces and its line are checked.
    public let text: String
    /// The moment that it tells of, by the clock of buffers' times; `nil` for the moment at which the daemon gets it.
    public let time: Timestamp?

    /// Metadata of a text.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` for a text that is too long, no object, or not one line.
    public init(json text: String, at time: Timestamp? = nil) throws(CaptureError) {
        guard text.utf8.count <= Self.longest else {
            throw CaptureError(
                .invalidArgument,
                "metadata of \(text.utf8.count) bytes is too long: at most \(Self.longest)"
            )
        }
        guard text.first == "{", text.last == "}", text.isLine else {
            throw CaptureError(
                .invalidArgument,
                "metadata is no JSON object on one line, such as {\"speed\": 12.5}"
            )
        }
        self.text = text
        self.time = time
    }

    /// Refuses more than may be told at once.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument`, with the number and what would be right.
    public static func check(_ items: [TimedMetadata]) throws(CaptureError) {
        let bytes = items.reduce(0) { $0 + $1.text.utf8.count }
        guard items.count <= mostAtOnce, bytes <= mostBytesAtOnce else {
            throw CaptureError(
                .invalidArgument,
                "\(items.count) items of metadata with \(bytes) bytes are too many at once: at most \(mostAtOnce), "
                    + "and \(mostBytesAtOnce) bytes"
            )
        }
    }

    /// Refuses a time that is far ahead of the clock.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument`, with how far ahead it is.
    public func check(at now: Timestamp) throws(CaptureError) {
        guard let time, time.nanoseconds > now.advanced(by: Self.mostAhead).nanoseconds else { return }
        throw CaptureError(
            .invalidArgument,
            "metadata is of a time \(Double(time.nanoseconds - now.nanoseconds) / 1e9) s ahead; at most "
                + "\(Self.mostAhead / 1_000_000_000) s are possible"
        )
    }
}

extension OutputDescription {
    /// Refuses metadata for what is no movie.
    ///
    /// - Throws: `CaptureError.Code.invalidArgument` with what would be right.
    public func checkMetadata() throws(CaptureError) {
        guard !hasMetadata || kind == .movie else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(name)' is no movie, so it has no metadata; leave it out"
            )
        }
    }
}

extension String {
    /// Whether it is one line of text, without control characters and without what changes the direction of others.
    var isLine: Bool { unicodeScalars.allSatisfy(\.isText) }
}

extension Unicode.Scalar {
    /// Whether it neither controls a terminal, nor ends a line, nor changes the direction of text. All that do are below
    /// U+10000.
    fileprivate var isText: Bool {
        let kinds: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
        return !kinds.contains(properties.generalCategory) && !properties.isBidiControl
    }
}

extension String {
    /// The text as a string of JSON. Characters that a terminal would obey, or that change the direction of text, are escaped.
    public var quotedJSON: String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where !scalar.isText: result += "\\u" + String(scalar.value, digits: 4, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
