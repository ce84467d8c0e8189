import CaptureCore

/// Draws synthetic frames: a background that was rendered beforehand is copied, then the digits are written over it.
///
/// Immutable and thread-safe; drawing allocates nothing.
struct TestPicture: Sendable {
    private let bars: [UInt8]
    private let flash: [UInt8]
    private let cell: Int
    /// Bytes from one luma sample to the next, and from row to row.
    private let step: Int
    private let pitch: Int
    /// Bytes in which luma samples are: all of YUYV, else the first plane.
    private let lumaBytes: Int
    /// For a Bayer pattern.
    private let sensor: SensorPixels?
    private let size: (width: Int, height: Int)
    /// Distances, which nothing is drawn over.
    private let isDepth: Bool
    /// The part of the sensor that it shows.
    let crop: PixelRectangle

    /// A picture of one of the synthetic camera's formats.
    ///
    /// - Parameter crop: The part of the sensor that fills the frame; the digits' box stays as it is.
    init(_ format: VideoFormat, crop: PixelRectangle = SyntheticOptics.sensor) {
        self.crop = crop
        let pattern = ColorBars(width: format.width, height: format.height)
        let source = CroppedPlaces(format, crop)
        isDepth = format.pixelFormat.isDepth
        if isDepth {
            bars = Self.distances(format, source)
        } else if crop == SyntheticOptics.sensor {
            bars = Self.render(format) { pattern.color($0, $1) }
        } else {
            bars = Self.render(format) { x, y in
                pattern.box.contains(x, y) ? ColorBars.black : pattern.color(source.column(x), source.row(y))
            }
        }
        flash = isDepth ? bars : Self.render(format) { _, _ in ColorBars.white }
        cell = pattern.box.cell
        step = format.pixelFormat == .yuyv ? 2 : 1
        pitch = format.width * step
        lumaBytes = pitch * format.height
        sensor = SensorPixels(format.pixelFormat, width: format.width)
        size = (format.width, format.height)
    }

    /// Draws a frame.
    ///
    /// - Parameters:
    ///   - memory: At least the format's frame size.
    ///   - number: The frame's number since the stream's start; its last eight digits are shown.
    ///   - time: Stream time, in nanoseconds.
    ///   - isFlash: White, with dark digits.
    func draw(into memory: UnsafeMutableRawBufferPointer, number: UInt64, time: Int64, isFlash: Bool) {
        unsafe (isFlash ? flash : bars).withUnsafeBytes { unsafe memory.copyMemory(from: $0) }
        if isDepth { return }
        let ink: UInt8 = isFlash ? ColorBars.black.y : ColorBars.white.y

        var rest = number % 100_000_000
        var place = 7
        while place >= 0 {
            unsafe glyph(Int(rest % 10), line: 0, place: place, ink, memory)
            rest /= 10
            place -= 1
        }
        let milliseconds = Int(time / 1_000_000)
        let seconds = milliseconds / 1000
        unsafe pair(seconds / 3600 % 100, at: 0, ink, memory)
        unsafe glyph(BurnInFont.colon, line: 1, place: 2, ink, memory)
        unsafe pair(seconds / 60 % 60, at: 3, ink, memory)
        unsafe glyph(BurnInFont.colon, line: 1, place: 5, ink, memory)
        unsafe pair(seconds % 60, at: 6, ink, memory)
        unsafe glyph(BurnInFont.point, line: 1, place: 8, ink, memory)
        unsafe glyph(milliseconds % 1000 / 100, line: 1, place: 9, ink, memory)
        unsafe pair(milliseconds % 100, at: 10, ink, memory)
    }

    /// Makes a frame that was drawn brighter or darker.
    ///
    /// - Parameters:
    ///   - memory: The frame.
    ///   - brightness: In 256ths of the present one, 0 to 16384.
    func expose(_ memory: UnsafeMutableRawBufferPointer, to brightness: Int64) {
        if isDepth { return }
        if let sensor {
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let number = unsafe Int64(sensor.number(x, y, in: memory)) * brightness / 256
                    unsafe sensor.put(UInt16(clamping: number), x, y, in: memory)
                }
            }
            return
        }
        let black = Int(ColorBars.black.y)
        for index in stride(from: 0, to: lumaBytes, by: step) {
            let above = unsafe (Int(memory[index]) - black) * Int(brightness) / 256
            unsafe memory[index] = UInt8(max(min(black + above, Int(ColorBars.white.y)), 0))
        }
    }

    private func pair(_ value: Int, at place: Int, _ ink: UInt8, _ memory: UnsafeMutableRawBufferPointer) {
        unsafe glyph(value / 10, line: 1, place: place, ink, memory)
        unsafe glyph(value % 10, line: 1, place: place + 1, ink, memory)
    }

    private func glyph(_ index: Int, line: Int, place: Int, _ ink: UInt8, _ memory: UnsafeMutableRawBufferPointer) {
        let left = (BurnInLayout.textLeft + place * BurnInFont.pitch) * cell * step
        for row in 0..<BurnInFont.height {
            let bits = BurnInFont.glyphs[index][row]
            let top = (BurnInLayout.lines[line] + row) * cell
            for column in 0..<BurnInFont.width where bits >> UInt8(BurnInFont.width - 1 - column) & 1 == 1 {
                let start = left + column * cell * step
                if let sensor {
                    let number: UInt16 = ink == ColorBars.white.y ? .max : 0
                    for y in top..<top + cell {
                        for x in start..<start + cell { unsafe sensor.put(number, x, y, in: memory) }
                    }
                    continue
                }
                for y in top..<top + cell {
                    for x in 0..<cell { unsafe memory[y * pitch + start + x * step] = ink }
                }
            }
        }
    }

    /// A wall that is half a metre away at the left and four and a half at the right; nothing is known of the top rows, as
    /// with a camera's shadow.
    private static func distances(_ format: VideoFormat, _ source: CroppedPlaces) -> [UInt8] {
        let unknown = format.height / 8
        return (0..<format.height).flatMap { y in
            (0..<format.width).flatMap { x in
                let distance = source.row(y) < unknown ? 0 : 500 + 4000 * source.column(x) / format.width
                return [UInt8(distance & 0xff), UInt8(distance >> 8)]
            }
        }
    }

    /// A whole frame from the colour of each pixel; chroma is taken from the left and upper pixel of each group.
    private static func render(_ format: VideoFormat, _ color: (Int, Int) -> ColorBars.Color) -> [UInt8] {
        let (width, height) = (format.width, format.height)
        if let sensor = SensorPixels(format.pixelFormat, width: width) {
            var frame = [UInt8](repeating: 0, count: format.frameSize)
            unsafe frame.withUnsafeMutableBytes { memory in
                var (last, rgb) = (ColorBars.white, ColorBars.white.rgb)
                for y in 0..<height {
                    for x in 0..<width {
                        let color = color(x, y)
                        if color != last { (last, rgb) = (color, color.rgb) }
                        unsafe sensor.put(rgb[sensor.channel(x, y)], x, y, in: memory)
                    }
                }
            }
            return frame
        }
        var frame: [UInt8] = []
        frame.reserveCapacity(format.frameSize)
        switch format.pixelFormat {
        case .yuyv:
            for y in 0..<height {
                for x in stride(from: 0, to: width, by: 2) {
                    let first = color(x, y)
                    frame += [first.y, first.cb, color(x + 1, y).y, first.cr]
                }
            }
        default:
            for y in 0..<height { for x in 0..<width { frame.append(color(x, y).y) } }
            let chroma = stride(from: 0, to: height, by: 2).flatMap { y in
                stride(from: 0, to: width, by: 2).map { x in color(x, y) }
            }
            if format.pixelFormat == .nv12 {
                for pixel in chroma { frame += [pixel.cb, pixel.cr] }
            } else {
                frame += chroma.map(\.cb)
                frame += chroma.map(\.cr)
            }
        }
        return frame
    }
}

/// Where the pixels of a cropped picture come from in the whole one of the same size. Thread-safe.
private struct CroppedPlaces {
    private let size: (width: Int, height: Int)
    private let crop: PixelRectangle
    private let sensor = SyntheticOptics.sensor

    init(_ format: VideoFormat, _ crop: PixelRectangle) {
        size = (format.width, format.height)
        self.crop = crop
    }

    func column(_ x: Int) -> Int { (crop.left * size.width + x * crop.width) / sensor.width }
    func row(_ y: Int) -> Int { (crop.top * size.height + y * crop.height) / sensor.height }
}
