import CaptureCore

/// What can be told of a compressed frame from a few of its bytes, without decoding and without allocation.
enum CompressedFrame {
    /// How far from the end of the data, fill left out, an EOI is looked for: some cameras write a few bytes after it.
    private static let trailer = 64

    /// The length of a whole JPEG, from its SOI through its EOI, without the fill or the few bytes that some cameras
    /// write behind it; `nil` when either marker is missing.
    ///
    /// Within the entropy-coded data a 0xff is always followed by a zero or a restart marker, so that the pair 0xff
    /// 0xd9 near the end is the EOI.
    static func lengthOfJPEG(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 4, unsafe bytes[0] == 0xff, unsafe bytes[1] == 0xd8 else { return nil }
        var end = bytes.count
        while end > 4, unsafe bytes[end - 1] == 0 || bytes[end - 1] == 0xff { end -= 1 }
        var index = end - 1
        let least = max(3, end - trailer)
        while index >= least {
            if unsafe bytes[index] == 0xd9, unsafe bytes[index - 1] == 0xff { return index + 1 }
            index -= 1
        }
        return nil
    }

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
