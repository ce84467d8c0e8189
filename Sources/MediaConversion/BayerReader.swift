package import CaptureCore

/// Reads Bayer patterns, and luma that is packed as they are, and fills in the colours between by the mean of the nearest.
/// Thread-bound.
@safe
final class BayerReader: PictureReader {
    let layout: PictureLayout
    private let structure: PixelStructure
    private let plane: ColorPlane
    private let table: [UInt8]
    /// Three rows of sixteen bits, each with a pixel more at either side.
    private let rows: UnsafeMutablePointer<UInt16>
    private var stride: Int { layout.width + 2 }

    /// A reader of frames whose one plane lies as said.
    init(_ structure: PixelStructure, _ plane: ColorPlane, _ layout: PictureLayout, _ color: ColorDescription) {
        self.structure = structure
        self.plane = plane
        self.layout = layout.with(structure.samples)
        let isLimited = structure.model != .luma && !ColorMeaning(color, structure.model).isFullRange
        table = (0..<256).map { isLimited ? ComponentReader.stretched(UInt8($0)) : UInt8($0) }
        let count = 3 * (layout.width + 2)
        unsafe rows = .allocate(capacity: count)
        unsafe rows.initialize(repeating: 0, count: count)
    }

    deinit {
        unsafe rows.deallocate()
    }

    func read(_ sources: [UnsafePointer<UInt8>], into target: PicturePlanes) {
        let (width, height) = (layout.width, layout.height)
        guard case .bayer(let order) = structure.model else {
            for row in 0..<height {
                let line = unsafe unpack(sources[0], row)
                for column in 0..<width { unsafe target.y[row * width + column] = UInt8(line[column] >> 8) }
            }
            unsafe target.u.update(repeating: 128, count: 2 * layout.chromaSize)
            return
        }
        // The pattern goes on beyond an edge as in a mirror: the next but one row is of the same colours.
        func line(_ row: Int) -> UnsafePointer<UInt16> {
            let inside = row < 0 ? min(1, height - 1) : row >= height ? max(height - 2, 0) : row
            return unsafe unpack(sources[0], inside)
        }
        var above = unsafe line(-1)
        var here = unsafe line(0)
        for row in 0..<height {
            let below = unsafe line(row + 1)
            unsafe fill(target.y + row * width * 3, (above, here, below), order, row)
            unsafe above = here
            unsafe here = below
        }
    }

    /// One row of red, green and blue.
    private func fill(
        _ target: UnsafeMutablePointer<UInt8>,
        _ lines: (above: UnsafePointer<UInt16>, here: UnsafePointer<UInt16>, below: UnsafePointer<UInt16>),
        _ order: PixelStructure.BayerOrder,
        _ row: Int
    ) {
        let isRed = order.redRowFirst == (row % 2 == 0)
        let greenAt = order.greenFirst == (row % 2 == 0) ? 0 : 1
        // Red in a row with red in it, blue in the others.
        let (own, other) = isRed ? (0, 2) : (2, 0)
        let (above, here, below) = unsafe lines
        unsafe table.withUnsafeBufferPointer { table in
            for x in 0..<layout.width {
                let pixel = unsafe target + 3 * x
                let across = unsafe UInt32(here[x - 1]) + UInt32(here[x + 1])
                let upright = unsafe UInt32(above[x]) + UInt32(below[x])
                if x % 2 == greenAt {
                    unsafe pixel[own] = table[Int(across >> 9)]
                    unsafe pixel[1] = table[Int(here[x] >> 8)]
                    unsafe pixel[other] = table[Int(upright >> 9)]
                } else {
                    let corners =
                        unsafe UInt32(above[x - 1]) + UInt32(above[x + 1]) + UInt32(below[x - 1])
                        + UInt32(below[x + 1])
                    unsafe pixel[own] = table[Int(here[x] >> 8)]
                    unsafe pixel[1] = table[Int((across + upright) >> 10)]
                    unsafe pixel[other] = table[Int(corners >> 10)]
                }
            }
        }
    }

    /// A row's numbers, brought to sixteen bits, with their mirror images beyond both ends.
    private func unpack(_ source: UnsafePointer<UInt8>, _ row: Int) -> UnsafePointer<UInt16> {
        let line = unsafe rows + (row % 3) * stride + 1
        let from = unsafe source + min(row, plane.rows - 1) * plane.stride
        unsafe BayerRow.unpack(from, plane.row, structure, into: line, layout.width)
        let last = layout.width - 1
        unsafe line[-1] = line[min(1, last)]
        unsafe line[last + 1] = line[max(last - 1, 0)]
        return unsafe UnsafePointer(line)
    }
}

/// The numbers of one row of a sensor.
package enum BayerRow {
    /// Unpacks a row of `width` numbers to sixteen bits each, the highest bit in bit 15.
    ///
    /// - Parameter there: Bytes of the row that may be read; what lies behind them is taken as the last number.
    package static func unpack(
        _ from: UnsafePointer<UInt8>,
        _ there: Int,
        _ structure: PixelStructure,
        into line: UnsafeMutablePointer<UInt16>,
        _ width: Int
    ) {
        let up = UInt16(16 - structure.depth)
        var done = 0
        if structure.isMIPI {
            done = unsafe packed(from, there, structure, into: line, width)
        } else if structure.components[0].bytes == 1 {
            while done < min(width, there) {
                unsafe line[done] = UInt16(from[done]) << up
                done += 1
            }
        } else {
            while done < min(width, there / 2) {
                unsafe line[done] = (UInt16(from[2 * done]) | UInt16(from[2 * done + 1]) << 8) << up
                done += 1
            }
        }
        for column in done..<max(width, done) { unsafe line[column] = done > 0 ? line[done - 1] : 0 }
    }

    /// MIPI's RAW10, RAW12 and RAW14: a group has the high bytes of its pixels, then the rest of each from the lowest bit
    /// on.
    private static func packed(
        _ from: UnsafePointer<UInt8>,
        _ there: Int,
        _ structure: PixelStructure,
        into line: UnsafeMutablePointer<UInt16>,
        _ width: Int
    ) -> Int {
        let plane = structure.planes[0]
        let low = structure.depth - 8
        let mask = UInt32(1 << low - 1)
        let up = UInt32(8 - low)
        var done = 0
        for group in 0..<min((width + plane.across - 1) / plane.across, there / plane.group) {
            let bytes = unsafe from + group * plane.group
            var rest: UInt32 = 0
            for index in plane.across..<plane.group {
                unsafe rest |= UInt32(bytes[index]) << UInt32(8 * (index - plane.across))
            }
            for index in 0..<min(plane.across, width - done) {
                let bits = rest >> UInt32(index * low) & mask
                unsafe line[done] = UInt16(bytes[index]) << 8 | UInt16(bits << up)
                done += 1
            }
        }
        return done
    }
}
