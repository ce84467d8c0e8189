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
    public let slotsInFlight: Int

    private struct Stream {
        let loop: CaptureLoop
        let thread: WorkerThread
    }

    private enum State {
        case open(V4L2Node)
        case streaming(V4L2Node, Stream)
        case closed
    }

    private let videoFormat: VideoFormat
    private let proof: ProofOfLife
    private let counters = StreamCounters()
    private let state: Mutex<State>

    /// Opens a camera and sets it to the format nearest to a wish.
    ///
    /// - Parameters:
    ///   - device: The camera, as a probe or monitor described it.
    ///   - request: The wish.
    ///   - grant: A live grant for cameras.
    ///   - proof: The camera stands still while this proof is missing.
    /// - Throws: `notPermitted` or `revoked` for the grant, `noSuchDevice`, `noSuchFormat` naming what there is, `busy`
    ///   naming who holds the camera.
    public static func open(
        _ device: DeviceDescription,
        _ request: VideoFormatRequest,
        grant: Grant,
        proof: ProofOfLife = ProofOfLife()
    ) throws(CaptureError) -> V4L2Camera {
        let node = try V4L2Node.open(device, grant: grant)
        let negotiation = FormatNegotiation(options: node.formatOptions(since: device.videoFormats))
        let format = try node.configure(try negotiation.choose(request), for: request)
        return V4L2Camera(device, node, format, slots: try node.depth(for: format), proof)
    }

    private init(_ device: DeviceDescription, _ node: V4L2Node, _ format: VideoFormat, slots: Int, _ proof: ProofOfLife)
    {
        self.device = device
        self.proof = proof
        videoFormat = format
        self.format = .video(format)
        slotsInFlight = slots
        state = Mutex(.open(node))
    }

    deinit { close() }

    /// What the camera's thread did so far.
    public var statistics: V4L2Statistics { counters.statistics }

    /// Bytes of pixels that the camera's thread copied: 0 with user pointers.
    public var copiedBytes: UInt64? { counters.statistics.copiedBytes }

    /// Starts streaming.
    ///
    /// - Throws: `busy` naming who holds the camera, `inputOutput` when the driver refuses, `deviceLost`, `wrongState`
    ///   when it streams already or was closed.
    public func start(
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        guard sink.slotCapacity >= videoFormat.frameSize else {
            throw CaptureError(
                .internalFault,
                "a ring with slots of \(sink.slotCapacity) bytes cannot hold frames of \(videoFormat.frameSize)"
            )
        }
        try state.withLock { (state) throws(CaptureError) in
            guard case .open(let node) = state else {
                throw CaptureError(.wrongState, "the camera \(device.name) cannot be started: it streams or is closed")
            }
            let stream: Stream
            do throws(SystemError) {
                stream = try V4L2Camera.begin(
                    CaptureLoop(
                        node,
                        format: videoFormat,
                        depth: slotsInFlight,
                        sink: sink,
                        counters: counters,
                        proof: proof
                    ),
                    name: device.name,
                    ended: ended
                )
            } catch {
                throw V4L2Camera.startFailure(error, node)
            }
            state = .streaming(node, stream)
        }
    }

    /// Goes on into another sink: `MediaSource.move`.
    public func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        let loop = state.withLock { state -> CaptureLoop? in
            guard case .streaming(_, let stream) = state else { return nil }
            return stream.loop
        }
        guard let loop else { throw CaptureError(.wrongState, "the camera \(device.name) is not streaming") }
        try loop.control.move(to: sink, atOnce: atOnce)
    }

    /// Stops streaming and waits for the thread's end, except when called from that thread.
    public func stop() {
        let stream = state.withLock { state -> Stream? in
            guard case .streaming(let node, let stream) = state else { return nil }
            state = .open(node)
            return stream
        }
        guard let stream else { return }
        stream.loop.control.stop()
        if !stream.thread.isCurrent { stream.thread.join() }
    }

    /// Stops and closes the node.
    public func close() {
        stop()
        state.withLock { $0 = .closed }
    }

    /// The camera's settings now.
    ///
    /// - Throws: `wrongState` when it was closed, `deviceLost`.
    public func controls() throws(CaptureError) -> [DeviceControl] {
        try openControls().list()
    }

    /// Writes a setting.
    ///
    /// - Throws: As `V4L2Controls.set`, and `wrongState` when the camera was closed.
    public func setControl(_ name: String, _ value: Int64) throws(CaptureError) {
        try openControls().set(name, to: value)
    }

    private func openControls() throws(CaptureError) -> V4L2Controls {
        let node: V4L2Node? = state.withLock {
            switch $0 {
            case .open(let node), .streaming(let node, _): node
            case .closed: nil
            }
        }
        guard let node else { throw CaptureError(.wrongState, "the camera \(device.name) is closed") }
        return V4L2Controls(node)
    }

    private static func begin(
        _ loop: CaptureLoop,
        name: String,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) throws(SystemError) -> Stream {
        try loop.begin()
        let node = loop.node.path.split(separator: "/").last.map(String.init) ?? "camera"
        do throws(SystemError) {
            let thread = try WorkerThread(name: "v4l2-\(node)") {
                let failure = loop.run()
                loop.end()
                // Whoever sees the stream's end finds its reason known.
                if let failure { ended(lossError(failure, name)) }
                loop.control.ended(failure == nil ? nil : .deviceLost)
            }
            return Stream(loop: loop, thread: thread)
        } catch {
            loop.end()
            throw error
        }
    }

    private static func lossError(_ error: SystemError, _ name: String) -> CaptureError {
        let what =
            switch error.errno {
            case ENODEV, ENXIO: "went away while streaming"
            // The action quotes what the driver said.
            case EPROTO: "failed while streaming: \(error.action)"
            default: "failed while streaming: \(SystemError.text(of: error.errno))"
            }
        return CaptureError(.deviceLost, "the camera \(name) \(what)", errno: error.errno)
    }

    private static func startFailure(_ error: SystemError, _ node: V4L2Node) -> CaptureError {
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
