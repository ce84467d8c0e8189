/// Lines of `key=value`, newlines and backslashes in values escaped: the text between daemon and recorder.
enum KeyValueText {
    static func encode(_ pairs: [(String, String)]) -> String {
        var text = ""
        for (key, value) in pairs {
            text += key + "="
            for character in value.unicodeScalars {
                switch character {
                case "\n": text += "\\n"
                case "\\": text += "\\\\"
                default: text.unicodeScalars.append(character)
                }
            }
            text += "\n"
        }
        return text
    }

    static func decode(_ text: String) throws(CaptureError) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
                throw CaptureError(.badData, "'\(String(Substring(line)))' is not of the form key=value")
            }
            let value = Substring(line[line.index(after: equals)...])
            values[String(Substring(line[..<equals]))] =
                value.utf8.contains(UInt8(ascii: "\\")) ? unescaped(value) : String(value)
        }
        return values
    }

    private static func unescaped(_ text: Substring) -> String {
        var value = String.UnicodeScalarView()
        var isEscaped = false
        for character in text.unicodeScalars {
            if isEscaped {
                value.append(character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                value.append(character)
            }
        }
        return String(value)
    }
}
