public import Authorization
import CLinux
public import CaptureCore
public import CaptureSystem
import Glibc
import Synchronization

/// A camera's metadata node that was opened. It delivers one small buffer a frame.
///
/// It has a thread of its own, so that whatever it does, the camera's frames come as before. Thread-safe; `start`, `stop`
/// and `close` one at a time.
public final class V4L2Metadata: MediaSource {
    /// What the driver really gave.
    public let format: MediaFormat
    /// One: a buffer is copied and published at once.
    public let slotsInFlight = 1

    private let name: String
    private let metadata: MetadataFormat
    private let frames: FrameNumbers
    /// `nil` when it is closed.
    private let node: Mutex<V4L2Node?>
    private let thread: DeviceThread

    /// Opens the metadata node of a camera.
    ///
    /// - Parameters:
    ///   - device: The camera, as a probe or monitor described it.
    ///   - grant: A live grant for cameras: the one that opens the camera.
    ///   - proof: The node stands still while this proof is missing.
    ///   - frames: Where the camera notes its frames.
    /// - Throws: `notPermitted` or `revoked` for the grant, `noSuchDevice`, `busy` naming who holds the node, `inputOutput`
    ///   for a driver that does not keep to its word.
    public static func open(
        _ device: DeviceDescription,
        grant: Grant,
        proof: ProofOfLife = ProofOfLife(),
        frames: FrameNumbers = FrameNumbers()
    ) throws(CaptureError) -> V4L2Metadata {
        let node = try V4L2Node.openMetadata(of: device, grant: grant)
        let format = try node.configureMetadata(device.metadata?.formats.first)
        return V4L2Metadata(device, node, format, proof, frames)
    }

    private init(
        _ device: DeviceDescription,
        _ node: V4L2Node,
        _ format: MetadataFormat,
        _ proof: ProofOfLife,
        _ frames: FrameNumbers
    ) {
        name = device.name
        metadata = format
        self.format = .metadata(format)
        self.frames = frames
        self.node = Mutex(node)
        thread = DeviceThread(proof)
    }

    deinit { close() }

    /// Starts streaming.
    ///
    /// - Throws: `busy` naming who holds the node, `inputOutput` when the driver refuses, `wrongState` when it streams already
    ///   or was closed.
    public func start(
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        guard let node = node.withLock({ $0 }) else {
            throw CaptureError(.wrongState, "the metadata of the camera \(name) is closed")
        }
        let number = node.path.split(separator: "/").last.map(String.init) ?? "node"
        try thread.stream("meta-\(number)", format, of: metadata.capacity, into: sink, ended: ended) {
            (control) throws(CaptureError) in
            do throws(SystemError) {
                return try MetadataLoop(node, name: name, metadata, frames: frames, sink: sink)
            } catch {
                throw node.failure(error)
                    ?? CaptureError(
                        .inputOutput,
                        "the driver of \(node.path), the metadata of \(name), does not start: "
                            + SystemError.text(of: error.errno),
                        errno: error.errno
                    )
            }
        }
    }

    /// Goes on into another sink: `MediaSource.move`.
    public func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        try thread.move(to: sink, atOnce: atOnce)
    }

    /// Stops streaming and waits for the thread's end, except when called from that thread.
    public func stop() { thread.stop() }

    /// Stops and closes the node.
    public func close() {
        thread.stop()
        node.withLock { $0 = nil }
    }
}

extension V4L2Node {
    /// Formats that tell more than others, the best first.
    private static let richer: [PixelFormat] = [.uvcD4XX, .uvcMicrosoft]
    /// A bound for drivers whose enumeration does not end.
    private static let mostMetadataFormats: UInt32 = 16

    /// The formats of metadata that the node offers, the one to take first.
    func metadataFormats() -> [PixelFormat] {
        var formats: [PixelFormat] = []
        var raw = clinux_v4l2_option()
        for index in 0..<Self.mostMetadataFormats {
            guard unsafe clinux_v4l2_enum_format(descriptor, bufferType, index, &raw) == 0 else { break }
            let format = PixelFormat(rawValue: raw.pixelformat)
            if !formats.contains(format) { formats.append(format) }
        }
        return Self.richer.filter(formats.contains) + formats.filter { !Self.richer.contains($0) }
    }

    /// Sets the format of metadata.
    ///
    /// - Throws: `busy`, `inputOutput` for a driver that refuses, or has buffers of no size or of one beyond all reason.
    func configureMetadata(_ wanted: PixelFormat?) throws(CaptureError) -> MetadataFormat {
        var format = clinux_v4l2_format()
        do throws(SystemError) {
            try SystemError.check("ask \(path) for its format") {
                unsafe clinux_v4l2_get_format(descriptor, bufferType, &format)
            }
            if let wanted, format.pixelformat != wanted.rawValue {
                format.pixelformat = wanted.rawValue
                try SystemError.check("set the format of \(path)") {
                    unsafe clinux_v4l2_set_format(descriptor, bufferType, &format)
                }
            }
        } catch {
            throw failure(error, otherwise: .inputOutput)
        }
        let size = Int(element(format.size, 0))
        guard (1...MetadataFormat.mostBytes).contains(size) else {
            throw CaptureError(
                .inputOutput,
                "the driver of \(path) reports metadata of \(size) bytes, which cannot be: 1 to \(MetadataFormat.mostBytes)"
            )
        }
        return MetadataFormat(code: PixelFormat(rawValue: format.pixelformat), capacity: size)
    }
}
