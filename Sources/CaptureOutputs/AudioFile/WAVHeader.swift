import CaptureCore

/// The header of a WAV file: RIFF, room for the 64-bit sizes of RF64 (EBU Tech 3306), `fmt `, `fact` where samples are no
/// integers, what it says of its making (`bext`, EBU Tech 3285, and the `INFO` list), `data`. Of one size whatever the file
/// holds.
///
/// Rewritten as the file grows, so that a file that breaks off is playable; past 4 GiB it becomes RF64 in place.
struct WAVHeader: Sendable {
    private let format: AudioFormat
    /// What it says of its making.
    var facts: FileFacts { didSet { making = chunksOfMaking } }
    /// The chunks that say it, which are the same whatever the file holds.
    private var making: [UInt8] = []

    /// The header of sound of `format`.
    init(_ format: AudioFormat, _ facts: FileFacts) {
        self.format = format
        self.facts = facts
        making = chunksOfMaking
    }

    /// Bytes before the first sample.
    var size: Int { bytes(data: 0).count }

    /// The header of a file with so many bytes of samples.
    ///
    /// - Parameter data: Bytes of samples; `nil` where nobody can know, as in a pipe: the largest number then stands for
    ///   "to the end".
    func bytes(data: Int64?) -> [UInt8] {
        let frames = (data ?? 0) / Int64(max(format.bytesPerFrame, 1))
        var body = chunk("fmt ", description)
        if format.sampleFormat == .float32 {
            var count: [UInt8] = []
            count.little(data == nil ? UInt32.max : UInt32(clamping: frames))
            body += chunk("fact", count)
        }
        body += making
        // "WAVE", the room for sizes, the body, and the head of "data".
        let total = Int64(4 + 36 + body.count + 8) + (data ?? 0) + ((data ?? 0) & 1)
        let isLong = data != nil && total > Int64(UInt32.max)
        var sizes: [UInt8] = []
        sizes.little(isLong ? UInt64(total) : 0)
        sizes.little(isLong ? UInt64(data ?? 0) : 0)
        sizes.little(isLong ? UInt64(frames) : 0)
        sizes.little(UInt32(0))
        var header = Array((isLong ? "RF64" : "RIFF").utf8)
        header.little(data == nil || isLong ? UInt32.max : UInt32(total))
        header += Array("WAVE".utf8) + chunk(isLong ? "ds64" : "JUNK", sizes) + body + Array("data".utf8)
        header.little(data == nil || isLong ? UInt32.max : UInt32(data ?? 0))
        return header
    }

    private var chunksOfMaking: [UInt8] {
        chunk("bext", broadcast) + chunk("LIST", Array("INFO".utf8) + info)
    }

    private func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        var chunk = Array(name.utf8)
        chunk.little(UInt32(clamping: body.count))
        return chunk + body + (body.count & 1 == 1 ? [0] : [])
    }

    /// Version 1 of the broadcast extension: the device, the program, and the local time to the second.
    private var broadcast: [UInt8] {
        func field(_ text: String, _ size: Int) -> [UInt8] {
            let letters = Array(text.utf8.prefix(size))
            return letters + [UInt8](repeating: 0, count: size - letters.count)
        }
        var body = field(facts.origin.microphone, 256) + field(facts.program, 32) + field("", 32)
        body += field(facts.date.local("%Y-%m-%d"), 10) + field(facts.date.local("%H:%M:%S"), 8)
        // Samples since midnight.
        let clock = facts.date.local("%H %M %S").split(separator: " ").map { Int64($0) ?? 0 }
        let seconds = clock.reduce(0) { $0 * 60 + $1 }
        let rate = Int64(format.sampleRate)
        body.little(UInt64(clamping: seconds * rate + facts.date.nanoseconds * rate / 1_000_000_000))
        body.little(UInt16(1))
        return body + [UInt8](repeating: 0, count: 64 + 190)
    }

    /// What more programs read: the date with its zone, the program, the device, and what the program says.
    private var info: [UInt8] {
        let names: [(FileTag, String)] = [
            (.title, "INAM"), (.description, "ISBJ"), (.author, "IART"), (.copyright, "ICOP"), (.comment, "ICMT"),
        ]
        let own = [("ICRD", facts.date.iso), ("ISFT", facts.program), ("ISRC", facts.origin.microphone)]
        return (own + names.map { ($0.1, facts.tags[$0.0] ?? "") }).filter { !$0.1.isEmpty }
            .flatMap { chunk($0.0, Array($0.1.utf8) + [0]) }
    }

    /// Whether every program knows such samples: 16 bits, one or two channels.
    private var isPlain: Bool { format.sampleFormat == .s16 && format.channels <= 2 }

    /// Plain PCM, or WAVE_FORMAT_EXTENSIBLE, which says how samples of any width and channels of any number are meant.
    private var description: [UInt8] {
        var body: [UInt8] = []
        body.little(UInt16(isPlain ? 1 : 0xfffe))
        body.little(UInt16(clamping: format.channels))
        body.little(UInt32(clamping: format.sampleRate))
        body.little(UInt32(clamping: format.sampleRate * format.bytesPerFrame))
        body.little(UInt16(clamping: format.bytesPerFrame))
        body.little(UInt16(format.sampleFormat.bytes * 8))
        if isPlain { return body }
        body.little(UInt16(22))
        body.little(UInt16(format.sampleFormat.bytes * 8))
        body.little(channelMask)
        body.little(UInt32(format.sampleFormat == .float32 ? 3 : 1))
        return body + [0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71]
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
