/// The values of a message of `key=value` lines, each to be read once; a key that nobody asked for is an error.
struct MessageWords {
    private let message: String
    private var rest: [String: String]

    /// The values of a message, beside the key `message` itself.
    ///
    /// - Parameter message: What it is, for errors, as in `a job to copy`.
    init(_ message: String, _ values: [String: String]) {
        self.message = message
        rest = values
        rest["message"] = nil
    }

    /// The value of a key, which must be there.
    mutating func word(_ key: String) throws(CaptureError) -> String {
        guard let value = rest.removeValue(forKey: key) else {
            throw CaptureError(.badData, "\(message) lacks '\(key)'")
        }
        return value
    }

    /// The value of a key as a number in a range.
    mutating func number<Number: FixedWidthInteger>(
        _ key: String,
        in range: some RangeExpression<Number>
    ) throws(CaptureError) -> Number {
        let value = try word(key)
        guard let number = Number(value), range.contains(number) else {
            throw CaptureError(.badData, "\(message) has '\(value)' for '\(key)', which is no number in its range")
        }
        return number
    }

    /// The same of a key whose value may be empty: `nil` then.
    mutating func numberIfAny<Number: FixedWidthInteger>(
        _ key: String,
        in range: some RangeExpression<Number>
    ) throws(CaptureError) -> Number? {
        guard rest[key] == "" else { return try number(key, in: range) }
        rest[key] = nil
        return nil
    }

    /// The value of a key as text for people: cut at `limit`, and without control characters or characters that change
    /// the text's direction.
    mutating func sentence(_ key: String, limit: Int) throws(CaptureError) -> String {
        let text = try word(key)
        let isPrintable = text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
        if isPrintable { return String(text.prefix(limit)) }
        let scalars = text.unicodeScalars.filter(MessageWords.isPlain)
        return String(String(String.UnicodeScalarView(scalars)).prefix(limit))
    }

    /// A failure, as in `CaptureError.pairs`. A longer reason is cut to 500 characters.
    ///
    /// - Parameter codes: What the sender may blame; another code is an internal fault.
    mutating func fault(among codes: Set<CaptureError.Code>) throws(CaptureError) -> CaptureError {
        let code = CaptureError.Code(rawValue: try word("code"))
        let reason = try sentence("reason", limit: 500)
        let errno = try number("errno", in: Int32(0)...)
        return CaptureError(codes.contains(code) ? code : .internalFault, reason, errno: errno)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: true
        }
    }

    /// Ends the reading.
    func finish() throws(CaptureError) {
        guard let unknown = rest.keys.min() else { return }
        throw CaptureError(.badData, "\(message) has the key '\(unknown)', which is unknown")
    }
}

extension CaptureError {
    /// A failure in a message.
    var pairs: [(String, String)] { [("code", code.rawValue), ("errno", "\(errno)"), ("reason", message)] }
}
