import CaptureCore
import CaptureSystem
import MediaConversion
import Synchronization

/// Cuts the pauses of a recording out of its streams, so that the file's timeline closes up.
///
/// Sound is cut to the sample, and fades out and in, so that the cut does not click. A frame is kept or left out. A pause
/// is the same stretch of time for both, so they stay together. Commands come on one thread, buffers on another.
/// Thread-safe.
final class PauseClock: Sendable {
    /// How long sound fades, in nanoseconds.
    static let fade: Int64 = 5_000_000
    /// How many pauses are kept that every stream has passed: what a program tells may be of a time before them.
    static let remembered = 64
    /// How many pauses are kept that a stream has not passed. A stream passes them with its next buffer.
    static let most = 1000
    /// Times and positions from a ring, which can say anything, can be added to within this range.
    private static let believed: ClosedRange<Int64> = -(1 << 61)...1 << 61

    /// A pause, in nanoseconds of the monotonic clock; the last one may have no end yet.
    fileprivate struct Pause {
        let start: Int64
        var end = Int64.max
    }

    /// How far a stream is.
    fileprivate struct Place {
        /// Pauses that lie before what comes next.
        var passed = 0
        /// Nanoseconds that were cut until now.
        var cut: Int64 = 0
        /// When the last of them ended.
        var lastEnd: Int64?
        /// Pictures: whether one was left out since the last that was kept.
        var isAfterCut = false
        /// Sound: sample frames that were cut until now.
        var samples: Int64 = 0
        /// Sound: where the stream was last, in sample frames.
        var position: Int64 = .min
        /// Sound: the end of what was kept last.
        var kept: Kept?
        /// Sound: whether a slow reader has lost some since then.
        var hasLost = false
    }

    /// Where a stretch of sound that was kept ended.
    fileprivate struct Kept {
        /// In sample frames of the stream.
        let position: Int64
        /// In nanoseconds.
        let time: Int64
        /// The nanoseconds that were cut before it.
        let cut: Int64
    }

    fileprivate struct State {
        /// Those that a stream has not passed yet, and the last ones before them.
        var pauses: [Pause] = []
        /// Nanoseconds of the others.
        var past: Int64 = 0
        /// The end of all that was taken until now, kept or not.
        var seen = Int64.min
        var video: Place?
        var audio: Place?
    }

    private let format: AudioFormat?
    private let state: Mutex<State>

    /// A clock of a recording that is not paused.
    ///
    /// - Parameters:
    ///   - hasVideo: Whether it has pictures.
    ///   - audio: The sound's format; `nil` without sound.
    init(hasVideo: Bool, audio: AudioFormat?) {
        format = audio
        state = Mutex(State(video: hasVideo ? Place() : nil, audio: audio == nil ? nil : Place()))
    }

    // MARK: Commands

    /// Whether it is paused.
    var isPaused: Bool { state.withLock { $0.pauses.last?.end == .max } }

    /// Begins a pause, unless there is one. What was taken already stays.
    func pause(at time: Timestamp) {
        state.withLock { state in
            if state.pauses.last?.end == .max { return }
            let after = state.pauses.last?.end ?? .min
            state.pauses.append(Pause(start: max(time.nanoseconds, state.soon, after)))
        }
    }

    /// Ends the pause, if there is one. What was left out already does not come back. A program that pauses without end
    /// while a stream brings nothing stays paused.
    func resume(at time: Timestamp) {
        state.withLock { state in
            guard let last = state.pauses.last, last.end == .max, state.pauses.count < PauseClock.most else { return }
            state.pauses[state.pauses.count - 1].end = max(time.nanoseconds, state.seen, last.start)
        }
    }

    /// Nanoseconds of pauses until a time, one that goes on included.
    func length(until time: Timestamp) -> Int64 {
        state.withLock { state in
            state.pauses.reduce(state.past) { $0 + max(min($1.end, time.nanoseconds), $1.start) - $1.start }
        }
    }

    /// Whether a time lies in a pause.
    func contains(_ time: Timestamp) -> Bool {
        state.withLock { $0.pauses.contains { ($0.start..<$0.end).contains(time.nanoseconds) } }
    }

    // MARK: Buffers

    /// Passes on a frame at its place in the file, unless it belongs to a pause.
    func take(video buffer: MediaBuffer, _ give: (MediaBuffer) throws(CaptureError) -> Void) throws(CaptureError) {
        let time = PauseClock.believable(buffer.info.timestamp.nanoseconds)
        let place = state.withLock { state -> Place? in
            state.saw(time + 1)
            guard var place = state.video else { return nil }
            place.pass(state.pauses, until: time)
            let isLeftOut = place.passed < state.pauses.count && state.pauses[place.passed].start <= time
            let wasCut = place.isAfterCut
            place.isAfterCut = isLeftOut
            state.video = place
            state.forgetPassed()
            place.isAfterCut = wasCut
            return isLeftOut ? nil : place
        }
        guard let place else { return }
        buffer.move(by: -place.cut, samples: 0, isAfterCut: place.isAfterCut)
        try give(buffer)
    }

    /// Passes on what a buffer of sound has that does not belong to a pause, at its place in the file.
    func take(audio buffer: MediaBuffer, _ give: (MediaBuffer) throws(CaptureError) -> Void) throws(CaptureError) {
        guard let format else { return }
        let count = buffer.count / format.bytesPerFrame
        let start = PauseClock.believable(buffer.info.timestamp.nanoseconds)
        let position = PauseClock.believable(Int64(clamping: buffer.info.position))
        let (pauses, before) = state.withLock { state in
            state.saw(start + format.duration(of: Int64(count)))
            return (state.pauses, state.audio)
        }
        guard var place = before else { return }
        defer {
            state.withLock { [place] state in
                state.audio = place
                state.forgetPassed()
            }
        }
        // A device that was restarted counts anew, and time alone tells the place.
        if position < place.position { (place.samples, place.kept) = (0, nil) }
        place.position = position + Int64(count)
        if buffer.lostBefore > 0 { place.hasLost = true }
        var from = 0
        while from < count {
            let time = start + format.duration(of: Int64(from))
            place.pass(pauses, until: time)
            let next = place.passed < pauses.count ? pauses[place.passed] : nil
            if let next, next.start <= time {
                from = min(format.frames(until: next.end, from: start), count)
                continue
            }
            let to = next.map { min(format.frames(until: $0.start, from: start), count) } ?? count
            let here = position + Int64(from)
            if let kept = place.kept, place.cut > kept.cut {
                // What was lost outside of the pause is missing in the file, and becomes silence there.
                let missing = place.hasLost ? format.frames(until: time - (place.cut - kept.cut), from: kept.time) : 0
                place.samples += max(here - kept.position - Int64(max(missing, 0)), 0)
            }
            place.hasLost = false
            let end = start + format.duration(of: Int64(to))
            place.kept = Kept(position: position + Int64(to), time: end, cut: place.cut)
            let piece = from == 0 && to == count ? buffer : buffer.part(from..<to, of: format, at: time, here)
            if let next, end > next.start - PauseClock.fade {
                unsafe SampleGain.apply(to: piece.mutableBytes, format) { frame in
                    Double(next.start - time - format.duration(of: Int64(frame))) / Double(PauseClock.fade)
                }
            }
            if let began = place.lastEnd, time < began + PauseClock.fade {
                unsafe SampleGain.apply(to: piece.mutableBytes, format) { frame in
                    Double(time + format.duration(of: Int64(frame)) - began) / Double(PauseClock.fade)
                }
            }
            piece.move(by: -place.cut, samples: -place.samples, isAfterCut: false)
            try give(piece)
            from = to
        }
    }

    /// A time or position from a ring, in a range within which it can be added to.
    static func believable(_ number: Int64) -> Int64 {
        min(max(number, believed.lowerBound), believed.upperBound)
    }
}

extension PauseClock.State {
    /// When a pause can begin at the earliest: sound that is to fade out must not be in the file yet.
    fileprivate var soon: Int64 { seen == .min ? .min : seen + PauseClock.fade }

    /// A stream was taken until a time. A camera whose clock is ahead delays no pause.
    fileprivate mutating func saw(_ end: Int64) {
        seen = max(seen, min(end, Timestamp.now.nanoseconds))
    }

    /// Keeps the length alone of what every stream has passed.
    fileprivate mutating func forgetPassed() {
        let count = min(video?.passed ?? .max, audio?.passed ?? .max) - PauseClock.remembered
        guard count > 0, count <= pauses.count else { return }
        for pause in pauses.prefix(count) { past += pause.end - pause.start }
        pauses.removeFirst(count)
        video?.passed -= count
        audio?.passed -= count
    }
}

extension PauseClock.Place {
    /// Passes all pauses that end at a time or before.
    fileprivate mutating func pass(_ pauses: [PauseClock.Pause], until time: Int64) {
        while passed < pauses.count, pauses[passed].end <= time {
            cut += pauses[passed].end - pauses[passed].start
            lastEnd = pauses[passed].end
            passed += 1
        }
    }
}

extension AudioFormat {
    /// Nanoseconds that sample frames last, rounded down.
    func duration(of frames: Int64) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: Int64(sampleRate))
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(sampleRate)
    }

    /// Sample frames that begin before a time, of those that begin at another.
    fileprivate func frames(until end: Int64, from start: Int64) -> Int {
        guard end != .max else { return .max }
        let (seconds, rest) = (end - start).quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int(seconds * Int64(sampleRate) + (rest * Int64(sampleRate) + 999_999_999) / 1_000_000_000)
    }
}
