import CaptureCore
import Glibc
import Synchronization

/// What happens to sound on its way into an output, beside what its connection keeps back: its gain, and the measuring of
/// its levels. Commands come on one thread, buffers on another. Thread-safe.
final class SoundPassage: Sendable {
    /// How long a change of gain takes, in nanoseconds, so that it does not click.
    private static let ramp = PauseClock.fade

    private struct State {
        /// Factors: from which the gain goes to which, and how many sample frames of the ramp have passed.
        var (from, to) = (1.0, 1.0)
        var passed = 0
        var levels: SoundLevels
    }

    private let format: AudioFormat
    private let counters: RecorderCounters
    private let state: Mutex<State>

    /// The passage of sound of `format`, whose levels go into `counters`.
    ///
    /// - Parameter gain: In decibels.
    init(_ format: AudioFormat, gain: Double, _ counters: RecorderCounters) {
        self.format = format
        self.counters = counters
        let factor = SoundPassage.factor(gain)
        state = Mutex(State(from: factor, to: factor, levels: SoundLevels(format)))
    }

    /// Changes the gain from the next buffer on.
    func setGain(_ decibels: Double) {
        state.withLock { state in
            state.from = self.gain(at: state.passed, state)
            state.to = SoundPassage.factor(decibels)
            state.passed = 0
        }
    }

    /// Makes a buffer as loud as it is to be, and measures it.
    func take(_ buffer: MediaBuffer) {
        let frames = buffer.count / format.bytesPerFrame
        state.withLock { state in
            if state.from != 1 || state.to != 1 {
                let now = state
                unsafe SampleGain.apply(to: buffer.mutableBytes, format, upTo: .infinity) { frame in
                    self.gain(at: now.passed + frame, now)
                }
            }
            state.passed = min(state.passed + frames, rampFrames)
            if state.passed == rampFrames { state.from = state.to }
            if buffer.info.flags.contains(.silence) {
                state.levels.takeSilence(frames) { self.counters.note($0) }
            } else {
                unsafe state.levels.take(buffer.bytes) { self.counters.note($0) }
            }
        }
    }

    private var rampFrames: Int { Int(Int64(format.sampleRate) * SoundPassage.ramp / 1_000_000_000) }

    private func gain(at frame: Int, _ state: State) -> Double {
        if state.from == state.to || frame >= rampFrames { return state.to }
        return state.from + (state.to - state.from) * Double(frame) / Double(rampFrames)
    }

    private static func factor(_ decibels: Double) -> Double { decibels == 0 ? 1 : pow(10, decibels / 20) }
}
