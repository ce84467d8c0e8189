/// A file of sections, keys and values, in one of three dialects that differ in comments, escapes and repeated keys.
///
/// What is wrong in one line is noted with its number and never keeps another line from counting.
package struct KeyFile: Hashable, Sendable {
    /// Which rules a file follows.
    package enum Dialect: Hashable, Sendable {
        /// systemd.syntax(7): `#` and `;` begin comments, a backslash at the end of a line continues it, a repeated key
        /// adds, and an empty value takes back what came before.
        case systemd
        /// As `systemd`, but each header begins a section of its own, and every assignment counts, an empty one too: what
        /// that means is for the reader to say.
        case rules
        /// The Desktop Entry Specification: `#` begins comments, `\s \n \t \r \\` are escapes, a key comes once.
        case desktopEntry
    }

    /// One assignment.
    package struct Entry: Hashable, Sendable {
        /// The section that it stands in.
        package var section: String
        /// The key, without a locale.
        package var key: String
        /// The locale in brackets behind the key; empty for none.
        package var locale: String
        /// The value, continued lines joined and escapes undone.
        package var value: String
        /// The line that it begins on, from 1.
        package var line: Int
    }

    /// The head of a section.
    package struct Header: Hashable, Sendable {
        /// The name in brackets.
        package var name: String
        /// The line that it stands on, from 1.
        package var line: Int
    }

    /// The file's path, for messages.
    package var path: String
    /// The heads of sections, in the file's order.
    package var headers: [Header] = []
    /// The assignments that count, in the file's order.
    package var entries: [Entry] = []
    /// What was wrong.
    package var problems: [KeyFileProblem] = []
    /// Where in `entries` each key of a desktop entry stands, so that a file of many keys is read in one go.
    var places: [Entry: Int] = [:]

    /// The assignments of a key without a locale.
    package func entries(_ section: String, _ key: String) -> [Entry] {
        entries.filter { $0.section == section && $0.key == key && $0.locale.isEmpty }
    }

    /// The last value of a key; `nil` when it is absent or empty.
    package func value(_ section: String, _ key: String) -> String? {
        guard let value = entries(section, key).last?.value, !value.isEmpty else { return nil }
        return value
    }

    /// The value of a key in the language of a locale, else without one.
    ///
    /// - Parameter locale: As in `de_AT.UTF-8@euro`; matched from the most to the least exact, as the Desktop Entry
    ///   Specification has it.
    package func value(_ section: String, _ key: String, locale: String) -> String? {
        for candidate in KeyFile.candidates(of: locale) {
            let found = entries.last { $0.section == section && $0.key == key && $0.locale == candidate }
            if let found, !found.value.isEmpty { return found.value }
        }
        return value(section, key)
    }

    private static func candidates(of locale: String) -> [String] {
        var rest = locale[...]
        var modifier: Substring = ""
        if let at = rest.firstIndex(of: "@") {
            modifier = rest[at...]
            rest = rest[..<at]
        }
        if let dot = rest.firstIndex(of: ".") { rest = rest[..<dot] }
        let language = rest.prefix { $0 != "_" }
        return [rest + modifier, rest, language + modifier, language].map(String.init).filter { !$0.isEmpty }
    }
}

/// Something wrong in a file, as `file:line: message`.
public struct KeyFileProblem: Hashable, Sendable, CustomStringConvertible {
    /// The file's path.
    public var file: String
    /// The line, from 1; 0 for the file as a whole.
    public var line: Int
    /// What is wrong, which value, what would be right.
    public var message: String

    package init(file: String, line: Int, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// As compilers print it.
    public var description: String {
        line == 0 ? "\(file): \(message)" : "\(file):\(line): \(message)"
    }
}
