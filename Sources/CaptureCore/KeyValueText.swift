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
        for line in text.unicodeScalars.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else {
                throw CaptureError(.badData, "'\(String(line))' is not of the form key=value")
            }
            var value = String.UnicodeScalarView()
            var isEscaped = false
            for character in line[line.index(after: equals)...] {
                if isEscaped {
                    value.append(character == "n" ? "\n" : character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else {
                    value.append(character)
                }
            }
            values[String(line[..<equals])] = String(value)
        }
        return values
    }
}
