public import CaptureCore

/// A value of `TimedMetadata`, as JSON has them.
public indirect enum MetadataValue: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByFloatLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    /// A text.
    case text(String)
    /// A number; one that is not finite is left out.
    case number(Double)
    /// A whole number.
    case integer(Int64)
    /// True or false.
    case flag(Bool)
    /// Several values.
    case list([MetadataValue])
    /// Values by their keys.
    case fields([String: MetadataValue])

    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .flag(value) }

    /// A place on Earth, for the key `position`.
    ///
    /// - Parameters:
    ///   - latitude: Degrees north of the equator, -90 to 90.
    ///   - longitude: Degrees east of Greenwich, -180 to 180.
    ///   - altitude: Metres above the sea; `nil` if that is not known.
    /// - Throws: `CaptureError.Code.usage` for degrees out of range.
    public static func position(latitude: Double, longitude: Double, altitude: Double? = nil) throws(CaptureError)
        -> MetadataValue
    {
        guard altitude?.isFinite ?? true else {
            throw CaptureError(.usage, "an altitude of \(altitude ?? 0) is no number of metres")
        }
        guard (-90.0...90).contains(latitude), (-180.0...180).contains(longitude) else {
            throw CaptureError(
                .usage,
                "a position of \(latitude), \(longitude) is out of range: a latitude of -90 to 90 and a longitude of "
                    + "-180 to 180 degrees"
            )
        }
        var fields: [String: MetadataValue] = ["latitude": .number(latitude), "longitude": .number(longitude)]
        fields["altitude"] = altitude.map { .number($0) }
        return .fields(fields)
    }

    /// The value as JSON on one line, keys in alphabetic order; `nil` for a number that is not finite.
    var json: String? {
        switch self {
        case .text(let text): text.quotedForTrack
        case .number(let number): number.isFinite ? "\(number)" : nil
        case .integer(let number): "\(number)"
        case .flag(let isTrue): isTrue ? "true" : "false"
        case .list(let values): "[" + values.compactMap(\.json).joined(separator: ",") + "]"
        case .fields(let fields):
            "{"
                + fields.sorted { $0.key < $1.key }.compactMap { key, value in
                    value.json.map { key.quotedForTrack + ":" + $0 }
                }.joined(separator: ",") + "}"
        }
    }
}

extension TimedMetadata {
    /// Metadata of values by their keys.
    ///
    /// - Parameters:
    ///   - values: By their keys, of which each is there once.
    ///   - time: The moment that they tell of, by the clock of buffers' times; `nil` for now.
    /// - Throws: `CaptureError.Code.invalidArgument` for values that are longer than `longest` bytes as JSON.
    public init(_ values: [String: MetadataValue], at time: Timestamp? = nil) throws(CaptureError) {
        try self.init(json: MetadataValue.fields(values).json ?? "{}", at: time)
    }
}

extension TimedMetadata {
    /// The same in parts, each of which may be told at once.
    static func parts(of items: [TimedMetadata]) -> [[TimedMetadata]] {
        var parts: [[TimedMetadata]] = []
        var bytes = 0
        for item in items {
            let own = item.text.utf8.count
            if let last = parts.last, last.count < mostAtOnce, bytes + own <= mostBytesAtOnce {
                parts[parts.count - 1].append(item)
                bytes += own
            } else {
                parts.append([item])
                bytes = own
            }
        }
        return parts
    }
}

extension String {
    /// The text as a string of JSON for a track of text. Programs that show subtitles take braces, angle brackets and
    /// backslashes for commands, so all that could be one is written as a number.
    fileprivate var quotedForTrack: String {
        let numbers: [Unicode.Scalar: String] = ["{": "007b", "}": "007d", "<": "003c", ">": "003e"]
        let escapes: [Unicode.Scalar: String] = ["n": "000a", "t": "0009", "\"": "0022", "\\": "005c", "u": ""]
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in quotedJSON.unicodeScalars {
            if isEscaped {
                isEscaped = false
                result += "\\u\(escapes[scalar] ?? "")".unicodeScalars
            } else if scalar == "\\" {
                isEscaped = true
            } else if let number = numbers[scalar] {
                result += "\\u\(number)".unicodeScalars
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
