public import CaptureBus
public import CaptureCore

/// Takes an `a{sv}` apart, key by key; every fault names the key and says what would be right.
public struct PropertyReader {
    /// What is described, as in `input`, for the sentences.
    public let what: String
    private var values: [String: BusValue] = [:]
    private var known: [String] = []

    /// - Throws: `.invalidArgument` when the value is not a dictionary of texts to variants, or has a key twice.
    public init(_ value: BusValue, _ what: String) throws(CaptureError) {
        self.what = what
        guard case .dictionary("sv", let entries) = value.unwrapped else {
            throw CaptureError(.invalidArgument, "\(what) is of type '\(value.typeSignature)', not 'a{sv}'")
        }
        for entry in entries {
            let key = entry.key.text ?? ""
            guard values.updateValue(entry.value.unwrapped, forKey: key) == nil else {
                throw CaptureError(.invalidArgument, "\(what) has \(PropertyReader.shown(key)) twice")
            }
        }
    }

    /// The value of a key, and from now on no unknown one.
    public mutating func take(_ key: String) -> BusValue? {
        known.append(key)
        return values.removeValue(forKey: key)
    }

    /// Makes sure that every key was taken.
    public func end() throws(CaptureError) {
        guard let key = values.keys.min() else { return }
        throw CaptureError(
            .invalidArgument,
            "\(what) has \(PropertyReader.shown(key)), which is unknown; known are \(known.sorted().joined(separator: ", "))"
        )
    }

    private static func shown(_ key: String) -> String { CodingLimits.isName(key) ? "'\(key)'" : "a key" }

    /// The error of a value that is not as it should be.
    public func fault(_ key: String, _ right: String) -> CaptureError {
        CaptureError(.invalidArgument, "'\(key)' of \(what) must be \(right)")
    }

    /// The error of a value of a wrong type.
    func wrongType(_ key: String, _ right: String, _ value: BusValue) -> CaptureError {
        CaptureError(
            .invalidArgument,
            "'\(key)' of \(what) is of D-Bus type '\(value.typeSignature)', but must be \(right)"
        )
    }

    /// The error of a key that is not there.
    public func missing(_ key: String) -> CaptureError {
        CaptureError(.invalidArgument, "\(what) lacks '\(key)'")
    }

    /// A text of at most so many bytes in UTF-8; `nil` where the key is absent, as in all that follow.
    public mutating func text(_ key: String, longest: Int = 255) throws(CaptureError) -> String? {
        guard let value = take(key) else { return nil }
        let right = "a text of at most \(longest) bytes"
        guard case .string(let text) = value else { throw wrongType(key, right, value) }
        guard text.utf8.count <= longest else { throw fault(key, right) }
        return text
    }

    /// A boolean.
    public mutating func flag(_ key: String) throws(CaptureError) -> Bool? {
        guard let value = take(key) else { return nil }
        guard let flag = value.boolean else { throw wrongType(key, "true or false", value) }
        return flag
    }

    /// A whole number of a range, whatever type it came as.
    public mutating func number<Number: FixedWidthInteger>(
        _ key: String,
        _ range: ClosedRange<Number>
    ) throws(CaptureError) -> Number? {
        guard let value = take(key) else { return nil }
        let right = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let number: Number?
        switch value {
        case .uint64(let wide): number = Number(exactly: wide)
        default:
            guard let integer = value.integer else { throw wrongType(key, right, value) }
            number = Number(exactly: integer)
        }
        guard let number, range.contains(number) else { throw fault(key, right) }
        return number
    }

    /// A number above the one and up to the other.
    public mutating func real(_ key: String, above least: Double, to most: Double) throws(CaptureError) -> Double? {
        guard let value = take(key) else { return nil }
        let right = "a number above \(least), at most \(most)"
        guard let number = value.number else { throw wrongType(key, right, value) }
        guard number > least, number <= most else { throw fault(key, right) }
        return number
    }

    /// A word of an enumeration.
    public mutating func word<Word: RawRepresentable & CaseIterable>(
        _ key: String,
        _: Word.Type = Word.self
    ) throws(CaptureError) -> Word? where Word.RawValue == String {
        guard let text = try text(key) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw fault(key, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    /// A word of a list.
    public mutating func word(_ key: String, of words: [String]) throws(CaptureError) -> String? {
        guard let text = try text(key) else { return nil }
        guard words.contains(text) else { throw fault(key, "one of \(words.joined(separator: ", "))") }
        return text
    }

    /// Texts of at most 255 bytes each.
    public mutating func texts(_ key: String, most: Int) throws(CaptureError) -> [String]? {
        guard let value = take(key) else { return nil }
        let right = "at most \(most) texts of at most 255 bytes"
        guard let texts = value.texts else { throw wrongType(key, right, value) }
        guard texts.count <= most, texts.allSatisfy({ $0.utf8.count <= 255 }) else { throw fault(key, right) }
        return texts
    }

    /// An array of dictionaries.
    mutating func list<Element: BusCodable>(
        _ key: String,
        most: Int,
        _: Element.Type = Element.self
    ) throws(CaptureError) -> [Element]? {
        guard let value = take(key) else { return nil }
        guard case .array(let signature, let elements) = value, signature == "a{sv}" || elements.isEmpty else {
            throw fault(key, "of type 'aa{sv}'")
        }
        guard elements.count <= most else { throw fault(key, "at most \(most) entries") }
        return try elements.map { element throws(CaptureError) in try Element(busValue: element) }
    }

    /// Numbers within a range, which NaN is not.
    mutating func numbers(
        _ key: String,
        _ range: ClosedRange<Double>,
        most: Int
    ) throws(CaptureError) -> [Double]? {
        guard let value = take(key) else { return nil }
        let right = "at most \(most) numbers from \(range.lowerBound) to \(range.upperBound)"
        guard case .array("d", let members) = value else { throw wrongType(key, right, value) }
        let numbers = members.compactMap { member in if case .double(let number) = member { number } else { nil } }
        guard numbers.count <= most, numbers.allSatisfy(range.contains) else { throw fault(key, right) }
        return numbers
    }

    /// A structure of whole numbers.
    mutating func numbers(_ key: String, _ count: Int) throws(CaptureError) -> [Int]? {
        guard let value = take(key) else { return nil }
        return try PropertyReader.numbers(value, count, fault(key, "a structure of \(count) whole numbers"))
    }

    static func numbers(_ value: BusValue, _ count: Int, _ fault: CaptureError) throws(CaptureError) -> [Int] {
        guard case .structure(let members) = value, members.count == count else { throw fault }
        var numbers: [Int] = []
        for member in members {
            guard let number = member.integer, (0...Int64(UInt32.max)).contains(number) else { throw fault }
            numbers.append(Int(number))
        }
        return numbers
    }

    /// A name by which parts of a session refer to each other.
    mutating func name(_ key: String) throws(CaptureError) -> String {
        guard let text = try text(key) else { throw missing(key) }
        guard CodingLimits.isName(text) else {
            throw fault(key, "1 to \(CodingLimits.longestName) letters, digits, '_' or '-'")
        }
        return text
    }
}

/// How large a description may be.
public enum CodingLimits {
    /// Inputs, and outputs, of a session.
    public static let mostParts = SessionDescription.mostParts
    /// Inputs, and outputs, that are counted: while a session changes, those that go and those that come.
    static let mostCounted = 2 * mostParts
    /// Characters of the name of an input or output.
    public static let longestName = 64
    /// Formats of a device, sizes of a format, intervals of a size.
    static let mostChoices = 4096

    /// Whether a text may name an input or output.
    public static func isName(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...longestName).contains(bytes.count)
            && bytes.allSatisfy { byte in
                (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            }
    }
}
