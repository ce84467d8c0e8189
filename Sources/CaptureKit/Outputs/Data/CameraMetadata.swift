public import CaptureCore

/// The metadata of one frame of a camera. A value of its own memory; thread-safe.
public struct CameraMetadata: Hashable, Sendable {
    /// When the frame was captured, on the clock that frames have. A USB camera's metadata has the very time of its frame.
    public let time: Timestamp
    /// The number of the frame, as `VideoFrame/sequence` has it; `nil` if it is not known.
    public let frame: UInt64?
    /// The node's own count of buffers, lost ones included.
    public let sequence: UInt64
    /// The driver's format, such as `UVCH`.
    public let format: PixelFormat
    /// The bytes as they came from the driver, at least one. Camera and driver can put anything into them.
    public let bytes: [UInt8]

    /// The metadata of the given parts.
    public init(time: Timestamp, frame: UInt64?, sequence: UInt64, format: PixelFormat, bytes: [UInt8]) {
        self.time = time
        self.frame = frame
        self.sequence = sequence
        self.format = format
        self.bytes = bytes
    }

    /// The blocks of a USB camera's metadata, in their order; `nil` for a format that is not known.
    ///
    /// A block that is cut short, or that says it is longer than what is there, ends the list.
    public var uvcBlocks: [UVCMetadataBlock]? {
        switch format {
        case .uvcHeaders: UVCMetadataBlock.blocks(in: bytes, hasMakersPart: false)
        case .uvcD4XX, .uvcMicrosoft: UVCMetadataBlock.blocks(in: bytes, hasMakersPart: true)
        default: nil
        }
    }
}

/// The header of one USB payload of a frame, with when it arrived: `struct uvc_meta_buf` of linux/uvcvideo.h.
public struct UVCMetadataBlock: Hashable, Sendable {
    /// When the payload arrived, in nanoseconds of the clock that the driver uses: CLOCK_MONOTONIC, unless its parameter
    /// `clock` says otherwise.
    public let hostTime: UInt64
    /// The host's number of the bus frame in which it arrived: SOF, a count of milliseconds.
    public let hostFrame: UInt16
    /// The bits of the payload header. The lowest one toggles with each frame.
    public let flags: UInt8
    /// When the frame was captured, on the camera's clock: PTS. `nil` if the payload has none.
    public let presentationTime: UInt32?
    /// The camera's clock when the payload was sent: STC of the source clock reference. `nil` if the payload has none.
    public let cameraClock: UInt32?
    /// The camera's number of the bus frame at that time; `nil` if the payload has none.
    public let cameraFrame: UInt16?
    /// The maker's bytes behind the header; empty in the format `UVCH`.
    public let makersPart: [UInt8]

    /// Whether the payload is the last of its frame: `UVC_STREAM_EOF`.
    public var isLastOfFrame: Bool { flags & 0x02 != 0 }
    /// Whether the camera reports an error: `UVC_STREAM_ERR`.
    public var hasError: Bool { flags & 0x40 != 0 }

    /// The items in `makersPart`, if all of it consists of items as Microsoft's extensions to UVC have them; `nil` if not.
    public var items: [UVCMetadataItem]? {
        var items: [UVCMetadataItem] = []
        var rest = makersPart[...]
        while !rest.isEmpty {
            guard let id = UInt32(littleEndian: rest), let size = UInt32(littleEndian: rest.dropFirst(4)),
                size >= 8, size <= rest.count
            else { return nil }
            items.append(UVCMetadataItem(id: id, bytes: Array(rest.prefix(Int(size)).dropFirst(8))))
            rest = rest.dropFirst(Int(size))
        }
        return items
    }

    /// Bytes of `ns`, `sof`, `length` and `flags`.
    private static let headSize = 12

    /// Reads the blocks of a buffer.
    ///
    /// - Parameter hasMakersPart: Whether all of the payload header is there. If not, the driver kept what the standard
    ///   has, although `length` counts all.
    static func blocks(in bytes: [UInt8], hasMakersPart: Bool) -> [UVCMetadataBlock] {
        var blocks: [UVCMetadataBlock] = []
        var rest = bytes[...]
        while let hostTime = UInt64(littleEndian: rest), let hostFrame = UInt16(littleEndian: rest.dropFirst(8)),
            rest.count >= headSize
        {
            let (length, flags) = (Int(rest[rest.startIndex + 10]), rest[rest.startIndex + 11])
            let hasTime = flags & 0x04 != 0
            let hasClock = flags & 0x08 != 0
            let standard = (hasTime ? 4 : 0) + (hasClock ? 6 : 0)
            // `length` counts itself and the flags.
            let stored = hasMakersPart ? length - 2 : standard
            guard length - 2 >= standard, stored <= rest.count - headSize else { break }
            let body = rest.dropFirst(headSize).prefix(stored)
            let clock = body.dropFirst(hasTime ? 4 : 0)
            blocks.append(
                UVCMetadataBlock(
                    hostTime: hostTime,
                    hostFrame: hostFrame,
                    flags: flags,
                    presentationTime: hasTime ? UInt32(littleEndian: body) : nil,
                    cameraClock: hasClock ? UInt32(littleEndian: clock) : nil,
                    cameraFrame: hasClock ? UInt16(littleEndian: clock.dropFirst(4)) : nil,
                    makersPart: Array(body.dropFirst(standard))
                )
            )
            rest = rest.dropFirst(headSize + stored)
        }
        return blocks
    }
}

/// An item of metadata as Microsoft's extensions to UVC have it.
public struct UVCMetadataItem: Hashable, Sendable {
    /// Which kind it is, such as 3 for statistics of the capture; from 0x80000000 on it is the maker's own.
    public let id: UInt32
    /// The item without its id and size.
    public let bytes: [UInt8]
}

extension FixedWidthInteger {
    /// The number in the first bytes; `nil` if there are too few.
    fileprivate init?(littleEndian bytes: ArraySlice<UInt8>) {
        let size = Self.bitWidth / 8
        guard bytes.count >= size else { return nil }
        self = bytes.prefix(size).reversed().reduce(0) { $0 << 8 | Self($1) }
    }
}
