import CaptureCore

@testable import CaptureDevices

/// Reads the burned-in digits back from a frame's luma.
struct DigitReader {
    let format: VideoFormat

    func luma(_ frame: [UInt8], _ x: Int, _ y: Int) -> UInt8 {
        let step = format.pixelFormat == .yuyv ? 2 : 1
        return frame[y * format.width * step + x * step]
    }

    /// A line of text; `?` where no glyph fits.
    func line(_ line: Int, _ characters: Int, of frame: [UInt8]) -> String {
        let cell = BurnInLayout(height: format.height).cell
        // The box's corner is always background.
        let ground = Int(luma(frame, BurnInLayout.left * cell, BurnInLayout.top * cell))
        return (0..<characters).map { place in
            let rows = (0..<BurnInFont.height).map { row in
                (0..<BurnInFont.width).reduce(UInt8(0)) { bits, column in
                    let x = (BurnInLayout.textLeft + place * BurnInFont.pitch + column) * cell + cell / 2
                    let y = (BurnInLayout.lines[line] + row) * cell + cell / 2
                    return bits << 1 | (abs(Int(luma(frame, x, y)) - ground) > 100 ? 1 : 0)
                }
            }
            guard let index = BurnInFont.glyphs.firstIndex(of: rows) else { return "?" }
            return String(Array("0123456789:.")[index])
        }.joined()
    }

    func number(of frame: [UInt8]) -> String { line(0, 8, of: frame) }
    func clock(of frame: [UInt8]) -> String { line(1, 12, of: frame) }
}
