import CaptureCore

/// The header of a WAV file, 80 bytes always: RIFF, room for the 64-bit sizes of RF64 (EBU Tech 3306), `fmt `, `data`.
///
/// Rewritten as the file grows, so that a file that breaks off is playable; past 4 GiB it becomes RF64 in place.
struct WAVHeader: Sendable {
    /// Bytes before the first sample.
    static let size = 104
    private let format: AudioFormat

    /// The header of sound of `format`.
    init(_ format: AudioFormat) {
        self.format = format
    }

    /// The header of a file with so many bytes of samples.
    ///
    /// - Parameter data: Bytes of samples; `nil` where nobody can know, as in a pipe: the largest number then stands for
    ///   "to the end".
    func bytes(data: Int64?) -> [UInt8] {
        let frames = (data ?? 0) / Int64(max(format.bytesPerFrame, 1))
        let total = Int64(WAVHeader.size - 8) + (data ?? 0) + ((data ?? 0) & 1)
        let isLong = data != nil && total > Int64(UInt32.max)
        var header: [UInt8] = []
        header += Array((isLong ? "RF64" : "RIFF").utf8)
        header.little(data == nil || isLong ? UInt32.max : UInt32(total))
        header += Array("WAVE".utf8)
        header += Array((isLong ? "ds64" : "JUNK").utf8)
        header.little(UInt32(28))
        header.little(isLong ? UInt64(total) : 0)
        header.little(isLong ? UInt64(data ?? 0) : 0)
        header.little(isLong ? UInt64(frames) : 0)
        header.little(UInt32(0))
        // WAVE_FORMAT_EXTENSIBLE says how samples of any width and channels of any number are meant.
        header += Array("fmt ".utf8)
        header.little(UInt32(40))
        header.little(UInt16(0xfffe))
        header.little(UInt16(clamping: format.channels))
        header.little(UInt32(clamping: format.sampleRate))
        header.little(UInt32(clamping: format.sampleRate * format.bytesPerFrame))
        header.little(UInt16(clamping: format.bytesPerFrame))
        header.little(UInt16(format.sampleFormat.bytes * 8))
        header.little(UInt16(22))
        header.little(UInt16(format.sampleFormat.bytes * 8))
        header.little(channelMask)
        header.little(UInt32(format.sampleFormat == .float32 ? 3 : 1))
        header += [0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71]
        header += Array("data".utf8)
        header.little(data == nil || isLong ? UInt32.max : UInt32(data ?? 0))
        return header
    }

    /// Front centre, front left and right, 5.1, 7.1; none for others.
    private var channelMask: UInt32 {
        switch format.channels {
        case 1: 0x4
        case 2: 0x3
        case 4: 0x33
        case 6: 0x3f
        case 8: 0x63f
        default: 0
        }
    }
}

extension [UInt8] {
    /// Appends a number, its lowest byte first.
    fileprivate mutating func little<Number: UnsignedInteger & FixedWidthInteger>(_ number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
