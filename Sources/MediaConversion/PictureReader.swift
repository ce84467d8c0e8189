package import CaptureCore

/// Reads a raw frame's planes, in a ring or elsewhere, and makes a picture of them. Thread-bound.
///
/// The planes may change while they are read: whatever stands in them, nothing outside of them is read and nothing
/// outside of the picture is written.
protocol PictureReader: AnyObject {
    /// What comes out.
    var layout: PictureLayout { get }

    /// Fills a picture.
    ///
    /// - Parameter sources: Where each colour plane begins.
    func read(_ sources: [UnsafePointer<UInt8>], into target: PicturePlanes)
}

extension PixelStructure {
    /// The samples that keep what the format holds.
    package var samples: PictureLayout.Samples {
        guard model == .yuv else { return model == .luma ? .yuv420 : .rgb }
        return switch (components[1].across, components[1].down) {
        case (2, 2): .yuv420
        case (2, 1): .yuv422
        default: .yuv444
        }
    }
}

/// Reads component by component: any structure of whole words. Thread-bound.
@safe
final class ComponentReader: PictureReader {
    let layout: PictureLayout
    private let structure: PixelStructure
    private let planes: [ColorPlane]
    /// From each component's highest eight bits to a byte.
    private let tables: [[UInt8]]
    private let hues: [(sixth: Int, rest: Int)]

    /// A reader of frames whose colour planes lie as `planes` says. Red, green and blue of limited range become full.
    init(_ structure: PixelStructure, _ planes: [ColorPlane], _ layout: PictureLayout, _ color: ColorDescription) {
        self.structure = structure
        self.planes = planes
        self.layout = layout.with(structure.samples)
        let isLimited = structure.model == .rgb && !ColorMeaning(color, structure.model).isFullRange
        tables = structure.components.map { component in
            (0..<256).map { value in
                let byte = ComponentReader.byte(value, bits: component.bits, structure.model)
                return isLimited ? ComponentReader.stretched(byte) : byte
            }
        }
        hues = HueTable.sectors(color.encoding)
    }

    /// A component's highest bits as a byte.
    private static func byte(_ value: Int, bits: Int, _ model: PixelStructure.Model) -> UInt8 {
        guard bits < 8 else { return UInt8(value) }
        let most = 1 << bits - 1
        // Half of a chroma is grey, and stays half.
        return model == .yuv
            ? UInt8(clamping: value << (8 - bits)) : UInt8(clamping: (min(value, most) * 255 + most / 2) / most)
    }

    /// From 16…235 to 0…255.
    static func stretched(_ byte: UInt8) -> UInt8 { UInt8(clamping: ((Int(byte) - 16) * 255 + 109) / 219) }

    func read(_ sources: [UnsafePointer<UInt8>], into target: PicturePlanes) {
        if layout.samples == .rgb {
            for index in 0..<3 {
                unsafe gather(index, sources, target.y + index, step: 3, (layout.width, layout.height))
            }
            if structure.model == .hsv { unsafe HueTable.turn(target.y, count: layout.width * layout.height, hues) }
            return
        }
        unsafe gather(0, sources, target.y, step: 1, (layout.width, layout.height))
        let size = (layout.chromaWidth, layout.chromaHeight)
        if structure.model == .luma {
            unsafe target.u.update(repeating: 128, count: 2 * layout.chromaSize)
        } else {
            unsafe gather(1, sources, target.u, step: 1, size)
            unsafe gather(2, sources, target.v, step: 1, size)
        }
    }

    /// One component of a whole picture. Where a driver leaves out what an odd size would need, the last there is serves.
    private func gather(
        _ index: Int,
        _ sources: [UnsafePointer<UInt8>],
        _ target: UnsafeMutablePointer<UInt8>,
        step: Int,
        _ size: (width: Int, height: Int)
    ) {
        let component = structure.components[index]
        let plane = planes[component.plane]
        let there = (plane.row - component.offset - component.bytes) / component.step + 1
        // One value may be for more pixels than the picture has of it.
        let across = index == 0 ? 1 : max(component.across * size.width / layout.width, 1)
        let down = index == 0 ? 1 : max(component.down * size.height / layout.height, 1)
        let (width, rows) = (size.width, size.height)
        unsafe tables[index].withUnsafeBufferPointer { table in
            for row in 0..<rows {
                let from =
                    unsafe sources[component.plane] + min(row / down, plane.rows - 1) * plane.stride + component.offset
                let to = unsafe target + row * width * step
                let line = unsafe Line(from: from, to: to, step: step, width: width, there: there, across: across)
                unsafe ComponentReader.fill(line, component, table)
            }
        }
    }

    /// One row of one component.
    @unsafe
    private struct Line {
        let from: UnsafePointer<UInt8>
        let to: UnsafeMutablePointer<UInt8>
        let step: Int
        let width: Int
        /// Words that are there, at least one.
        let there: Int
        let across: Int
    }

    private static func fill(
        _ line: Line,
        _ component: PixelStructure.Component,
        _ table: UnsafeBufferPointer<UInt8>
    ) {
        let drop = UInt32(max(component.bits - 8, 0) + component.shift)
        let mask = UInt32(1 << min(component.bits, 8) - 1)
        switch (component.bytes, component.isBigEndian) {
        case (1, _):
            unsafe fill(line, component.step) { place in unsafe table[Int(UInt32(place[0]) >> drop & mask)] }
        case (2, false):
            unsafe fill(line, component.step) { place in
                unsafe table[Int((UInt32(place[0]) | UInt32(place[1]) << 8) >> drop & mask)]
            }
        case (2, true):
            unsafe fill(line, component.step) { place in
                unsafe table[Int((UInt32(place[1]) | UInt32(place[0]) << 8) >> drop & mask)]
            }
        default:
            unsafe fill(line, component.step) { place in
                let bytes = unsafe UnsafeRawPointer(place).loadUnaligned(as: UInt32.self)
                let word = component.isBigEndian ? UInt32(bigEndian: bytes) : UInt32(littleEndian: bytes)
                return unsafe table[Int(word >> drop & mask)]
            }
        }
    }

    @inline(__always)
    private static func fill(_ line: Line, _ step: Int, _ value: (UnsafePointer<UInt8>) -> UInt8) {
        let count = unsafe min(line.there, (line.width + line.across - 1) / line.across)
        var (from, to) = unsafe (line.from, line.to)
        if unsafe line.across == 1 {
            for _ in 0..<count {
                unsafe to.pointee = unsafe value(from)
                unsafe from += step
                unsafe to += line.step
            }
        } else {
            for word in 0..<count {
                let byte = unsafe value(from)
                for _ in 0..<(unsafe min(line.across, line.width - word * line.across)) {
                    unsafe to.pointee = byte
                    unsafe to += line.step
                }
                unsafe from += step
            }
        }
        // `from` is one past the last word.
        let last = unsafe value(from - step)
        for _ in 0..<(unsafe max(line.width - count * line.across, 0)) {
            unsafe to.pointee = last
            unsafe to += line.step
        }
    }
}
