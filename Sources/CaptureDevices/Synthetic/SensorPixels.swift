import CaptureCore

/// Where the numbers of a sensor lie in a frame of a Bayer format, one after the other without padding. Thread-safe;
/// allocates nothing.
struct SensorPixels: Sendable {
    let order: PixelStructure.BayerOrder
    /// Bytes from row to row.
    let pitch: Int
    private let depth: Int
    /// MIPI's groups: pixels in each, and bytes; `nil` for numbers in bytes of their own.
    private let group: (across: Int, bytes: Int)?

    /// The pixels of a format; `nil` for one that is no Bayer pattern.
    init?(_ pixelFormat: PixelFormat, width: Int) {
        guard let structure = PixelStructure(pixelFormat), case .bayer(let order) = structure.model else { return nil }
        let plane = structure.planes[0]
        self.order = order
        depth = structure.depth
        pitch = plane.row(width)
        group = structure.isMIPI ? (plane.across, plane.group) : nil
    }

    /// Which of red, green and blue a pixel is: 0, 1 or 2.
    func channel(_ x: Int, _ y: Int) -> Int {
        let isRedRow = order.redRowFirst == (y % 2 == 0)
        let isGreen = (order.greenFirst == (y % 2 == 0)) == (x % 2 == 0)
        return isGreen ? 1 : isRedRow ? 0 : 2
    }

    /// The number of a pixel, its highest bit in bit 15.
    func number(_ x: Int, _ y: Int, in memory: UnsafeMutableRawBufferPointer) -> UInt16 {
        guard let group else {
            let place = y * pitch + (depth > 8 ? 2 * x : x)
            if depth == 8 { return unsafe UInt16(memory[place]) << 8 }
            return unsafe (UInt16(memory[place]) | UInt16(memory[place + 1]) << 8) << UInt16(16 - depth)
        }
        let (start, index) = (y * pitch + x / group.across * group.bytes, x % group.across)
        var number = unsafe UInt16(memory[start + index]) << 8
        for bit in 0..<depth - 8 {
            let place = index * (depth - 8) + bit
            let byte = unsafe memory[start + group.across + place / 8]
            number |= UInt16(byte >> UInt8(place % 8) & 1) << UInt16(bit + 16 - depth)
        }
        return number
    }

    /// Writes a number whose highest bit is in bit 15.
    func put(_ number: UInt16, _ x: Int, _ y: Int, in memory: UnsafeMutableRawBufferPointer) {
        guard let group else {
            let place = y * pitch + (depth > 8 ? 2 * x : x)
            let value = number >> UInt16(16 - depth)
            unsafe memory[place] = UInt8(truncatingIfNeeded: value)
            if depth > 8 { unsafe memory[place + 1] = UInt8(value >> 8) }
            return
        }
        let (start, index) = (y * pitch + x / group.across * group.bytes, x % group.across)
        unsafe memory[start + index] = UInt8(number >> 8)
        for bit in 0..<depth - 8 {
            let place = index * (depth - 8) + bit
            let mask = UInt8(1) << UInt8(place % 8)
            let isSet = number >> UInt16(bit + 16 - depth) & 1 == 1
            let byte = start + group.across + place / 8
            unsafe memory[byte] = isSet ? memory[byte] | mask : memory[byte] & ~mask
        }
    }
}

extension ColorBars.Color {
    /// Red, green and blue of BT.601's limited range, each of 16 bits.
    var rgb: [UInt16] {
        let (luma, blue, red) = (1.164384 * Double(Int(y) - 16), Double(Int(cb) - 128), Double(Int(cr) - 128))
        let parts = [luma + 1.596027 * red, luma - 0.391762 * blue - 0.812968 * red, luma + 2.017232 * blue]
        return parts.map { UInt16(min(max($0.rounded(), 0), 255)) * 257 }
    }
}
