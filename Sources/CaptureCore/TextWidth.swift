/// The width of text on a terminal.
package enum TextWidth {
    /// The columns of a text: two for each wide East Asian letter and each emoji.
    package static func of(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    private static func of(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }

    /// A text with `…` for what does not fit: at its end, or in its middle.
    package static func cut(_ text: String, to width: Int, inMiddle: Bool = false) -> String {
        guard of(text) > width else { return text }
        let room = max(width - 1, 0)
        let tail = inMiddle ? String(prefix(String(text.reversed()), room * 2 / 3).reversed()) : ""
        return prefix(text, room - of(tail)) + "…" + tail
    }

    /// A text in pieces of at most so many columns.
    package static func pieces(_ text: Substring, of width: Int) -> [Substring] {
        var pieces: [Substring] = []
        var rest = text
        while !rest.isEmpty {
            var room = width
            let end = rest.firstIndex { character in
                room -= of(character)
                return room < 0
            }
            // One that is wider than all of it stands by itself.
            let cut = end.map { $0 == rest.startIndex ? rest.index(after: $0) : $0 } ?? rest.endIndex
            pieces.append(rest[..<cut])
            rest = rest[cut...]
        }
        return pieces
    }

    private static func prefix(_ text: String, _ width: Int) -> String {
        var result = ""
        var left = width
        for character in text {
            left -= of(character)
            if left < 0 { break }
            result.append(character)
        }
        return result
    }
}
