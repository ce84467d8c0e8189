import CaptureCore
import MediaConversion
import MediaExamination

/// How a frame becomes a picture. Thread-bound to the writer's thread.
enum PictureCoding {
    /// A camera's JPEG, after the decoder has found it whole.
    case asItIs(JPEGDecoder)
    case jpeg(JPEGEncoder)
    case png(PNGEncoder)
    case dng(DNGEncoder)
    case depth(DepthEncoder)

    /// As the statistics name it.
    var name: String {
        switch self {
        case .asItIs: "copy"
        case .jpeg: "mjpeg"
        case .png: "png"
        case .dng: "dng"
        case .depth: "depth"
        }
    }

    /// Whether a frame has all that the picture takes of it.
    func isWhole(_ frame: MediaBuffer) -> Bool {
        switch self {
        case .asItIs(let decoder): unsafe decoder.isWhole(frame.bytes) && JPEGFile.complete(frame.bytes) != nil
        case .jpeg, .png: true
        case .dng(let encoder): unsafe encoder.isWhole(frame.bytes)
        case .depth(let encoder): unsafe encoder.isWhole(frame.bytes)
        }
    }

    /// The file of a whole frame.
    ///
    /// - Parameter turn: How it is to be shown. A PNG comes turned already; a JPEG and a DNG say it.
    func file(
        of frame: MediaBuffer,
        _ format: VideoFormat,
        _ facts: FileFacts,
        turned turn: PictureOrientation
    ) throws(CaptureError) -> [UInt8] {
        switch self {
        case .asItIs:
            let whole = unsafe JPEGFile.complete(frame.bytes) ?? []
            return try PhotoFacts.jpeg(whole, facts, width: format.width, height: format.height, turned: turn)
        case .jpeg(let encoder):
            let plain = try unsafe Array(encoder.encode(frame))
            return try PhotoFacts.jpeg(plain, facts, width: format.width, height: format.height, turned: turn)
        case .png(let encoder):
            let packet = try encoder.encode(frame)
            let (width, height) =
                turn.swapsSides ? (format.height, format.width) : (format.width, format.height)
            return try unsafe PhotoFacts.png(
                packet.bytes,
                facts,
                colors: encoder.colorCodes,
                pixels: frame.bytes,
                width: width,
                height: height
            )
        case .dng(let encoder): return try unsafe encoder.encode(frame.bytes, facts, turned: turn)
        case .depth(let encoder): return try unsafe encoder.encode(frame.bytes, facts)
        }
    }
}
