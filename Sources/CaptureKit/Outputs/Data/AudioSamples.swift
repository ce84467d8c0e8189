public import CaptureCore
import CaptureRing

/// A stretch of a microphone's sound.
///
/// Sound that already is as the output's settings ask is not copied, and neither is that of an output without settings:
/// `isIntact` says after use whether it was whole. Converted sound, and what a synchronizer hands over, stays as it is.
/// A program can hold 256 periods of those of each output. Thread-safe.
public struct AudioSamples: Sendable {
    /// The format of these samples, which may differ from that of the ones before; its period is the most there can be.
    public let format: AudioFormat
    /// When the first sample was captured.
    public let time: Timestamp
    /// Sample frames since the start of the stream, in the format's rate, to the first of these.
    public let position: UInt64
    /// Sample frames: a sample of each channel.
    public let frameCount: Int
    /// Whether these samples were never captured: silence in the place of something lost.
    public let isSilence: Bool
    private let place: DataPlace
    private let start: Int

    init(
        _ place: DataPlace,
        _ format: AudioFormat,
        frames: Range<Int>,
        time: Timestamp,
        position: UInt64,
        isSilence: Bool
    ) {
        self.place = place
        self.format = format
        self.time = time
        self.position = position
        self.isSilence = isSilence
        start = frames.lowerBound
        frameCount = frames.count
    }

    /// The interleaved samples. Valid as long as these samples are held.
    public var bytes: UnsafeRawBufferPointer {
        let all = unsafe place.plane(0, offset: 0, (start + frameCount) * format.bytesPerFrame)
        return unsafe UnsafeRawBufferPointer(rebasing: all.dropFirst(start * format.bytesPerFrame))
    }

    /// Whether the samples are still those that were captured. Asked after use.
    public var isIntact: Bool { place.isIntact }

    /// How long it lasts, in nanoseconds.
    public var duration: Int64 { Int64(frameCount) * 1_000_000_000 / Int64(format.sampleRate) }

    /// Some of its sample frames, in the same memory.
    func part(_ frames: Range<Int>) -> AudioSamples {
        AudioSamples(
            place,
            format,
            frames: start + frames.lowerBound..<start + frames.upperBound,
            time: time.advanced(by: Int64(frames.lowerBound) * 1_000_000_000 / Int64(format.sampleRate)),
            position: position &+ UInt64(frames.lowerBound),
            isSilence: isSilence
        )
    }
}
