public import Authorization
import CLinux
public import CaptureCore
public import CaptureSystem
import Glibc
import Synchronization

/// A camera that was opened and set to a format.
///
/// Frames go straight into the sink's slots where the driver takes them as user pointers (and the sink has no more than
/// 32 slots), else by one copy. Thread-safe; `start`, `stop` and `close` one at a time.
public final class V4L2Camera: MediaSource {
    /// The device, as its probe found it.
    public let device: DeviceDescription
    /// What the driver really gave.
    public let format: MediaFormat
    /// How many slots the driver holds while streaming, so that its queue does not run dry.
    public var slotsInFlight: Int { depth.steady }
    /// How many slots are filled as soon as it streams, whole; none with compressed frames, which are small.
    public var slotsAtStart: Int { videoFormat.pixelFormat.isCompressed ? 0 : depth.first }

    private let videoFormat: VideoFormat
    private let inputName: String
    private let depth: DriverDepth
    private let counters = StreamCounters()
    private let frames: FrameNumbers
    /// `nil` when it is closed.
    private let node: Mutex<V4L2Node?>
    private let thread: DeviceThread

    /// Opens a camera and sets it to the format nearest to a wish.
    ///
    /// - Parameters:
    ///   - device: The camera, as a probe or monitor described it.
    ///   - request: The wish.
    ///   - grant: A live grant for cameras.
    ///   - proof: The camera stands still while this proof is missing.
    ///   - frames: Where each frame's time and number are noted.
    /// - Throws: `notPermitted` or `revoked` for the grant, `noSuchDevice`, `noSuchFormat` naming what there is, `busy`
    ///   naming who holds the camera.
    public static func open(
        _ device: DeviceDescription,
        _ request: VideoFormatRequest,
        grant: Grant,
        proof: ProofOfLife = ProofOfLife(),
        frames: FrameNumbers = FrameNumbers()
    ) throws(CaptureError) -> V4L2Camera {
        let node = try V4L2Node.open(device, grant: grant)
        node.adoptSignal()
        let negotiation = FormatNegotiation(options: node.formatOptions(since: device.videoFormats))
        let format = try node.configure(try negotiation.choose(request), for: request)
        return V4L2Camera(device, node, format, depth: try node.depth(for: format), proof, frames)
    }

    private init(
        _ device: DeviceDescription,
        _ node: V4L2Node,
        _ format: VideoFormat,
        depth: DriverDepth,
        _ proof: ProofOfLife,
        _ frames: FrameNumbers
    ) {
        self.device = device
        self.frames = frames
        videoFormat = format
        inputName = node.inputName
        self.format = .video(format)
        self.depth = depth
        self.node = Mutex(node)
        thread = DeviceThread(proof)
    }

    deinit { close() }

    /// What the camera's thread did so far.
    public var statistics: V4L2Statistics { counters.statistics }

    /// Bytes of pixels that the camera's thread copied: 0 with user pointers.
    public var copiedBytes: UInt64? { counters.statistics.copiedBytes }

    /// That its input has no signal; `nil` while it has one.
    public var interruption: CaptureError? {
        guard counters.hasNoSignal.load(ordering: .relaxed) else { return nil }
        let input = inputName.isEmpty ? "" : " at \(inputName)"
        return CaptureError(
            .noSignal,
            "the camera \(device.name) has no signal\(input); capture goes on by itself when it returns"
        )
    }

    /// Starts streaming.
    ///
    /// - Throws: `busy` naming who holds the camera, `inputOutput` when the driver refuses, `deviceLost`, `wrongState`
    ///   when it streams already or was closed.
    public func start(
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        guard let node = node.withLock({ $0 }) else {
            throw CaptureError(.wrongState, "the camera \(device.name) is closed")
        }
        let number = node.path.split(separator: "/").last.map(String.init) ?? "camera"
        try thread.stream("v4l2-\(number)", format, of: videoFormat.frameSize, into: sink, ended: ended) {
            (control) throws(CaptureError) in
            let loop = CaptureLoop(
                node,
                name: device.name,
                format: videoFormat,
                depth: depth,
                sink: sink,
                counters: counters,
                frames: frames,
                control: control
            )
            do throws(SystemError) {
                try loop.begin()
            } catch {
                throw V4L2Camera.startFailure(error, node, videoFormat)
            }
            return loop
        }
    }

    /// Goes on into another sink: `MediaSource.move`.
    public func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        try thread.move(to: sink, atOnce: atOnce)
    }

    /// Stops streaming and waits for the thread's end, except when called from that thread.
    public func stop() {
        thread.stop()
    }

    /// Stops and closes the node.
    public func close() {
        thread.stop()
        node.withLock { $0 = nil }
    }

    private static func startFailure(_ error: SystemError, _ node: V4L2Node, _ format: VideoFormat) -> CaptureError {
        if error.errno == ENOMEM {
            return CaptureError(
                .inputOutput,
                "there is no memory for the buffers of the camera \(node.path), \(format.frameSize) bytes a frame: choose a "
                    + "smaller size with --preset or --video-format",
                errno: ENOMEM
            )
        }
        if error.errno == ENOSPC {
            return CaptureError(
                .inputOutput,
                "no USB bandwidth is left for the camera \(node.path): use a smaller size, a lower rate or a compressed "
                    + "format, or plug it into another controller",
                errno: ENOSPC
            )
        }
        let refusal = CaptureError(
            .inputOutput,
            "the driver of the camera \(node.path) does not start: "
                + (error.errno == EPROTO ? error.action : SystemError.text(of: error.errno)),
            errno: error.errno
        )
        return node.failure(error) ?? refusal
    }
}
