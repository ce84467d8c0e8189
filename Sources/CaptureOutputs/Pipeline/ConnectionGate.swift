import CaptureCore
import CaptureSystem
import Synchronization

/// Keeps back what a disabled connection brings, while the file goes on: no frame, and silence in the place of sound.
///
/// Sound fades out and in, so that nothing clicks. Commands come on one thread, buffers on another. Thread-safe.
final class ConnectionGate: Sendable {
    /// What becomes of a frame.
    enum Passage: Equatable {
        /// It is left out; the picture before it stays.
        case withheld
        /// It goes into the file. `isAfterGap`: others were left out before it.
        case passes(isAfterGap: Bool)
    }

    /// How long sound fades, in nanoseconds.
    private static let fade = PauseClock.fade
    /// How many spans are kept that a stream has not passed. A stream passes them with its next buffer.
    private static let most = 1000

    /// When a connection was disabled, in nanoseconds of the monotonic clock; the last span may have no end yet.
    private struct Span {
        let start: Int64
        var end = Int64.max
    }

    private struct Stream {
        var spans: [Span] = []
        /// The end of all that was taken until now.
        var seen = Int64.min
        /// Pictures: whether one was left out since the last that passed.
        var isAfterGap = false
        /// Pictures: whether one was ever left out.
        var hasWithheld = false

        var isDisabled: Bool { spans.last?.end == .max }
    }

    private let streams: Mutex<[MediaType: Stream]>

    /// A gate whose streams pass, but for the given ones.
    init(disabled: Set<MediaType>) {
        let streams = disabled.map { ($0, Stream(spans: [Span(start: .min)])) }
        self.streams = Mutex(Dictionary(uniqueKeysWithValues: streams))
    }

    /// Lets a stream pass from a time on, or keeps it back. What was taken already stays as it is. A program that does so
    /// without end while a stream brings nothing leaves it disabled.
    func set(_ kind: MediaType, isEnabled: Bool, at time: Timestamp) {
        streams.withLock { streams in
            var stream = streams[kind] ?? Stream()
            guard isEnabled == stream.isDisabled else { return }
            if !isEnabled {
                // Sound that is to fade out must not be in the file yet.
                let soon = stream.seen == .min ? .min : stream.seen + (kind == .audio ? ConnectionGate.fade : 0)
                stream.spans.append(Span(start: max(time.nanoseconds, soon, stream.spans.last?.end ?? .min)))
            } else if stream.spans.count < ConnectionGate.most {
                let last = stream.spans.count - 1
                stream.spans[last].end = max(time.nanoseconds, stream.seen, stream.spans[last].start)
            }
            streams[kind] = stream
        }
    }

    /// Whether frames are left out from now on.
    var withholds: Bool { streams.withLock { $0[.video]?.isDisabled ?? false } }

    /// Whether a frame was left out.
    var hasWithheld: Bool { streams.withLock { $0[.video]?.hasWithheld ?? false } }

    /// What becomes of a frame.
    func look(at frame: MediaBuffer) -> Passage {
        let time = PauseClock.believable(frame.info.timestamp.nanoseconds)
        return streams.withLock { streams in
            guard var stream = streams[.video] else {
                streams[.video] = Stream(seen: ConnectionGate.sofar(time))
                return .passes(isAfterGap: false)
            }
            defer { streams[.video] = stream }
            stream.seen = max(stream.seen, ConnectionGate.sofar(time))
            // A stamp in the future passes nothing.
            let passed = ConnectionGate.sofar(time)
            stream.spans.removeAll { $0.end <= passed }
            guard !stream.spans.contains(where: { $0.start <= time && time < $0.end }) else {
                (stream.isAfterGap, stream.hasWithheld) = (true, true)
                return .withheld
            }
            defer { stream.isAfterGap = false }
            return .passes(isAfterGap: stream.isAfterGap)
        }
    }

    /// Silences what a buffer of sound has of spans in which its connection was disabled.
    func silence(_ buffer: MediaBuffer, _ format: AudioFormat) {
        let start = PauseClock.believable(buffer.info.timestamp.nanoseconds)
        let frames = Int64(buffer.count / format.bytesPerFrame)
        let end = start + frames * 1_000_000_000 / Int64(format.sampleRate)
        let spans = streams.withLock { streams -> [Span] in
            var stream = streams[.audio] ?? Stream()
            defer { streams[.audio] = stream }
            stream.seen = max(stream.seen, ConnectionGate.sofar(end))
            // The fade after its end belongs to a span.
            stream.spans.removeAll { $0.end < .max && $0.end + ConnectionGate.fade <= start }
            return stream.spans.filter { $0.start == .min || $0.start - ConnectionGate.fade < end }
        }
        if spans.isEmpty { return }
        unsafe SampleGain.apply(to: buffer.mutableBytes, format) { frame in
            let time = start + Int64(frame) * 1_000_000_000 / Int64(format.sampleRate)
            return spans.map { ConnectionGate.gain(at: time, beside: $0) }.min() ?? 1
        }
    }

    /// 0 in a span, and less than 1 shortly before it and after it.
    private static func gain(at time: Int64, beside span: Span) -> Double {
        if time < span.start { return Double(span.start - time) / Double(fade) }
        return time < span.end ? 0 : Double(time - span.end) / Double(fade)
    }

    /// A device whose clock is ahead delays no command.
    private static func sofar(_ time: Int64) -> Int64 { min(time, Timestamp.now.nanoseconds) }
}
