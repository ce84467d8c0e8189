import CaptureCore
import Synchronization

/// The latest frames of a camera, so that the metadata of one of them finds its number.
///
/// Thread-safe: the camera's thread notes frames, the thread of its metadata looks them up. Nothing here allocates after
/// `init`, and no other process can hold the lock.
public final class FrameNumbers: Sendable {
    /// What is known about the frame of a time.
    enum Answer: Equatable {
        /// It has this number.
        case number(UInt64)
        /// It may still come.
        case notYet
        /// It does not come any more, or was too long ago.
        case unknown
    }

    struct Frame: Equatable {
        var time: Timestamp
        var number: UInt64
    }

    /// How many frames are kept.
    static let kept = 64

    private let state: Mutex<(frames: [Frame], count: Int)>

    /// No frame is known yet.
    public init() {
        let none = Frame(time: Timestamp(nanoseconds: .min), number: 0)
        state = Mutex((Array(repeating: none, count: Self.kept), 0))
    }

    /// A frame was published.
    func note(_ time: Timestamp, _ number: UInt64) {
        state.withLock { state in
            state.frames[state.count % Self.kept] = Frame(time: time, number: number)
            state.count += 1
        }
    }

    /// The number of the frame of a time.
    func number(at time: Timestamp) -> Answer {
        state.withLock { state in
            var isPassed = false
            for frame in state.frames {
                if frame.time == time { return .number(frame.number) }
                isPassed = isPassed || frame.time > time
            }
            return isPassed ? .unknown : .notYet
        }
    }

    /// How many frames were noted so far.
    var count: Int { state.withLock { $0.count } }

    /// The frame that was noted after so many others; `nil` if it was not yet, or is not kept any more.
    subscript(_ index: Int) -> Frame? {
        state.withLock { state in
            guard index >= 0, index < state.count, index >= state.count - Self.kept else { return nil }
            return state.frames[index % Self.kept]
        }
    }
}
