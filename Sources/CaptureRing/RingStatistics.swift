public import CaptureCore

/// The counters of a ring at one moment.
public struct RingStatistics: Hashable, Sendable {
    /// Buffers published so far.
    public var published: UInt64
    /// Losses, by the raw value of `DropCause`.
    public var drops: [UInt64]
    /// When the newest buffer was captured.
    public var lastTimestamp: Timestamp
    /// When the newest buffer was published.
    public var lastPublished: Timestamp
    /// Buffers published and not yet claimed to be written again.
    public var queueDepth: Int

    /// From the capture of the newest buffer to its publication, in nanoseconds; 0 before the first.
    public var latency: Int64 { lastPublished - lastTimestamp }

    /// The losses of one cause.
    public func drops(_ cause: DropCause) -> UInt64 { drops[cause.rawValue] }

    init(reading memory: RingMemory) {
        typealias Live = RingLayout.Live
        // Oldest before published: both only grow, so the difference is never negative for an honest writer.
        let oldest = memory.loadAcquire64(Live.oldest)
        published = memory.loadAcquire64(Live.published)
        queueDepth = Int(clamping: published >= oldest ? published - oldest : 0)
        drops = DropCause.allCases.map { memory.loadRelaxed64(Live.drops + $0.rawValue * 8) }
        lastTimestamp = Timestamp(nanoseconds: Int64(bitPattern: memory.loadRelaxed64(Live.lastTimestamp)))
        lastPublished = Timestamp(nanoseconds: Int64(bitPattern: memory.loadRelaxed64(Live.lastPublished)))
    }
}
