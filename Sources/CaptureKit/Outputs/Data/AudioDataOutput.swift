public import CaptureCore
import CaptureRing
import MediaConversion
import Synchronization

/// The format that an `AudioDataOutput` converts sound to. A value of `nil` leaves the microphone's.
///
/// There is one exception: samples of 24 bits in three bytes become S32_LE if something else is converted.
public struct AudioSettings: Hashable, Sendable {
    /// How a sample is stored: `s16`, `s32` or `float32`.
    public let sampleFormat: SampleFormat?
    /// Sample frames a second, 1000 to 768000.
    public let sampleRate: Int?
    /// Samples in a sample frame, 1 to 8. More or fewer than the microphone has are mixed.
    public let channels: Int?

    /// Settings for sound.
    ///
    /// - Parameters:
    ///   - sampleFormat: `s16`, `s32` or `float32`; `s24Packed`, 24 bits in three bytes, cannot be asked for.
    ///   - sampleRate: Sample frames a second, 1000 to 768000.
    ///   - channels: Samples in a sample frame, 1 to 8.
    /// - Throws: `CaptureError.Code.usage` naming the value that cannot be asked for.
    public init(
        sampleFormat: SampleFormat? = nil,
        sampleRate: Int? = nil,
        channels: Int? = nil
    ) throws(CaptureError) {
        if sampleFormat == .s24Packed {
            throw CaptureError(.usage, "sound cannot be converted to S24_3LE; choose S16_LE, S32_LE or FLOAT_LE")
        }
        if let sampleRate, !(1000...768_000).contains(sampleRate) {
            throw CaptureError(.usage, "a sample rate of \(sampleRate) is out of range: 1000 to 768000")
        }
        if let channels, !(1...8).contains(channels) {
            throw CaptureError(.usage, "\(channels) channels are out of range: 1 to 8")
        }
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// The microphone's sound as it is.
    public static let microphone = AudioSettings()

    private init() {
        (sampleFormat, sampleRate, channels) = (nil, nil, nil)
    }

    /// Makes a converter for a microphone's sound; `nil` if it is as it is asked for.
    func converter(from source: AudioFormat) throws(CaptureError) -> SoundConverter? {
        let isSame =
            (sampleFormat ?? source.sampleFormat) == source.sampleFormat
            && (sampleRate ?? source.sampleRate) == source.sampleRate
            && (channels ?? source.channels) == source.channels
        if isSame { return nil }
        return try SoundConverter(
            source,
            to: sampleFormat ?? (source.sampleFormat == .s24Packed ? .s32 : source.sampleFormat),
            rate: sampleRate ?? source.sampleRate,
            channels: channels ?? source.channels
        )
    }
}

/// Hands a microphone's sound to a handler, converted if that is asked for: every period of samples, in order.
///
/// Sound that already is as `settings` asks stays in the source's shared memory and is not copied: see
/// `AudioSamples/isIntact`. Thread-safe.
public final class AudioDataOutput: DataOutput, @unchecked Sendable {
    /// Takes what comes, on the output's own thread, one event after the other. `ended` may come on another thread if
    /// reading could not begin.
    public typealias Handler = @Sendable (DataOutputEvent<AudioSamples>) -> Void

    /// The format to convert sound to.
    public let settings: AudioSettings
    private let handler: Mutex<(call: Handler, isKept: Bool)?>

    /// An output.
    ///
    /// - Parameters:
    ///   - name: The name in the session.
    ///   - settings: The format to convert sound to. If the microphone's format cannot be converted, the output ends with
    ///     `CaptureError.Code.noSuchFormat` at its first period.
    ///   - handler: Takes what comes; without one, the output waits for a `DataOutputSynchronizer`.
    public init(name: String = "audio-data", settings: AudioSettings = .microphone, handler: Handler? = nil) {
        self.settings = settings
        self.handler = Mutex(handler.map { ($0, false) })
        super.init(.audio, name: name)
    }

    /// Gives an output without a handler one that may hold samples.
    func keep(_ handler: @escaping Handler) { self.handler.withLock { $0 = (handler, true) } }

    override func forgetHandler() {
        // What the handler captured goes outside of the lock.
        _ = handler.withLock { $0.take() }
    }

    override func makeHandling() -> sending (any BufferHandling)? {
        guard let (call, isKept) = handler.withLock({ $0 }) else { return nil }
        return AudioHandling(name, call, settings, isKept: isKept)
    }
}

/// What a sound output's thread does with each buffer.
private final class AudioHandling: DataHandling<AudioSamples>, BufferHandling {
    /// Periods of its own memory that a program can hold.
    private static let mostHeld = 256
    /// How much of a synchronizer's sound waits at most, in nanoseconds: to be put together, in sets that are ready, and
    /// in one that is handled.
    private static let mostWaiting =
        AlignmentLimits.sound(AlignmentLimits.longestFrame) + AlignmentLimits.longestFrame
        * Int64(AlignmentLimits.ready(AlignmentLimits.longestFrame) + 1)

    private let settings: AudioSettings
    private let isKept: Bool
    private var source: AudioFormat?
    private var converter: SoundConverter?
    private var store: DataStore?
    /// The position that follows the last sample that came in, and the next that goes out.
    private var next: (input: UInt64, output: UInt64)?

    init(_ name: String, _ handler: @escaping AudioDataOutput.Handler, _ settings: AudioSettings, isKept: Bool) {
        self.settings = settings
        self.isKept = isKept
        super.init(name, handler)
    }

    func take(_ buffer: RingBuffer, of format: MediaFormat) throws(CaptureError) -> Bool {
        guard case .audio(let audio) = format else {
            throw CaptureError(.badData, "cannot read sound from '\(name)': its shared memory contains video")
        }
        if audio != source { try prepare(audio) }
        let bytes = unsafe buffer.plane(0)
        let frames = bytes.count / audio.bytesPerFrame
        // The source counts sample frames.
        let period = UInt64(max(audio.periodFrames, 1))
        let lost = losses.before(buffer, at: buffer.info.position, length: UInt64(frames), missed: period)
        if lost > 0 { lose((lost - 1) / period + 1, .device) }
        guard frames > 0 else {
            lose(1, .damaged)
            return false
        }
        guard store != nil else {
            give(.ring(buffer), audio, frames, buffer, buffer.info.position)
            return true
        }
        guard let data = store?.take() else {
            lose(1, .outOfMemory)
            return false
        }
        if let converter { return try convert(buffer, frames, audio, converter, data) }
        unsafe data.bytes.copyMemory(from: bytes)
        guard buffer.isIntact else { return true }
        give(.own(data), audio, frames, buffer, buffer.info.position)
        return false
    }

    private func prepare(_ audio: AudioFormat) throws(CaptureError) {
        converter = try settings.converter(from: audio)
        if isKept || converter != nil {
            let period = max(Int64(audio.periodFrames) * 1_000_000_000 / Int64(audio.sampleRate), 1_000_000)
            store = DataStore(
                capacity: converter?.format.periodBytes ?? audio.periodBytes,
                most: AudioHandling.mostHeld + (isKept ? Int(AudioHandling.mostWaiting / period) : 0)
            )
        } else {
            store = nil
        }
        (source, next) = (audio, nil)
    }

    private func convert(
        _ buffer: RingBuffer,
        _ frames: Int,
        _ audio: AudioFormat,
        _ converter: SoundConverter,
        _ data: StoredData
    ) throws(CaptureError) -> Bool {
        let position = buffer.info.position
        let scaled = Double(position) * Double(converter.format.sampleRate) / Double(audio.sampleRate)
        if next?.input != position { try converter.reset() }
        var output = UInt64(exactly: scaled.rounded()) ?? 0
        if let next, next.input == position { output = next.output }
        let delay = converter.delay
        let count = try unsafe converter.convert(buffer.plane(0), into: data.bytes)
        next = (position &+ UInt64(frames), output &+ UInt64(count))
        guard buffer.isIntact else {
            // What is in the resampler is worth nothing, either.
            next = nil
            return true
        }
        if count > 0 { give(.own(data), converter.format, count, buffer, output, earlier: delay) }
        return false
    }

    private func give(
        _ place: DataPlace,
        _ format: AudioFormat,
        _ frames: Int,
        _ buffer: RingBuffer,
        _ position: UInt64,
        earlier: Int64 = 0
    ) {
        let samples = AudioSamples(
            place,
            format,
            frames: 0..<frames,
            time: buffer.info.timestamp.advanced(by: -earlier),
            position: position,
            isSilence: buffer.info.flags.contains(.silence)
        )
        handler(.data(samples))
    }
}
