import CaptureCore
import MediaExamination

/// What is in a container: as written, and as far as it is flushed and survives a fault. Thread-bound.
struct WrittenMedia {
    /// Amounts of media.
    struct Amount {
        /// Pictures.
        var frames: UInt64 = 0
        /// Where the sound ends in the file, in nanoseconds.
        var soundEnd: Int64 = 0
        /// Where the last picture or sample ends in the file, in nanoseconds.
        var length: Int64 = 0
    }

    /// What is flushed.
    private(set) var kept = Amount()
    /// What is written.
    private(set) var written = Amount()

    /// Nanoseconds from the file's 0 to the end of what is written.
    var length: Int64 { written.length }

    /// Notes a packet that was written, at nanoseconds of the file.
    mutating func note(_ packet: EncodedPacket, from time: Int64, lasting duration: Int64) {
        let end = time + max(duration, 0)
        if packet.kind == .video { written.frames += 1 } else { written.soundEnd = max(written.soundEnd, end) }
        written.length = max(written.length, end)
    }

    /// Everything that was written is flushed.
    mutating func keep() { kept = written }
}
