import CaptureCore
import CaptureRing
import MediaConversion
import Synchronization

/// Hands a camera's frames to a handler, converted if that is asked for.
///
/// Frames that already are as `videoSettings` asks stay in the source's shared memory and are not copied: see
/// `VideoFrame/isIntact`. Several outputs of one camera can have different settings. A conversion takes place in this
/// program, on the output's own thread. Thread-safe.
public class VideoDataOutput: DataOutput, @unchecked Sendable {
    /// Takes what comes, on the output's own thread, one event after the other. `ended` may come on another thread if
    /// reading could not begin.
    public typealias Handler = @Sendable (DataOutputEvent<VideoFrame>) -> Void

    fileprivate struct Wishes {
        var settings: VideoSettings
        var discardsLate: Bool
        var handler: Handler?
        /// Whether frames are copied, so that they can be held.
        var isKept = false
    }
    private let wishes: SharedWishes

    /// Shared with the thread, which may outlive the output.
    fileprivate final class SharedWishes: Sendable {
        let all: Mutex<Wishes>
        init(_ wishes: Wishes) { all = Mutex(wishes) }
    }

    /// An output.
    ///
    /// - Parameters:
    ///   - name: The name in the session.
    ///   - settings: The format to convert frames to. If the camera's format cannot be converted, the output ends with
    ///     `CaptureError.Code.noSuchFormat` at its first frame.
    ///   - alwaysDiscardsLateVideoFrames: Whether a handler that falls behind is given the newest frame next instead of
    ///     every one.
    ///   - handler: Takes what comes; without one, the output waits for a `DataOutputSynchronizer`.
    public init(
        name: String = "video-data",
        settings: VideoSettings = .camera,
        alwaysDiscardsLateVideoFrames: Bool = true,
        handler: Handler? = nil
    ) {
        wishes = SharedWishes(
            Wishes(settings: settings, discardsLate: alwaysDiscardsLateVideoFrames, handler: handler)
        )
        super.init(.video, name: name)
    }

    /// One for another kind of frames, which stay as they are.
    fileprivate init(_ mediaType: MediaType, name: String, discardsLate: Bool, handler: Handler?) {
        wishes = SharedWishes(Wishes(settings: .camera, discardsLate: discardsLate, handler: handler))
        super.init(mediaType, name: name)
    }

    /// The format to convert frames to. A change applies to the next frame.
    public var videoSettings: VideoSettings {
        get { wishes.all.withLock { $0.settings } }
        set { wishes.all.withLock { $0.settings = newValue } }
    }

    /// Whether a handler that falls behind is given the newest frame next instead of every one. A change applies to the
    /// next frame.
    public var alwaysDiscardsLateVideoFrames: Bool {
        get { wishes.all.withLock { $0.discardsLate } }
        set { wishes.all.withLock { $0.discardsLate = newValue } }
    }

    /// Gives an output without a handler one that may hold frames.
    func keep(_ handler: @escaping Handler) {
        wishes.all.withLock { wishes in
            wishes.handler = handler
            wishes.isKept = true
        }
    }

    override func forgetHandler() {
        // What the handler captured goes outside of the lock.
        _ = wishes.all.withLock { $0.handler.take() }
    }

    override func makeHandling() -> sending (any BufferHandling)? {
        let (handler, isKept) = wishes.all.withLock { ($0.handler, $0.isKept) }
        guard let handler else { return nil }
        return VideoHandling(name, handler, wishes, isKept: isKept)
    }
}

/// Hands the distances that a depth camera measures to a handler: frames with `VideoFrame/distance(x:y:)` and
/// `VideoFrame/distances`, which a `DataOutputSynchronizer` aligns with those of a colour camera.
///
/// It is fed by `CaptureDeviceInput/depth(_:name:request:)`, and is a `VideoDataOutput` otherwise. Thread-safe.
public final class DepthDataOutput: VideoDataOutput, @unchecked Sendable {
    /// An output.
    ///
    /// - Parameters:
    ///   - name: The name in the session.
    ///   - alwaysDiscardsLateDepthFrames: Whether a handler that falls behind is given the newest frame next instead of
    ///     every one.
    ///   - handler: Takes what comes; without one, the output waits for a `DataOutputSynchronizer`.
    public init(name: String = "depth-data", alwaysDiscardsLateDepthFrames: Bool = true, handler: Handler? = nil) {
        super.init(.depth, name: name, discardsLate: alwaysDiscardsLateDepthFrames, handler: handler)
    }
}

/// What a video output's thread does with each buffer.
private final class VideoHandling: DataHandling<VideoFrame>, BufferHandling {
    /// Frames of its own memory that a program can hold.
    private static let mostHeld = 16

    private let wishes: VideoDataOutput.SharedWishes
    private let isKept: Bool
    private var source: VideoFormat?
    private var settings = VideoSettings.camera
    private var converter: VideoConverter?
    private var sourceShape: FrameShape?
    private var shape: FrameShape?
    private var store: DataStore?
    private var pace = FramePace(framesPerSecond: nil, interval: 0)

    init(
        _ name: String,
        _ handler: @escaping VideoDataOutput.Handler,
        _ wishes: VideoDataOutput.SharedWishes,
        isKept: Bool
    ) {
        self.wishes = wishes
        self.isKept = isKept
        super.init(name, handler)
    }

    override var takesNewest: Bool { wishes.all.withLock { $0.discardsLate } }

    func take(_ buffer: RingBuffer, of format: MediaFormat) throws(CaptureError) -> Bool {
        guard case .video(let video) = format else {
            throw CaptureError(.badData, "cannot read frames from '\(name)': its shared memory contains sound")
        }
        let wanted = wishes.all.withLock { $0.settings }
        if video != source || wanted != settings { try prepare(video, wanted) }
        guard let sourceShape, let shape else { return false }
        let all = losses.before(buffer, at: buffer.info.deviceSequence, length: 1, missed: 1)
        let lost = pace.lost(all, before: buffer.info.timestamp)
        if lost > 0 { lose(lost, .device) }
        guard pace.takes(buffer.info.timestamp) else { return false }
        guard sourceShape.isWhole(buffer) else {
            lose(1, .damaged)
            return false
        }
        guard store != nil else {
            handler(.data(VideoFrame(buffer, shape, .ring(buffer))))
            return true
        }
        guard let data = store?.take() else {
            lose(1, .outOfMemory)
            return false
        }
        var isMade = true
        if let converter {
            isMade = unsafe converter.convert(buffer, into: data.bytes) != nil
        } else {
            unsafe data.bytes.copyMemory(from: buffer.bytes)
        }
        guard buffer.isIntact else { return true }
        if isMade { handler(.data(VideoFrame(buffer, shape, .own(data)))) } else { lose(1, .damaged) }
        return false
    }

    override func wanted(_ count: UInt64, before time: Timestamp) -> UInt64 { pace.lost(count, before: time) }

    private func prepare(_ video: VideoFormat, _ wanted: VideoSettings) throws(CaptureError) {
        let made = try wanted.converter(from: video)
        let from = FrameShape(video)
        var told = made?.format ?? video
        if let rate = wanted.framesPerSecond, rate < video.interval.framesPerSecond {
            told.interval = FrameInterval(1000, UInt32((rate * 1000).rounded(.up)))
        }
        let to = FrameShape(told)
        // A synchronizer's frames wait for others, and then for the handler, too.
        let interval = told.interval.nanoseconds
        let waiting = AlignmentLimits.frames(interval) + AlignmentLimits.ready(interval)
        let most = VideoHandling.mostHeld + (isKept ? waiting : 0)
        if !isKept, made == nil {
            store = nil
        } else if store?.capacity != to.format.frameSize || store?.most != most {
            store = DataStore(capacity: to.format.frameSize, most: most)
        }
        if source?.interval != video.interval || settings.framesPerSecond != wanted.framesPerSecond {
            pace = FramePace(framesPerSecond: wanted.framesPerSecond, interval: video.interval.nanoseconds)
        }
        (source, settings, converter, sourceShape, shape) = (video, wanted, made, from, to)
    }
}
