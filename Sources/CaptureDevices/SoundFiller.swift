import CaptureCore
import Glibc

/// Puts silence in the place of sound that was lost, so that what follows stays where it belongs.
///
/// A loss longer than half the ring is not filled whole, which would push everything else out of it: the position jumps
/// over its first part, `lostBefore` says how far, and readers put the silence there themselves. Thread-bound, allocates
/// nothing.
struct SoundFiller {
    /// Made once: the literal of a set allocates where it is not optimized away.
    private static let flags: BufferFlags = [.keyframe, .monotonic, .silence, .discontinuity]

    let format: AudioFormat
    let sink: any MediaSink

    /// Publishes silence and counts the loss.
    ///
    /// - Parameters:
    ///   - position: The first lost sample frame; afterwards the first one behind the loss.
    ///   - sequence: The count of periods; afterwards behind those published.
    ///   - frames: How many sample frames were lost.
    ///   - cause: Why they were lost.
    ///   - skipped: Sample frames that were lost without a slot and not yet reported.
    ///   - time: The time of a sample frame.
    func fill(
        position: inout UInt64,
        sequence: inout UInt64,
        frames: Int64,
        cause: DropCause = .overrun,
        skipped: inout UInt32,
        time: (UInt64) -> Timestamp
    ) {
        guard frames > 0 else { return }
        let period = Int64(format.periodFrames)
        sink.count(cause, UInt64((frames + period - 1) / period))
        var rest = frames
        let most = Int64(max(sink.slotCount / 2, 1)) * period
        if rest > most {
            skipped &+= UInt32(clamping: rest - most)
            position += UInt64(rest - most)
            rest = most
        }
        while rest > 0 {
            let count = min(rest, period)
            if let slot = sink.claim() {
                let bytes = Int(count) * format.bytesPerFrame
                unsafe sink.memory(ofSlot: slot).clear(bytes)
                sink.publish(
                    slot,
                    BufferInfo(
                        timestamp: time(position),
                        deviceSequence: sequence,
                        position: position,
                        bytesUsed: (bytes, 0, 0, 0),
                        flags: Self.flags,
                        lostBefore: skipped
                    )
                )
                skipped = 0
            } else {
                sink.count(.noSlot, 1)
                skipped &+= UInt32(clamping: count)
            }
            sequence += 1
            position += UInt64(count)
            rest -= count
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Writes zeros over the first bytes.
    func clear(_ bytes: Int) {
        guard let start = baseAddress else { return }
        unsafe memset(start, 0, Swift.min(bytes, count))
    }
}
