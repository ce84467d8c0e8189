import CaptureCore
import MediaConversion
import MediaExamination

/// Makes a picture of 16 bits of a camera's distances: each number is the one that the camera delivered, in millimetres; 0 is
/// unknown. Thread-bound.
struct DepthEncoder {
    /// The kinds of file.
    enum Container {
        /// A grey PNG, by libavcodec.
        case png
        /// A grey TIFF, by libtiff.
        case tiff
    }

    /// What makes the file; a recorder opens it while it may still open files.
    private enum Maker {
        case png(PNGEncoder)
        case tiff
    }

    /// What the file says of its numbers.
    static let meaning = "Depth in millimetres; 0 is unknown"

    private let maker: Maker
    private let format: VideoFormat
    private let plane: ColorPlane

    /// An encoder of a depth format's frames.
    ///
    /// - Throws: `.noSuchFormat` for another, `.inputOutput` without libtiff.
    init(_ format: VideoFormat, into container: Container) throws(CaptureError) {
        guard format.pixelFormat.isDepth, let structure = PixelStructure(format.pixelFormat),
            let plane = structure.planes(of: format)?.first
        else {
            throw CaptureError(
                .noSuchFormat,
                "a TIFF is made of distances, which the camera does not deliver in \(format.pixelFormat); take a jpeg or png"
            )
        }
        switch container {
        case .png: maker = .png(try PNGEncoder(grey: format.width, format.height))
        case .tiff:
            unsafe try TIFFFile.load()
            maker = .tiff
        }
        self.format = format
        self.plane = plane
    }

    /// Whether a frame has all of its rows.
    func isWhole(_ frame: UnsafeRawBufferPointer) -> Bool { frame.count >= plane.end }

    /// The file of a whole frame.
    func encode(_ frame: UnsafeRawBufferPointer, _ facts: FileFacts) throws(CaptureError) -> [UInt8] {
        switch maker {
        case .png(let encoder):
            var grey = unsafe numbers(frame, highestFirst: true)
            let packet = try encoder.encode(grey: &grey)
            return try unsafe PhotoFacts.png(
                packet.bytes,
                facts,
                text: DepthEncoder.meaning,
                width: format.width,
                height: format.height
            )
        case .tiff: return try unsafe tiff(numbers(frame, highestFirst: false), facts)
        }
    }

    /// All numbers without gaps.
    private func numbers(_ frame: UnsafeRawBufferPointer, highestFirst: Bool) -> [UInt8] {
        let row = format.width * 2
        var numbers = [UInt8](repeating: 0, count: row * format.height)
        for y in 0..<format.height {
            let (from, to) = (plane.offset + y * plane.stride, y * row)
            for place in 0..<row { unsafe numbers[to + (highestFirst ? place ^ 1 : place)] = frame[from + place] }
        }
        return numbers
    }

    private func tiff(_ numbers: [UInt8], _ facts: FileFacts) throws(CaptureError) -> [UInt8] {
        var numbers = numbers
        let file = try TIFFFile(capacity: numbers.count + 64 * 1024)
        try file.begin(facts, of: format, bits: 16, meaning: TIFFTag.grey)
        try file.set(TIFFTag.description, DepthEncoder.meaning)
        try file.write(&numbers)
        try file.end()
        return file.bytes
    }
}
