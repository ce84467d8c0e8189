/// Makes text of unknown origin safe to show on a terminal: a device's or a program's name is data, never a command.
public enum Printable {
    /// The text with every control, bidirectional, invisible and line-separating character shown as `?`, and cut with
    /// `…` at a length.
    ///
    /// - Parameters:
    ///   - text: Text from a program, a device or a file name.
    ///   - limit: The most characters that come out.
    public static func text(_ text: some StringProtocol, limit: Int = 200) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count == limit {
                result += "…"
                break
            }
            result.unicodeScalars.append(isHarmful(scalar) ? "?" : scalar)
            count += 1
        }
        return result
    }

    /// The same, for a text that stands in quotes: with none that would end them.
    public static func quotable(_ text: some StringProtocol, limit: Int = 200) -> String {
        var result = String.UnicodeScalarView()
        for scalar in Printable.text(text, limit: limit).unicodeScalars {
            result.append(quotes.contains(scalar) ? "'" : scalar)
        }
        return String(result)
    }

    private static let quotes: Set<Unicode.Scalar> = ["“", "”", "„", "‟", "\"", "«", "»"]

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        // Braille's blank is not white space for Unicode, and draws nothing all the same.
        if scalar == "\u{2800}" { return true }
        return switch scalar.properties.generalCategory {
        // Format covers the bidirectional overrides and isolates, zero-width characters and tags.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
