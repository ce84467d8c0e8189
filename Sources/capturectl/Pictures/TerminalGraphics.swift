import FoundationEssentials

/// A way of showing pictures on a terminal.
enum TerminalGraphics: String, CaseIterable, Sendable {
    /// The graphics protocol of kitty, which Ghostty, Konsole and WezTerm know too.
    case kitty
    /// The inline images of iTerm2, which WezTerm and others know too.
    case iterm
    /// DEC's, of xterm, foot, mlterm and others.
    case sixel

    /// Pixels of a row of text, where a picture's height has to be given in pixels: of common fonts the least.
    private static let rowHeight = 16

    /// What shows a JPEG.
    ///
    /// - Parameter rows: The rows of text that it may take.
    /// - Returns: `nil` for what cannot be shown.
    func sequence(_ jpeg: [UInt8], rows: Int) -> String? {
        let height = rows * TerminalGraphics.rowHeight
        switch self {
        case .kitty: return RGBPicture(jpeg: jpeg, height: height).map { TerminalGraphics.kitty($0, "r=\(rows)") }
        case .iterm: return TerminalGraphics.iterm(jpeg, rows: rows)
        case .sixel: return RGBPicture(jpeg: jpeg, height: height).map { SixelEncoder($0).sequence }
        }
    }

    /// The protocol takes no JPEG: pixels, in pieces of at most 4096 characters.
    ///
    /// - Parameter place: The protocol's keys for where it stands.
    static func kitty(_ picture: RGBPicture, _ place: String) -> String {
        let text = Array(Data(picture.bytes).base64EncodedString().utf8)
        var sequence = ""
        var begin = 0
        while begin < text.count {
            let end = min(begin + 4096, text.count)
            let first = begin == 0 ? "a=T,f=24,s=\(picture.width),v=\(picture.height),\(place),q=2," : ""
            let piece = String(decoding: text[begin..<end], as: UTF8.self)
            sequence += "\u{1B}_G\(first)m=\(end < text.count ? 1 : 0);\(piece)\u{1B}\\"
            begin = end
        }
        return sequence
    }

    private static func iterm(_ jpeg: [UInt8], rows: Int) -> String? {
        guard jpeg.starts(with: [0xff, 0xd8]) else { return nil }
        let facts = "inline=1;size=\(jpeg.count);height=\(rows);preserveAspectRatio=1"
        return "\u{1B}]1337;File=\(facts):\(Data(jpeg).base64EncodedString())\u{07}"
    }
}
