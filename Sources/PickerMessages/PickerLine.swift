import FoundationEssentials

/// A message is a line of JSON, whose coding the compiler makes from the messages' types.
///
/// The bus' codec would take more code here: it has no enumerations with values, so each message would be coded by hand,
/// and the window would link libsystemd. `FoundationEssentials` has the only JSON decoder in the project, and comes
/// without the rest of Foundation and its tables of languages.
public enum PickerLine {
    /// The longest line from the window: more than the ids of all that may be picked at a time.
    public static let longestReport = 1 << 20

    /// What is no message.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The line's beginning.
        public let line: String

        /// In words.
        public var description: String { "'\(line)' is no message" }
    }

    /// A message with its line's end.
    public static func encode(_ message: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Of texts and whole numbers alone, which JSON has all of.
        guard let data = try? encoder.encode(message) else { return [0x0a] }
        return Array(data) + [0x0a]
    }

    /// The message of a line without its end.
    ///
    /// - Throws: For any other text.
    public static func decode<Message: Decodable>(
        _ line: some Collection<UInt8>,
        as type: Message.Type = Message.self
    ) throws(Failure) -> Message {
        do {
            return try JSONDecoder().decode(type, from: Data(line))
        } catch {
            throw Failure(line: String(decoding: line.prefix(100), as: UTF8.self))
        }
    }
}

/// Takes lines out of what was read in pieces.
public struct PickerLines: Sendable {
    private var rest: [UInt8] = []
    private let longest: Int

    /// Lines of so many bytes at most.
    public init(longest: Int = .max) {
        self.longest = longest
    }

    /// Takes a piece.
    ///
    /// - Returns: The lines that are whole now, without their ends.
    /// - Throws: For a line that is too long.
    public mutating func take(_ bytes: some Collection<UInt8>) throws(PickerLine.Failure) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for part in bytes.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 {
                lines.append(rest)
                rest = []
            }
            guard rest.count + part.element.count <= longest else {
                throw PickerLine.Failure(line: String(decoding: rest.prefix(100), as: UTF8.self))
            }
            rest += part.element
        }
        return lines
    }
}
