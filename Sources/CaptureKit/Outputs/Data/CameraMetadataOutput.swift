import CaptureCore
import CaptureRing
import Synchronization

/// Hands the metadata of a camera's frames to a handler: times on the camera's own clock, and what its maker adds.
///
/// It is fed by `CaptureDeviceInput/metadata(of:name:)`. The camera's frames need no output. A camera whose metadata fails
/// goes on; only this output ends, with `CaptureError.Code.deviceLost`. Thread-safe.
public final class CameraMetadataOutput: DataOutput, @unchecked Sendable {
    /// Takes what comes, on the output's own thread, one event after the other. `ended` may come on another thread if
    /// reading could not begin.
    public typealias Handler = @Sendable (DataOutputEvent<CameraMetadata>) -> Void

    private let handler: Mutex<Handler?>

    /// An output.
    ///
    /// - Parameters:
    ///   - name: The name in the session.
    ///   - handler: Takes what comes.
    public init(name: String = "metadata-data", handler: @escaping Handler) {
        self.handler = Mutex(handler)
        super.init(.metadata, name: name)
    }

    override func forgetHandler() {
        // What the handler captured goes outside of the lock.
        _ = handler.withLock { $0.take() }
    }

    override func makeHandling() -> sending (any BufferHandling)? {
        guard let call = handler.withLock({ $0 }) else { return nil }
        return MetadataHandling(name, call)
    }
}

/// What a metadata output's thread does with each buffer.
private final class MetadataHandling: DataHandling<CameraMetadata>, BufferHandling {
    func take(_ buffer: RingBuffer, of format: MediaFormat) throws(CaptureError) -> Bool {
        guard case .metadata(let metadata) = format else {
            throw CaptureError(
                .badData,
                "cannot read metadata from '\(name)': its shared memory contains \(format.mediaType.rawValue)"
            )
        }
        let lost = losses.before(buffer, at: buffer.info.deviceSequence, length: 1, missed: 1)
        if lost > 0 { lose(lost, .device) }
        let bytes = unsafe Array(buffer.plane(0))
        guard buffer.isIntact else { return true }
        guard !bytes.isEmpty else {
            lose(1, .damaged)
            return false
        }
        let position = buffer.info.position
        handler(
            .data(
                CameraMetadata(
                    time: buffer.info.timestamp,
                    frame: position > 0 ? position - 1 : nil,
                    sequence: buffer.info.deviceSequence,
                    format: metadata.code,
                    bytes: bytes
                )
            )
        )
        return false
    }
}
