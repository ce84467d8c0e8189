import CaptureCore
import CaptureSystem

/// Sound that waits for pictures. Before the first picture, with which the file begins, all sound waits. Where the file's size
/// or the disk's free space has a limit, any picture may be the last, and sound waits for the pictures of its own time.
/// Thread-bound.
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

    /// Bytes of all that wait.
    var bytes: Int { buffers.reduce(0) { $0 + $1.count } }

    /// Nanoseconds from the oldest to the newest.
    var length: Int64 {
        guard let first = buffers.first, let last = buffers.last else { return 0 }
        return max(last.info.timestamp - first.info.timestamp, 0)
    }

    /// Nanoseconds of pauses before what was heard at a time.
    func paused(at time: Timestamp) -> Int64 {
        (buffers.last { $0.info.timestamp <= time } ?? buffers.first)?.paused ?? 0
    }

    /// Lets the oldest go if there are more than so many.
    ///
    /// - Returns: Whether there were.
    mutating func keepNewest(_ most: Int) -> Bool {
        guard buffers.count >= most + 64 else { return false }
        buffers.removeFirst(buffers.count - most)
        return true
    }

    /// When the newest begins.
    var newest: Timestamp? { buffers.last?.info.timestamp }

    /// Lets go of what begins before a time.
    mutating func forget(before time: Timestamp) {
        let old = buffers.prefix { $0.info.timestamp < time }.count
        // Now and then, since what stays is moved.
        if old >= 64 { buffers.removeFirst(old) }
    }

    /// What waits is waited for from now on.
    mutating func wake() { since = buffers.isEmpty ? nil : .now }

    /// Whether sound has waited long enough.
    var isTired: Bool {
        guard let since, let first = buffers.first, let last = buffers.last else { return false }
        if buffers.count >= EarlySound.most { return true }
        return Timestamp.now - since > EarlySound.patience
            && last.info.timestamp - first.info.timestamp > EarlySound.patience
    }

    /// Gives out, in order, what comes before the first that is to wait.
    mutating func release(while mayGo: (MediaBuffer) -> Bool = { _ in true }) -> ArraySlice<MediaBuffer> {
        let released = buffers.prefix(while: mayGo)
        guard !released.isEmpty else { return [] }
        buffers.removeFirst(released.count)
        since = buffers.isEmpty ? nil : .now
        return released
    }
}
