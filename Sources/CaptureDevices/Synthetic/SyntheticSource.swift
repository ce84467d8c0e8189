import Authorization
public import CaptureCore
import CaptureSystem

/// A synthetic device that was opened: its run, on a thread of its own. Thread-safe, as `MediaSource` says.
public final class SyntheticSource: MediaSource {
    /// What it delivers.
    public let format: MediaFormat
    /// One: a buffer is made and published at once.
    public let slotsInFlight = 1

    private let name: String
    private let size: Int
    private let run: @Sendable (any MediaSink) -> any DeviceRun
    private let thread: DeviceThread

    private init(
        _ name: String,
        _ format: MediaFormat,
        of size: Int,
        _ proof: ProofOfLife,
        _ run: @escaping @Sendable (any MediaSink) -> any DeviceRun
    ) {
        self.name = name
        self.format = format
        self.size = size
        self.run = run
        thread = DeviceThread(proof)
    }

    deinit { stop() }

    static func camera(
        _ format: VideoFormat,
        _ clock: SyntheticClock,
        _ controls: SyntheticControls,
        _ frames: FrameNumbers,
        _ proof: ProofOfLife,
        grant: Grant
    ) throws(CaptureError) -> SyntheticSource {
        try grant.require(.camera)
        return SyntheticSource("cam-synthetic", .video(format), of: format.frameSize, proof) { sink in
            SyntheticCamera(format, TestPicture(format), clock, controls, sink, frames: frames)
        }
    }

    static func metadata(_ frames: FrameNumbers, _ proof: ProofOfLife, grant: Grant) throws(CaptureError)
        -> SyntheticSource
    {
        try grant.require(.camera)
        let format = SyntheticMetadata.format
        return SyntheticSource("meta-synthetic", .metadata(format), of: format.capacity, proof) { sink in
            SyntheticMetadata(frames, sink)
        }
    }

    static func microphone(
        _ request: AudioFormatRequest,
        _ clock: SyntheticClock,
        _ controls: SyntheticControls,
        _ proof: ProofOfLife,
        grant: Grant
    ) throws(CaptureError) -> SyntheticSource {
        try grant.require(.microphone)
        let format = try SyntheticFormats.negotiate(request)
        return SyntheticSource("mic-synthetic", .audio(format), of: format.periodBytes, proof) { sink in
            SyntheticMicrophone(format, BeepTone(format), clock, controls, sink)
        }
    }

    /// Starts the buffers, on a thread of their own: `MediaSource.start`.
    ///
    /// - Throws: `.wrongState` while streaming, `.internalFault` when the system has no thread to give.
    public func start(
        into sink: any MediaSink,
        ended: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        try thread.stream(name, format, of: size, into: sink, ended: ended) { _ in run(sink) }
    }

    /// Goes on into another sink, between two buffers: `MediaSource.move`.
    public func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        try thread.move(to: sink, atOnce: atOnce)
    }

    /// Stops the thread and waits for it; idempotent.
    public func stop() {
        thread.stop()
    }

    /// As `stop`: there is nothing to close.
    public func close() {
        thread.stop()
    }
}
