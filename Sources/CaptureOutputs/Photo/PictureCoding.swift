import CaptureCore
import MediaConversion
import MediaExamination

/// How a frame becomes a picture. Thread-bound to the writer's thread.
enum PictureCoding {
    /// A camera's JPEG.
    case asItIs(WholeJPEG)
    case jpeg(JPEGEncoder)
    case png(PNGEncoder)
    case dng(DNGEncoder)
    /// A DNG with a JPEG of the same frame inside. The converter made the parts for both.
    case pair(DNGEncoder, JPEGEncoder, PairConverter)
    case depth(DepthEncoder)

    /// As the statistics name it.
    var name: String {
        switch self {
        case .asItIs: "copy"
        case .jpeg: "mjpeg"
        case .png: "png"
        case .dng: "dng"
        case .pair: "dng+mjpeg"
        case .depth: "depth"
        }
    }

    /// Whether a frame has all that the picture takes of it.
    func isWhole(_ frame: MediaBuffer) -> Bool {
        switch self {
        case .asItIs(let image): unsafe image.take(frame.bytes)
        case .jpeg, .png: true
        case .dng(let encoder): unsafe encoder.isWhole(frame.bytes)
        case .pair(let encoder, _, let pairs): unsafe encoder.isWhole(pairs.parts(of: frame)[0].bytes)
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
        case .asItIs(let image):
            return try PhotoFacts.jpeg(
                image.whole,
                facts,
                width: format.width,
                height: format.height,
                turned: turn,
                thumbnail: image.small.flatMap { (small) throws(CaptureError) in try Thumbnail.of(small) }
            )
        case .jpeg(let encoder): return try jpeg(of: frame, by: encoder, format, facts, turned: turn)
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
        case .pair(let encoder, let shown, let pairs):
            let parts = pairs.parts(of: frame)
            let preview = DNGEncoder.Preview(
                jpeg: try jpeg(of: parts[1], by: shown, format, facts, turned: turn),
                chromaStep: shown.chromaStep
            )
            return try unsafe encoder.encode(parts[0].bytes, facts, turned: turn, preview: preview)
        case .depth(let encoder): return try unsafe encoder.encode(frame.bytes, facts)
        }
    }

    private func jpeg(
        of frame: MediaBuffer,
        by encoder: JPEGEncoder,
        _ format: VideoFormat,
        _ facts: FileFacts,
        turned turn: PictureOrientation
    ) throws(CaptureError) -> [UInt8] {
        let plain = try unsafe Array(encoder.encode(frame))
        return try PhotoFacts.jpeg(
            plain,
            facts,
            width: format.width,
            height: format.height,
            turned: turn,
            thumbnail: encoder.thumbnail(of: frame)
        )
    }
}

/// A camera's JPEG, with what was decoded of it to find it whole. Thread-bound.
final class WholeJPEG {
    private let decoder: JPEGDecoder
    /// The image, as every program opens it.
    private(set) var whole: [UInt8] = []
    /// The image at an eighth.
    private(set) var small: SmallPicture?

    init(_ decoder: JPEGDecoder) {
        self.decoder = decoder
    }

    /// Takes a frame, if it is whole.
    ///
    /// - Returns: Whether it is.
    func take(_ frame: UnsafeRawBufferPointer) -> Bool {
        guard let small = unsafe decoder.eighth(of: frame), let whole = unsafe JPEGFile.complete(frame) else {
            return false
        }
        (self.whole, self.small) = (whole, small)
        return true
    }
}
