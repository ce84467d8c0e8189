public import CaptureCore
import CaptureSystem
import Synchronization

/// A device that was opened: each streaming is a run on a thread of its own, one buffer in its hands at a time.
///
/// Thread-safe; `start`, `stop` and `close` one at a time.
public final class DeviceSource: MediaSource {
    /// Sets the device going, on the caller's thread.
    typealias Beginning = @Sendable (any MediaSink) throws(CaptureError) -> any DeviceRun

    /// What it delivers, as the driver reported it.
    public let format: MediaFormat
    /// One: a buffer is filled and published at once.
    public let slotsInFlight = 1

    private let name: String
    private let thread: DeviceThread
    private let threadName: String
    private let size: Int
    /// `nil` when it is closed: the device itself is closed with the last reference.
    private let begin: Mutex<Beginning?>

    /// - Parameters:
    ///   - name: For people.
    ///   - thread: What `ps -T` shows, at most 15 bytes.
    ///   - size: What a buffer of `format` takes, in bytes.
    ///   - proof: The device stands still while this proof is missing.
    ///   - begin: Holds the device open.
    init(
        _ name: String,
        thread: String,
        _ format: MediaFormat,
        of size: Int,
        _ proof: ProofOfLife,
        _ begin: @escaping Beginning
    ) {
        self.name = name
        self.format = format
        self.size = size
        threadName = thread
        self.thread = DeviceThread(proof)
        self.begin = Mutex(begin)
    }

    deinit { close() }

    /// Starts the device and its thread: `MediaSource.start`.
    ///
    /// - Throws: `.wrongState` while it streams or after it was closed, `.busy` naming who holds it, `.inputOutput` when
    ///   the driver refuses, `.internalFault` when the system has no thread to give.
    public func start(
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        guard let begin = begin.withLock({ $0 }) else { throw CaptureError(.wrongState, "\(name) was closed") }
        try thread.stream(threadName, format, of: size, into: sink, ended: ended) { (_) throws(CaptureError) in
            try begin(sink)
        }
    }

    /// Goes on into another sink, between two buffers and without a gap: `MediaSource.move`.
    public func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        try thread.move(to: sink, atOnce: atOnce)
    }

    /// Stops the device and waits for the thread, except when called from that thread; idempotent.
    public func stop() { thread.stop() }

    /// Stops, and closes the device for others to open; idempotent.
    public func close() {
        thread.stop()
        begin.withLock { $0 = nil }
    }
}
