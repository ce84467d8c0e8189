import FoundationEssentials

/// Bytes, which a message carries as base64.
public struct PickerBytes: Codable, Hashable, Sendable {
    /// The bytes.
    public var bytes: [UInt8]

    /// Bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Out of a message.
    public init(from decoder: any Decoder) throws {
        bytes = Array(try decoder.singleValueContainer().decode(Data.self))
    }

    /// Into a message.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes))
    }
}
