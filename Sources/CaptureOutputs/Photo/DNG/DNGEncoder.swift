import CaptureCore
import MediaConversion
import MediaExamination

/// Makes a DNG of a sensor's own numbers, one of red, green and blue a pixel, by libtiff. Thread-bound.
///
/// The numbers are not touched. A developing program learns from tags how they lie, what is black and white, and what the
/// colours are (DNG 1.4, chapter 4).
struct DNGEncoder {
    private let format: VideoFormat
    private let structure: PixelStructure
    private let plane: ColorPlane
    private let pattern: [UInt8]
    private let color: DNGColor

    /// An encoder of frames of a Bayer format.
    ///
    /// - Throws: `.noSuchFormat` for another, `.inputOutput` without libtiff.
    init(_ format: VideoFormat) throws(CaptureError) {
        guard let structure = PixelStructure(format.pixelFormat), case .bayer(let order) = structure.model,
            let plane = structure.planes(of: format)?.first
        else {
            throw CaptureError(
                .noSuchFormat,
                "a DNG holds a sensor's own numbers, so the camera has to run in a Bayer format, not \(format.pixelFormat)"
            )
        }
        unsafe try TIFFFile.load()
        self.format = format
        self.structure = structure
        self.plane = plane
        // 0 is red, 1 green, 2 blue.
        pattern = order.rawValue.utf8.map { $0 == UInt8(ascii: "r") ? 0 : $0 == UInt8(ascii: "g") ? 1 : 2 }
        color = DNGColor(format.color, depth: structure.depth)
    }

    /// Whether a frame has all of its rows.
    func isWhole(_ frame: UnsafeRawBufferPointer) -> Bool { frame.count >= plane.end }

    /// The same picture, developed, which a DNG has in full size beside the sensor's numbers.
    struct Preview {
        /// A whole file.
        var jpeg: [UInt8]
        /// How many pixels one sample of chroma stands for.
        var chromaStep: (across: Int, down: Int)
    }

    /// The file of a frame.
    ///
    /// - Parameter preview: Is put inside as it is.
    func encode(
        _ frame: UnsafeRawBufferPointer,
        _ facts: FileFacts,
        turned turn: PictureOrientation,
        preview: Preview? = nil
    ) throws(CaptureError) -> [UInt8] {
        var pixels = unsafe numbers(frame)
        let file = try TIFFFile(capacity: pixels.count + (preview?.jpeg.count ?? 0) + 256 * 1024)
        try file.begin(facts, of: format, bits: structure.depth > 8 ? 16 : 8, meaning: Tag.filteredColors, turned: turn)
        try file.set(Tag.patternSize, [2, 2] as [UInt16])
        try file.set(Tag.pattern, pattern)
        try file.set(Tag.version, [1, 4, 0, 0] as [UInt8])
        try file.set(Tag.oldestVersion, [1, 1, 0, 0] as [UInt8])
        let camera = [facts.origin.cameraMaker, facts.origin.camera].filter { !$0.isEmpty }.joined(separator: " ")
        try file.set(Tag.camera, camera.isEmpty ? "camera" : camera)
        if let table = color.linearization { try file.set(Tag.linearization, table) }
        try file.set(Tag.black, [Float(color.black)])
        try file.set(Tag.white, [UInt32(color.white)])
        try file.set(Tag.matrix, color.matrix)
        try file.set(Tag.neutral, [1, 1, 1] as [Float])
        try file.set(Tag.illuminant, number: Tag.daylight)
        // libtiff puts the directory that follows below this one, and fills in where it is.
        if preview != nil { try file.set(TIFFTag.subdirectories, [0] as [UInt64]) }
        try file.write(&pixels)
        try file.end()
        if let preview { try add(preview, to: file) }
        return file.bytes
    }

    private func add(_ preview: Preview, to file: TIFFFile) throws(CaptureError) {
        try file.setPicture(format, kind: 1, samples: 3, bits: 8, compression: 7, meaning: TIFFTag.lumaAndChroma)
        try file.set(TIFFTag.chromaStep, UInt16(preview.chromaStep.across), UInt16(preview.chromaStep.down))
        // Where JPEG has its chroma, and its full range.
        try file.set(TIFFTag.chromaPlace, number: 1)
        try file.set(TIFFTag.range, [0, 255, 128, 255, 128, 255] as [Float])
        var jpeg = preview.jpeg
        try file.write(&jpeg)
        try file.end()
    }

    /// All numbers, in 8 bits each, or in 16, little-endian, as the file has them.
    private func numbers(_ frame: UnsafeRawBufferPointer) -> [UInt8] {
        let size = structure.depth > 8 ? 2 : 1
        let down = UInt16(16 - structure.depth)
        var line = [UInt16](repeating: 0, count: format.width)
        return unsafe [UInt8](unsafeUninitializedCapacity: format.width * format.height * size) { bytes, count in
            for row in 0..<format.height {
                let start = plane.offset + min(row, plane.rows - 1) * plane.stride
                let there = max(0, min(plane.row, frame.count - start))
                if there > 0, let base = frame.baseAddress {
                    unsafe line.withUnsafeMutableBufferPointer { line in
                        guard let numbers = line.baseAddress else { return }
                        unsafe BayerRow.unpack(
                            (base + start).assumingMemoryBound(to: UInt8.self),
                            there,
                            structure,
                            into: numbers,
                            format.width
                        )
                    }
                }
                for number in line {
                    let value = number >> down
                    unsafe bytes[count] = UInt8(truncatingIfNeeded: value)
                    if size == 2 { unsafe bytes[count + 1] = UInt8(value >> 8) }
                    count += size
                }
            }
        }
    }

    /// Numbers of TIFF/EP and DNG.
    private enum Tag {
        static let patternSize: UInt32 = 33421
        static let pattern: UInt32 = 33422
        static let version: UInt32 = 50706
        static let oldestVersion: UInt32 = 50707
        static let camera: UInt32 = 50708
        static let linearization: UInt32 = 50712
        static let black: UInt32 = 50714
        static let white: UInt32 = 50717
        static let matrix: UInt32 = 50721
        static let neutral: UInt32 = 50728
        static let illuminant: UInt32 = 50778
        static let filteredColors = 32803
        /// D65, the white of nearly all of V4L2's colour spaces.
        static let daylight = 21
    }
}
