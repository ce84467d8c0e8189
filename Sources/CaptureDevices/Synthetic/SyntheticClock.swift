public import CaptureCore
import CaptureSystem

/// The one clock that the synthetic camera and microphone live by, so that flash and beep coincide whichever of the two
/// started first.
///
/// Stream time is CLOCK_MONOTONIC at speed 1. At a greater speed it starts at the moment the clock was made and passes
/// that many times as fast, so that ten minutes can be recorded in one. Immutable, thread-safe.
public final class SyntheticClock: Sendable {
    /// How many times as fast as CLOCK_MONOTONIC stream time passes, 1 to 1000.
    public let speed: Int64
    private let origin: Int64

    /// A clock that starts now.
    ///
    /// - Parameter speed: 1 to 1000; anything else is brought into that range.
    public convenience init(speed: Int = 1) {
        self.init(speed: speed, origin: .now)
    }

    init(speed: Int, origin: Timestamp) {
        self.speed = Int64(min(max(speed, 1), 1000))
        self.origin = origin.nanoseconds
    }

    /// The stream time now.
    public var now: Timestamp { streamTime(at: .now) }

    /// The stream time at a moment of CLOCK_MONOTONIC.
    public func streamTime(at moment: Timestamp) -> Timestamp {
        Timestamp(nanoseconds: origin + (moment.nanoseconds - origin) * speed)
    }

    /// The first moment of CLOCK_MONOTONIC at which a stream time has come.
    public func moment(of streamTime: Timestamp) -> Timestamp {
        let passed = streamTime.nanoseconds - origin
        return Timestamp(nanoseconds: origin + (passed > 0 ? (passed + speed - 1) / speed : passed / speed))
    }
}
