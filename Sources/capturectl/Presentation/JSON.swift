import CaptureKit

/// A JSON value to print. Keys keep their order. Absent values are left out of an object: no member is null or an empty
/// string.
indirect enum JSON: Equatable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    struct Member: Equatable {
        var key: String
        var value: JSON
    }

    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral elements: JSON...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }
    init(_ value: some BinaryInteger) {
        if let value = Int64(exactly: value) {
            self = .integer(value)
        } else {
            self = .unsigned(UInt64(clamping: value))
        }
    }
    init(_ value: Double) { self = value.isFinite ? .number(value) : .null }
    init(_ value: String) { self = .string(value) }
    init(_ value: String?) { self = value.map { .string($0) } ?? .null }
    init(_ value: Bool) { self = .bool(value) }

    /// A dictionary's entries by key, so that output is the same from run to run.
    init<Value>(_ values: [String: Value], _ json: (Value) -> JSON) {
        self = .object(values.sorted { $0.key < $1.key }.map { Member(key: $0.key, value: json($0.value)) })
    }
    init(_ values: [String: UInt64]) { self.init(values) { JSON($0) } }

    /// This object with the members of another behind its own.
    func with(_ more: JSON) -> JSON {
        guard case .object(let own) = self, case .object(let others) = more else { return self }
        return .object(own + others)
    }

    /// The value of a key of an object.
    subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// On one line, for a stream of events.
    var line: String { text(indent: nil) }

    /// Over several lines, indented by two spaces.
    var pretty: String { text(indent: 0) }

    private func text(indent: Int?) -> String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .integer(let value): return "\(value)"
        case .unsigned(let value): return "\(value)"
        case .number(let value): return "\(value)"
        case .string(let value): return value.quotedJSON
        case .array(let elements):
            return JSON.block("[", elements.map { $0.text(indent: indent.map { $0 + 2 }) }, "]", indent)
        case .object(let members):
            let space = indent == nil ? "" : " "
            let present = members.filter { $0.value != .null && $0.value != "" }
            return JSON.block(
                "{",
                present.map { $0.key.quotedJSON + ":" + space + $0.value.text(indent: indent.map { $0 + 2 }) },
                "}",
                indent
            )
        }
    }

    private static func block(_ open: String, _ parts: [String], _ close: String, _ indent: Int?) -> String {
        guard let indent, !parts.isEmpty else { return open + parts.joined(separator: ",") + close }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        return open + "\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n" + outer + close
    }
}
