public import CaptureSystem

/// A value of a D-Bus message.
///
/// A value type; descriptors in it are closed when the last copy goes. Thread-safe.
public indirect enum BusValue: Hashable, Sendable {
    /// `s`, without NUL characters.
    case string(String)
    /// `o`, as in `/org/capturekit/Capture1`.
    case objectPath(String)
    /// `g`
    case signature(String)
    /// `b`
    case bool(Bool)
    /// `y`
    case byte(UInt8)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `h`: duplicated by the message, so that both sides close their own.
    case descriptor(Descriptor)
    /// `a…`: the signature of an element, and the elements.
    case array(String, [BusValue])
    /// `a{…}`: the signatures of a key and a value, one behind the other as in `sv`, and the entries in their order.
    case dictionary(String, [BusEntry])
    /// `(…)`
    case structure([BusValue])
    /// `v`
    case variant(BusValue)
}

/// An entry of a dictionary.
public struct BusEntry: Hashable, Sendable {
    /// A basic value.
    public var key: BusValue
    /// Any value.
    public var value: BusValue

    /// An entry of the given key and value.
    public init(_ key: BusValue, _ value: BusValue) {
        self.key = key
        self.value = value
    }
}

extension BusValue {
    /// The D-Bus signature of the value's type.
    public var typeSignature: String {
        switch self {
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bool: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .descriptor: "h"
        case .array(let element, _): "a" + element
        case .dictionary(let entry, _): "a{" + entry + "}"
        case .structure(let members): "(" + members.map(\.typeSignature).joined() + ")"
        case .variant: "v"
        }
    }

    /// `a{sv}`: the form in which descriptions travel. Keys are in alphabetical order.
    public static func properties(_ values: [String: BusValue]) -> BusValue {
        .dictionary(
            "sv",
            values.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key), .variant($0.value)) }
        )
    }

    /// `as`
    public static func strings(_ values: [String]) -> BusValue {
        .array("s", values.map { .string($0) })
    }

    /// `aa{sv}`
    public static func propertyList(_ values: [[String: BusValue]]) -> BusValue {
        .array("a{sv}", values.map { .properties($0) })
    }
}

extension BusValue {
    /// The value inside of a variant, however deep, or the value itself.
    public var unwrapped: BusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    /// The text of a string, object path or signature; `nil` for other types.
    public var text: String? {
        switch self {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    /// The boolean; `nil` for other types.
    public var boolean: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number of any integer type that fits in 64 signed bits; `nil` for other types and greater numbers.
    public var integer: Int64? {
        switch self {
        case .byte(let value): Int64(value)
        case .int16(let value): Int64(value)
        case .uint16(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .int64(let value): value
        case .uint64(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number of any integer type as another one; `nil` for other types and numbers that do not fit.
    public func integer<Integer: FixedWidthInteger>(as type: Integer.Type) -> Integer? {
        if case .uint64(let value) = self { Integer(exactly: value) } else { integer.flatMap { Integer(exactly: $0) } }
    }

    /// The number of any integer type that is not negative; `nil` for other types.
    public var unsigned: UInt64? { integer(as: UInt64.self) }

    /// The number of a double or of any integer type; `nil` for other types.
    public var number: Double? {
        switch self {
        case .double(let value): value
        case .uint64(let value): Double(value)
        default: integer.map { Double($0) }
        }
    }

    /// The descriptor; `nil` for other types.
    public var file: Descriptor? {
        if case .descriptor(let file) = self { file } else { nil }
    }

    /// The elements of an array or the members of a structure; `nil` for other types.
    public var elements: [BusValue]? {
        switch self {
        case .array(_, let elements): elements
        case .structure(let members): members
        default: nil
        }
    }

    /// The texts of an array of strings; `nil` for other types.
    public var texts: [String]? {
        guard case .array("s", let elements) = self else { return nil }
        return elements.compactMap(\.text)
    }

    /// A dictionary with text keys as a Swift dictionary, variants taken out of their wrapping; `nil` for other types.
    /// Of a key that comes twice the last entry counts.
    public var properties: [String: BusValue]? {
        guard case .dictionary(_, let entries) = self else { return nil }
        var values: [String: BusValue] = [:]
        for entry in entries {
            guard let key = entry.key.text else { return nil }
            values[key] = entry.value.unwrapped
        }
        return values
    }
}
