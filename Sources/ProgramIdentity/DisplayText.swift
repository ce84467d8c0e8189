/// Texts that programs bring along, made fit to be shown: they are data, and must not be able to draw.
public enum DisplayText {
    /// Makes a text harmless in a terminal, a log, and a dialog that reads markup.
    ///
    /// Line ends, tabs and other space become one space; control characters, bidirectional marks, invisible and
    /// unassigned characters go; `<`, `>` and `&` become their look-alikes `‹`, `›` and `＆`; at most three marks combine
    /// with one character; a text that is too long ends in `…`.
    ///
    /// - Parameters:
    ///   - text: Anything; only the beginning of a very long text is looked at.
    ///   - limit: The most characters that remain.
    public static func neutralized(_ text: String, limit: Int = 200) -> String {
        var result = String.UnicodeScalarView()
        var length = 0
        var marks = 0
        var isSpacePending = false
        for scalar in text.unicodeScalars.prefix(limit * 8) {
            let properties = scalar.properties
            // Braille's blank is not white space for Unicode, and draws nothing all the same.
            if properties.isWhitespace || scalar == "\u{1B}" || scalar == "\u{2800}" {
                isSpacePending = length > 0
                continue
            }
            switch properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: continue
            case .nonspacingMark, .enclosingMark, .spacingMark:
                marks += 1
                if marks > 3 || length == 0 { continue }
                result.append(scalar)
                continue
            default: break
            }
            if properties.isDefaultIgnorableCodePoint || properties.isVariationSelector { continue }
            if length + (isSpacePending ? 1 : 0) >= limit {
                result.append("…")
                break
            }
            if isSpacePending {
                result.append(" ")
                length += 1
                isSpacePending = false
            }
            result.append(replacement(scalar))
            length += 1
            marks = 0
        }
        return String(result)
    }

    private static func replacement(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "<": "‹"
        case ">": "›"
        case "&": "＆"
        default: scalar
        }
    }
}
