import Synchronization

/// How frames come out of the driver.
public enum BufferMemory: String, Sendable {
    /// The driver writes into the ring's slots: `V4L2_MEMORY_USERPTR`.
    case userPointer = "userptr"
    /// The driver writes into its own memory, from where each frame is copied once: `V4L2_MEMORY_MMAP`.
    case mapped = "mmap"
}

/// What a camera's thread did since the camera was opened.
public struct V4L2Statistics: Hashable, Sendable {
    /// How frames come out of the driver, of the latest stream; `nil` before the first.
    public var memory: BufferMemory?
    /// Buffers taken from the driver, broken ones included.
    public var dequeued: UInt64
    /// Buffers given to the sink.
    public var published: UInt64
    /// Bytes of pixels that the processor copied: 0 with user pointers, the frame's bytes a frame when mapped.
    public var copiedBytes: UInt64
}

/// The counters behind the statistics. Thread-safe; counting allocates nothing.
final class StreamCounters: Sendable {
    let dequeued = Atomic<UInt64>(0)
    let published = Atomic<UInt64>(0)
    let copiedBytes = Atomic<UInt64>(0)
    /// Whether the stream is stopped because its input has no signal.
    let hasNoSignal = Atomic(false)
    /// 0 none, 1 user pointers, 2 mapped.
    let memory = Atomic<Int>(0)

    var statistics: V4L2Statistics {
        let memory: BufferMemory? =
            switch self.memory.load(ordering: .relaxed) {
            case 1: .userPointer
            case 2: .mapped
            default: nil
            }
        return V4L2Statistics(
            memory: memory,
            dequeued: dequeued.load(ordering: .relaxed),
            published: published.load(ordering: .relaxed),
            copiedBytes: copiedBytes.load(ordering: .relaxed)
        )
    }
}
