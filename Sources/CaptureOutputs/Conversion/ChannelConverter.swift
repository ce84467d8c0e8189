import CaptureCore
import CaptureRing
import MediaConversion

/// Takes some channels of sound, in the order that is wanted. Thread-bound.
final class ChannelConverter: BufferConverter {
    private let format: AudioFormat
    private let channels: [Int]

    var capacity: Int { format.sampleFormat.bytes * channels.count * format.periodFrames }

    /// A converter of sound of `format`.
    init(_ format: AudioFormat, _ channels: [Int]) {
        self.format = format
        self.channels = channels
    }

    func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        let bytes = unsafe buffer.plane(0)
        let width = format.sampleFormat.bytes
        let frames = bytes.count / format.bytesPerFrame
        guard frames > 0, frames * channels.count * width <= memory.count else { return nil }
        var at = 0
        for frame in 0..<frames {
            for channel in channels {
                let from = frame * format.bytesPerFrame + channel * width
                for byte in 0..<width { unsafe memory[at + byte] = bytes[from + byte] }
                at += width
            }
        }
        return at
    }
}

extension AudioFormat {
    /// The format of some of its channels; of all if none is named.
    ///
    /// - Throws: `invalidArgument` for a channel that it does not have.
    func taking(_ chosen: [Int]) throws(CaptureError) -> AudioFormat {
        if chosen.isEmpty { return self }
        if chosen.contains(where: { $0 >= channels }) {
            let count = channels == 1 ? "one channel" : "\(channels) channels"
            throw CaptureError(
                .invalidArgument,
                "the microphone has only \(count), fewer than were chosen: it delivers \(self)"
            )
        }
        var format = self
        format.channels = chosen.count
        return format
    }
}
