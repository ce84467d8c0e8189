/// How a terminal shows a picture in the place of the one before.
enum TerminalPicture: Hashable {
    case kitty
    case sixel
    /// A character for every two pixels, one above the other; with all colours, or with 216.
    case blocks(isRich: Bool)

    /// A way that goes with what the terminal says that it can show. A picture of iTerm2's protocol would be a file each
    /// time; what knows that one knows sixels, too.
    init(_ graphics: TerminalGraphics?, isRich: Bool) {
        switch graphics {
        case .kitty: self = .kitty
        case .sixel, .iterm: self = .sixel
        case nil: self = .blocks(isRich: isRich)
        }
    }

    /// Pixels that fit above the last row, which is for text: the most of each direction.
    func room(in size: TerminalSize) -> (width: Int, height: Int) {
        let rows = max(size.rows - 1, 1)
        switch self {
        // Of more, a terminal would draw few a second.
        case .kitty: return (min(size.columns * size.cell.width, 640), min(rows * size.cell.height, 640))
        case .sixel: return (min(size.columns * size.cell.width, 320), min(rows * size.cell.height, 320))
        case .blocks: return (size.columns, rows * 2)
        }
    }

    /// The size that keeps a picture's proportions in the room.
    func fitted(width: Int, height: Int, in size: TerminalSize) -> (width: Int, height: Int) {
        let room = room(in: size)
        let isWide = width * room.height > height * room.width
        let (across, down) =
            isWide ? (room.width, height * room.width / width) : (width * room.height / height, room.height)
        return (max(across, 2), max(down, 2))
    }

    /// What shows a picture whose upper left corner is where the cursor is.
    func sequence(_ picture: RGBPicture, in size: TerminalSize) -> String {
        switch self {
        case .kitty:
            // One image and one place of it, each time anew; the cursor stays. The terminal makes it as large as it can be.
            let room = (width: size.columns * size.cell.width, height: max(size.rows - 1, 1) * size.cell.height)
            let isWide = picture.width * room.height > picture.height * room.width
            let span = isWide ? "c=\(size.columns)" : "r=\(max(size.rows - 1, 1))"
            return TerminalGraphics.kitty(picture, "i=1,p=1,C=1,\(span)")
        case .sixel: return SixelEncoder(picture).sequence
        case .blocks(let isRich): return TerminalPicture.blocks(picture, isRich: isRich)
        }
    }

    /// Takes from the screen what would stay on it.
    var ending: String { self == .kitty ? "\u{1B}_Ga=d,d=I,i=1,q=2\u{1B}\\" : "" }

    private static func blocks(_ picture: RGBPicture, isRich: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(picture.width * picture.height * 12)
        let row = picture.width * 3
        for top in stride(from: 0, to: picture.height - 1, by: 2) {
            if top > 0 { text += "\r\n".utf8 }
            var last: (upper: ArraySlice<UInt8>, lower: ArraySlice<UInt8>)?
            for column in 0..<picture.width {
                let place = top * row + column * 3
                let (upper, lower) = (picture.bytes[place..<place + 3], picture.bytes[place + row..<place + row + 3])
                if upper != last?.upper { append("38", upper, isRich, to: &text) }
                if lower != last?.lower { append("48", lower, isRich, to: &text) }
                last = (upper, lower)
                text += "▀".utf8
            }
            text += "\u{1B}[0m".utf8
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Sets the colour of what is in front, 38, or behind, 48.
    private static func append(_ layer: String, _ color: ArraySlice<UInt8>, _ isRich: Bool, to text: inout [UInt8]) {
        text += "\u{1B}[\(layer);".utf8
        if isRich {
            text += "2".utf8
            for part in color { text += ";\(part)".utf8 }
        } else {
            // Six shades of each, behind the 16 colours that every terminal has.
            let index = color.reduce(0) { index, part in index * 6 + (Int(part) * 5 + 127) / 255 }
            text += "5;\(index + 16)".utf8
        }
        text += "m".utf8
    }
}
