/// Which language a user reads, as the system knows it: what the user chose in the account's settings, else the system's.
///
/// The environment of the program that asks takes no part, nor does that of the user's service manager, which any program
/// of the user can change. Thread-safe.
public struct UserLocales: Sendable {
    private let accounts: String
    private let systems: [String]

    /// Languages from the given places.
    ///
    /// - Parameters:
    ///   - accounts: The folder in which AccountsService keeps a file for each user.
    ///   - systems: Files of assignments as in locale.conf(5), by falling precedence.
    public init(
        accounts: String = "/var/lib/AccountsService/users",
        systems: [String] = ["/etc/locale.conf", "/etc/default/locale"]
    ) {
        self.accounts = accounts
        self.systems = systems
    }

    /// The locale of a user, as in `de_AT.UTF-8`; empty when nothing is known.
    ///
    /// - Parameter name: The user's name; empty for the system's locale.
    public func locale(of name: String) -> String {
        chosen(by: name) ?? systems.lazy.compactMap(UserLocales.system).first ?? ""
    }

    private func chosen(by name: String) -> String? {
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"),
            case .text(let text) = SmallFile.read("\(accounts)/\(name)", limit: 65536)
        else { return nil }
        let file = KeyFile(parsing: text, path: name, dialect: .desktopEntry)
        let list = file.value("User", "Languages")?.split(separator: ";").first.map(String.init)
        return [file.value("User", "Language"), list].lazy.compactMap { $0 }.first(where: UserLocales.isLocale)
    }

    /// What the messages of programs are written in: LC_ALL before LC_MESSAGES before LANG.
    private static func system(_ path: String) -> String? {
        guard case .text(let text) = SmallFile.read(path, limit: 65536) else { return nil }
        var values: [Substring: Substring] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0 == " " || $0 == "\t" }
            guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
            var value = line[line.index(after: equals)...]
            while value.last == " " || value.last == "\t" { value = value.dropLast() }
            if value.count >= 2, let quote = value.first, quote == value.last, quote == "\"" || quote == "'" {
                value = value.dropFirst().dropLast()
            }
            values[line[..<equals]] = value
        }
        return ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { values[$0] }.map(String.init).first(where: isLocale)
    }

    private static func isLocale(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789_.@-".unicodeScalars.contains($0))
            }
    }
}
