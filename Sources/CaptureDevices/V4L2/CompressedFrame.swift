import CaptureCore

/// What can be told of a compressed frame from a few of its bytes, without decoding and without allocation.
enum CompressedFrame {
    /// Whether an H.264 or H.265 access unit with start codes can be decoded by itself: what its first slice is.
    static func isKeyframe(_ bytes: UnsafeRawBufferPointer, _ format: PixelFormat) -> Bool {
        let isH265 = format == .hevc
        var index = 0
        while index + 3 < bytes.count {
            guard unsafe bytes[index] == 0, unsafe bytes[index + 1] == 0, unsafe bytes[index + 2] == 1 else {
                index += 1
                continue
            }
            let header = unsafe bytes[index + 3]
            if isH265 {
                let type = header >> 1 & 0x3f
                if type < 32 { return (16...21).contains(type) }
            } else {
                let type = header & 0x1f
                if (1...5).contains(type) { return type == 5 }
            }
            index += 4
        }
        return false
    }
}
