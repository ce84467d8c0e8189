extension KeyFile {
    /// Reads a file's text.
    ///
    /// - Parameters:
    ///   - text: The text; a byte order mark at its start and carriage returns at line ends are passed over.
    ///   - path: The file's path, for messages.
    ///   - dialect: The rules that it follows.
    package init(parsing text: String, path: String, dialect: Dialect) {
        self.path = path
        var section = Place.beforeAny
        for line in KeyFile.logicalLines(text, dialect) {
            if line.text.unicodeScalars.contains("\0") {
                problem(line.number, "the line contains a zero byte")
            } else if line.text.hasPrefix("[") {
                section = header(line)
            } else if let entry = assignment(line, in: section, dialect) {
                add(entry, dialect)
            }
        }
    }

    /// Where a line stands.
    private enum Place {
        case beforeAny
        /// Under a header that could not be read, which was reported.
        case unknown
        case section(String)
    }

    private struct Line {
        var text: String
        var number: Int
    }

    /// Lines without comments and blank ones, continued ones joined by a space.
    private static func logicalLines(_ text: String, _ dialect: Dialect) -> [Line] {
        var lines: [Line] = []
        var pending: Line?
        var number = 0
        let text = text.unicodeScalars.first == "\u{FEFF}" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
        for raw in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            let whole = raw.last == "\r" ? raw.dropLast() : raw
            let content = whole.drop { $0 == " " || $0 == "\t" }
            let isComment = content.first == "#" || (dialect != .desktopEntry && content.first == ";")
            // A comment between continued lines is passed over, and the line goes on behind it.
            if isComment { continue }
            var line = pending ?? Line(text: "", number: number)
            let body = pending == nil ? content : whole
            pending = nil
            if dialect != .desktopEntry, endsInBackslash(body) {
                line.text += String(body.dropLast()) + " "
                pending = line
            } else {
                line.text += String(body)
                if line.text.unicodeScalars.contains(where: { $0 != " " && $0 != "\t" }) { lines.append(line) }
            }
        }
        if let pending { lines.append(pending) }
        return lines
    }

    /// Whether the last backslash is not itself escaped.
    private static func endsInBackslash(_ scalars: Substring.UnicodeScalarView) -> Bool {
        scalars.reversed().prefix { $0 == "\\" }.count % 2 == 1
    }

    private mutating func header(_ line: Line) -> Place {
        let text = KeyFile.trimmed(line.text)
        guard text.hasSuffix("]"), text.unicodeScalars.count > 2 else {
            problem(
                line.number,
                "'\(KeyFile.shown(text))' is no section header, expected [NAME]; what follows is ignored"
            )
            return .unknown
        }
        let name = String(text.dropFirst().dropLast())
        headers.append(Header(name: name, line: line.number))
        return .section(name)
    }

    private mutating func assignment(_ line: Line, in place: Place, _ dialect: Dialect) -> Entry? {
        guard let equals = line.text.firstIndex(of: "=") else {
            problem(line.number, "'\(KeyFile.shown(line.text))' has no '=', expected KEY=VALUE")
            return nil
        }
        let section: String
        switch place {
        case .section(let name): section = name
        case .unknown: return nil
        case .beforeAny:
            problem(line.number, "'\(KeyFile.shown(line.text))' stands outside of a section")
            return nil
        }
        var key = KeyFile.trimmed(String(line.text[..<equals]))
        var locale = ""
        if key.hasSuffix("]"), let bracket = key.firstIndex(of: "[") {
            locale = String(key[key.index(after: bracket)...].dropLast())
            key = String(key[..<bracket])
        }
        guard !key.isEmpty else {
            problem(line.number, "there is no key before '='")
            return nil
        }
        var value = KeyFile.trimmed(String(line.text[line.text.index(after: equals)...]))
        if dialect == .desktopEntry { value = unescaped(value, line.number) }
        return Entry(section: section, key: key, locale: locale, value: value, line: line.number)
    }

    /// Applies another file on top of this one, as a drop-in.
    package mutating func append(_ other: KeyFile, _ dialect: Dialect) {
        problems += other.problems
        for entry in other.entries { add(entry, dialect) }
    }

    private mutating func add(_ entry: Entry, _ dialect: Dialect) {
        func isSame(_ other: Entry) -> Bool {
            other.section == entry.section && other.key == entry.key && other.locale == entry.locale
        }
        switch dialect {
        case .systemd:
            if entry.value.isEmpty { entries.removeAll(where: isSame) }
        case .rules: break
        case .desktopEntry:
            var key = entry
            (key.value, key.line) = ("", 0)
            if let place = places[key] {
                let line = entries[place].line
                problem(entry.line, "'\(KeyFile.shown(entry.key))' was set on line \(line) already; this one counts")
                entries[place] = entry
                return
            }
            places[key] = entries.count
        }
        entries.append(entry)
    }

    private mutating func unescaped(_ text: String, _ line: Int) -> String {
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            guard isEscaped else {
                if scalar == "\\" { isEscaped = true } else { result.append(scalar) }
                continue
            }
            isEscaped = false
            switch scalar {
            case "s": result.append(" ")
            case "n": result.append("\n")
            case "t": result.append("\t")
            case "r": result.append("\r")
            case "\\", ";": result.append(scalar)
            default:
                problem(line, "'\\\(scalar)' is no escape; there are \\s \\n \\t \\r \\\\")
                result.append("\\")
                result.append(scalar)
            }
        }
        if isEscaped {
            problem(line, "a backslash at the end of the line escapes nothing")
            result.append("\\")
        }
        return String(result)
    }

    private mutating func problem(_ line: Int, _ message: String) {
        problems.append(KeyFileProblem(file: path, line: line, message: message))
    }

    private static func trimmed(_ text: String) -> String {
        let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        var scalars = text.unicodeScalars.drop(while: isSpace)
        while let last = scalars.last, isSpace(last) { scalars.removeLast() }
        return String(String.UnicodeScalarView(scalars))
    }

    package static func shown(_ text: String) -> String { DisplayText.neutralized(text, limit: 60) }
}
