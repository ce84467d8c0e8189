import CLibAV
import CaptureCore
import MediaExamination

/// What becomes of the frames of a movie. Thread-bound.
final class VideoTrack {
    /// How frames are made packets.
    enum Coding {
        case encoded(VideoEncoder)
        case jpeg(JPEGEncoder)
        case copied(AVCodecID)

        /// Makes the same for another file. It keeps no encoder.
        var again: () throws(CaptureError) -> Coding {
            guard case .encoded(let encoder) = self else { return { () throws(CaptureError) in self } }
            let (name, request) = (encoder.name, encoder.request)
            return { () throws(CaptureError) in .encoded(try VideoEncoder(name, request)) }
        }
    }

    /// What the camera delivers.
    let format: VideoFormat
    private let coding: Coding
    private let turn: PictureOrientation
    /// Parameter sets of a copied stream, from its first keyframe.
    private(set) var header: [UInt8] = []
    /// Microseconds between two pictures from which an encoder's work can be played. More would hardly make files smaller.
    private static let keyInterval: Int64 = 4_000_000
    private var lastKey: Int64 = .min
    private var lastTime: Int64 = .min
    /// Nanoseconds for which a copied stream waits for a keyframe after a pause. Some cameras send but the first.
    private static let keyPatience: Int64 = 5_000_000_000
    /// Pictures that went into the encoder and have not come out.
    private(set) var pending = 0
    /// Since when it waits, in the file's time.
    private var waitsSince: Timestamp?

    /// A track of frames of `format`, which players are to turn and mirror.
    init(_ format: VideoFormat, _ coding: Coding, turned turn: PictureOrientation = .upright) {
        self.format = format
        self.coding = coding
        self.turn = turn
    }

    /// The encoder as statistics name it.
    var encoderName: String {
        switch coding {
        case .encoded(let encoder): encoder.name
        case .jpeg: "mjpeg"
        case .copied: "copy"
        }
    }

    /// The preset of an encoder that has one; else empty.
    var encoderPreset: String {
        if case .encoded(let encoder) = coding { return encoder.preset }
        return ""
    }

    /// Whether frames go into the file as they are.
    var isCopied: Bool {
        if case .copied = coding { return true }
        return false
    }

    /// Whether the container's header waits for the first frame.
    var needsFirstFrame: Bool {
        if case .copied(let codec) = coding { return codec != AV_CODEC_ID_MJPEG }
        return false
    }

    /// Nanoseconds that a frame is shown when nothing better is known.
    var nominal: Int64 { format.interval.nanoseconds > 0 ? format.interval.nanoseconds : 33_333_333 }

    /// Nanoseconds by which packets are decoded before they are shown.
    var reordering: Int64 {
        guard case .encoded(let encoder) = coding else { return 0 }
        return Int64(encoder.reordering) * nominal
    }

    /// Adds the stream to a container.
    func add(to muxer: Muxer) throws(CaptureError) {
        switch coding {
        case .encoded(let encoder): try unsafe muxer.addStream(.video, encoder: encoder.context)
        case .jpeg: try muxer.addStream(compressed: format, as: AV_CODEC_ID_MJPEG, header: [])
        case .copied(let codec): try muxer.addStream(compressed: format, as: codec, header: header)
        }
        muxer.setFrameRate(format.interval)
        if turn != .upright { try muxer.setOrientation(turn) }
    }

    /// Whether a file can begin with this frame.
    func canBegin(with buffer: MediaBuffer) -> Bool {
        guard let sets = parameterSets(of: buffer) else { return true }
        guard sets.isKeyframe, sets.isComplete else { return false }
        header = sets.header
        return true
    }

    /// Whether another file of the movie can begin with this frame.
    func canCut(before buffer: MediaBuffer) -> Bool {
        parameterSets(of: buffer).map { $0.isKeyframe && $0.isComplete } ?? true
    }

    /// What a copied stream says of a frame; `nil` where each frame can be the first.
    private func parameterSets(of buffer: MediaBuffer) -> ParameterSets? {
        guard case .copied(let codec) = coding, codec != AV_CODEC_ID_MJPEG else { return nil }
        return unsafe ParameterSets(buffer.bytes, isHEVC: codec == AV_CODEC_ID_HEVC)
    }

    /// Whether a frame goes into the file after those before it: behind a pause, a copied stream goes on with a keyframe. If
    /// none comes for long, it goes on as after any loss.
    func canGoOn(with buffer: MediaBuffer) -> Bool {
        let time = buffer.info.timestamp
        if buffer.isAfterCut { waitsSince = time }
        guard let since = waitsSince, let sets = parameterSets(of: buffer) else { return true }
        guard sets.isKeyframe || time - since >= VideoTrack.keyPatience else { return false }
        waitsSince = nil
        return true
    }

    /// Makes packets of a frame; their times are microseconds.
    ///
    /// - Parameters:
    ///   - isWaiting: Whether they are kept for long, and each may be the first of a file.
    ///   - isHeld: Whether they wait for the header of the file, so that they are copied.
    func encode(
        _ buffer: MediaBuffer,
        at time: Int64,
        isWaiting: Bool = false,
        isHeld: Bool = false
    ) throws(CaptureError) -> [EncodedPacket] {
        let time = max(time, lastTime == .min ? time : lastTime + 1)
        lastTime = time
        let packet: EncodedPacket
        switch coding {
        case .encoded(let encoder):
            let isKey = isWaiting || lastKey == .min || time - lastKey >= VideoTrack.keyInterval
            if isKey { lastKey = time }
            let packets = try encoder.encode(buffer, at: time, isKey: isKey)
            pending += 1 - packets.count
            return packets
        case .jpeg(let encoder):
            packet = try unsafe EncodedPacket(.video, copying: encoder.encode(buffer))
            packet.isKeyframe = true
        case .copied:
            packet =
                isWaiting || isHeld
                ? try unsafe EncodedPacket(.video, copying: buffer.bytes) : try EncodedPacket(.video, lending: buffer)
            packet.isKeyframe = parameterSets(of: buffer)?.isKeyframe ?? true
        }
        unsafe packet.packet.pointee.pts = time
        unsafe packet.packet.pointee.dts = time
        return [packet]
    }

    /// Takes what is still inside.
    func drain() throws(CaptureError) -> [EncodedPacket] {
        guard case .encoded(let encoder) = coding else { return [] }
        pending = 0
        return try encoder.drain()
    }
}
