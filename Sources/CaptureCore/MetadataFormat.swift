/// The format of the metadata of a camera's frames.
public struct MetadataFormat: Hashable, Sendable {
    /// The driver's four-character code, such as `UVCH` (V4L2_META_FMT_UVC) or `D4XX`.
    public var code: PixelFormat
    /// Bytes that a buffer has at most, 1 to `mostBytes`.
    public var capacity: Int

    /// The most bytes that a buffer may have: a driver that asks for more is not believed.
    public static let mostBytes = 1 << 20

    /// A format of the given properties.
    public init(code: PixelFormat, capacity: Int) {
        self.code = code
        self.capacity = capacity
    }
}

extension MetadataFormat: CustomStringConvertible {
    /// As in `UVCH, at most 10240 bytes`.
    public var description: String { "\(code), at most \(capacity) bytes" }
}

extension PixelFormat {
    /// Metadata of a USB camera: the headers of its payloads, without what the maker adds.
    public static let uvcHeaders = PixelFormat(rawValue: 0x4843_5655)
    /// Metadata of a USB camera with what its maker adds, as Intel's depth cameras have it.
    public static let uvcD4XX = PixelFormat(rawValue: 0x5858_3444)
    /// Metadata of a USB camera with Microsoft's standard items.
    public static let uvcMicrosoft = PixelFormat(rawValue: 0x4d43_5655)
}

/// The metadata that a camera offers. Its driver has a node of its own for it.
public struct DeviceMetadata: Hashable, Sendable {
    /// The node, as `/dev/video1`; empty for a camera without nodes.
    public var node: String
    /// The formats that the driver offers, the one that is delivered first; not empty.
    public var formats: [PixelFormat]

    /// Metadata of the given properties.
    public init(node: String, formats: [PixelFormat]) {
        self.node = node
        self.formats = formats
    }
}
