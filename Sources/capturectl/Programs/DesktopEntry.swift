/// What a desktop's menu starts: a file of the Desktop Entry Specification.
struct DesktopEntry: Equatable {
    /// The first word of `Exec`.
    var command: String
    /// The id of a Flatpak.
    var flatpak: String?

    /// Reads an entry; `nil` if it starts nothing.
    init?(_ text: String) {
        let values = DesktopEntry.values(text, in: "Desktop Entry")
        guard let command = DesktopEntry.command(of: values["Exec"] ?? "") else { return nil }
        (self.command, flatpak) = (command, values["X-Flatpak"])
    }

    /// The entries of the machine and of this person.
    static func all(_ machine: Machine, _ places: ProgramSurvey.Places) -> [DesktopEntry] {
        let shared =
            places.data.split(separator: ":").map(String.init) + [
                "/usr/local/share", "/usr/share", "/var/lib/flatpak/exports/share",
            ]
        let own =
            places.home.hasPrefix("/")
            ? [places.home + "/.local/share", places.home + "/.local/share/flatpak/exports/share"] : []
        var seen: Set<String> = []
        return (own + shared).filter { $0.hasPrefix("/") && seen.insert($0).inserted }.flatMap { folder in
            machine.names(in: folder + "/applications").filter { $0.hasSuffix(".desktop") }.prefix(4000).compactMap {
                name in
                DesktopEntry(machine.text(of: "\(folder)/applications/\(name)", limit: 1 << 15))
            }
        }
    }

    /// The keys and values of a group.
    static func values(_ text: String, in group: String) -> [String: String] {
        var values: [String: String] = [:]
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                isInside = line == "[\(group)]"
            } else if isInside, let sign = line.firstIndex(of: "=") {
                let key = line[..<sign].trimming()
                if values[key] == nil { values[key] = line[line.index(after: sign)...].trimming() }
            }
        }
        return values
    }

    /// The program of a command line, without `env` and what it sets.
    private static func command(of line: String) -> String? {
        var words = words(of: line)
        if let first = words.first, first == "env" || first.hasSuffix("/env") {
            words.removeFirst()
            words = Array(words.drop { $0.hasPrefix("-") || $0.contains("=") })
        }
        return words.first.flatMap { $0.isEmpty || $0.hasPrefix("%") ? nil : $0 }
    }

    private static func words(of line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var (isQuoted, isEscaped, isWord) = (false, false, false)
        for character in line {
            if isEscaped {
                word.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
                isWord = true
            } else if character == " ", !isQuoted {
                if isWord { words.append(word) }
                (word, isWord) = ("", false)
            } else {
                word.append(character)
                isWord = true
            }
        }
        return isWord ? words + [word] : words
    }
}

extension Substring {
    /// Without white space around it.
    fileprivate func trimming() -> String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
