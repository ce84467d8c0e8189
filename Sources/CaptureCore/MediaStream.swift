/// Where a device puts what it captures: the writer's side of a ring, as a device thread sees it.
///
/// Thread-bound: after `MediaSource.start` every call is made by the source's one thread, and none of them allocates,
/// blocks or takes a lock that another process can hold.
public protocol MediaSink: AnyObject, Sendable {
    /// How many slots there are.
    var slotCount: Int { get }

    /// Bytes of one slot's memory; a multiple of the page size, so that a driver can take it as a user pointer.
    var slotCapacity: Int { get }

    /// Whether a reader may want each buffer as soon as it is there. Otherwise a device may bring several at a time.
    var isAwaited: Bool { get }

    /// The memory of a slot, page-aligned, writable, `slotCapacity` bytes.
    ///
    /// - Parameter slot: 0 to `slotCount` - 1.
    func memory(ofSlot slot: Int) -> UnsafeMutableRawBufferPointer

    /// Takes the slot that was published longest ago (or never) out of the readers' reach, to be written anew.
    ///
    /// - Returns: the slot, or `nil` when taking one more would leave readers fewer than the sink promises to keep.
    func claim() -> Int?

    /// Gives a claimed slot back unpublished; its old content is gone.
    func abandon(_ slot: Int)

    /// Publishes a claimed slot and wakes every reader, with one system call whatever their number.
    func publish(_ slot: Int, _ info: BufferInfo)

    /// Counts losses, visible to readers at once.
    func count(_ cause: DropCause, _ number: UInt64)

    /// Says that nothing more will come, and wakes every reader.
    func finish(_ reason: StreamEnd)
}

/// Why a stream ended, as the ring's header says it.
public enum StreamEnd: UInt32, Sendable {
    /// The session or the source was stopped.
    case stopped = 1
    /// The device went away or failed.
    case deviceLost = 2
    /// The stream goes on in another ring, which readers are handed.
    case moved = 3
    /// The consent was withdrawn.
    case revoked = 4
}

/// A device that was opened and configured and can stream.
///
/// Thread-safe: `start` and `stop` may be called from any thread, one at a time. `deinit` stops and closes.
public protocol MediaSource: AnyObject, Sendable {
    /// The format that the driver really gave.
    var format: MediaFormat { get }

    /// How many slots the device needs in its own hands while streaming, so that a ring can be made large enough.
    var slotsInFlight: Int { get }

    /// Bytes of media that the processor copied to bring them from the device into sinks, since the device was opened;
    /// `nil` for a source that does not count them.
    var copiedBytes: UInt64? { get }

    /// Why nothing comes for a while, though the device streams: its input has no signal. `nil` otherwise.
    var interruption: CaptureError? { get }

    /// Starts streaming into `sink` on a thread of the source's own.
    ///
    /// - Parameters:
    ///   - sink: A ring whose slots hold at least `format.slotSize` bytes.
    ///   - ended: Called at most once, on the source's thread, when streaming ends by itself: the device was unplugged
    ///     or failed. Not called after `stop`.
    /// - Throws: `CaptureError` when the driver refuses; nothing streams then.
    func start(into sink: any MediaSink, ended: @escaping @Sendable (CaptureError) -> Void) throws(CaptureError)

    /// Goes on into another sink, of the same format and number of slots, and tells the readers of the one before
    /// (`StreamEnd.moved`). When this returns, the one before is written no more. Once at a time.
    ///
    /// - Parameter atOnce: Whether the memory of the sink before is taken from the device itself, too, if the driver
    ///   writes there. That costs a restart, and the frames that are lost by it (counted as `DropCause.revocation`).
    ///   Otherwise the device fills the buffers that it has; they are copied over and not lost.
    /// - Throws: `.deviceLost` when the stream ended before or meanwhile.
    func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError)

    /// Stops streaming and waits for the thread's end. Idempotent; `start` may follow, with another sink.
    func stop()

    /// Stops, and closes the device so that it can be opened anew at once. Idempotent; nothing may follow.
    func close()
}

extension MediaSource {
    /// Not counted.
    public var copiedBytes: UInt64? { nil }
    /// None.
    public var interruption: CaptureError? { nil }
}

/// A file, pipe or socket that a client opened and passed on; closed when the last reference goes.
public protocol OpenFile: AnyObject, Sendable {
    /// The identity of a regular file, which two writers would spoil. `nil` for pipes, sockets and devices.
    var identity: FileIdentity? { get }
}

/// Which file a descriptor leads to, whatever its names are.
public struct FileIdentity: Hashable, Sendable {
    /// The number of the file system.
    public var device: UInt64
    /// The number of the file in it.
    public var inode: UInt64

    /// The file of the given numbers.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
