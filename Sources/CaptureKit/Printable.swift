/// Makes text of unknown origin safe to show on a terminal: a device's or a program's name is data, never a command.
public enum Printable {
    /// The text with every control, bidirectional, invisible and line-separating character shown as `?`, and cut with
    /// `…` at a length.
    ///
    /// - Parameters:
    ///   - text: What a program, a device or a file name said.
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

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Format covers the bidirectional overrides and isolates, zero-width characters and tags.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
