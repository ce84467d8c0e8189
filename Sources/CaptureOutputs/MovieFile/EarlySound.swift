import CaptureCore
import CaptureSystem

/// Sound that came before the first picture, with which the file begins. Thread-bound.
struct EarlySound {
    /// How long a picture is waited for, in nanoseconds, both of the media's time and of ours.
    private static let patience: Int64 = 1_000_000_000
    /// How many buffers are held at most: half of those that go round.
    private static let most = 512

    private var buffers: [MediaBuffer] = []
    private var since: Timestamp?

    /// Keeps one.
    mutating func hold(_ buffer: MediaBuffer) {
        since = since ?? .now
        buffers.append(buffer)
    }

    /// Lets the oldest go where too many wait.
    mutating func forgetOldest() {
        if buffers.count > EarlySound.most { buffers.removeFirst(buffers.count - EarlySound.most) }
    }

    /// Whether sound has waited long enough.
    var isTired: Bool {
        guard let since, let first = buffers.first, let last = buffers.last else { return false }
        if buffers.count >= EarlySound.most { return true }
        return Timestamp.now - since > EarlySound.patience
            && last.info.timestamp - first.info.timestamp > EarlySound.patience
    }

    /// Gives out everything, in order.
    mutating func release() -> [MediaBuffer] {
        defer {
            buffers = []
            since = nil
        }
        return buffers
    }
}
