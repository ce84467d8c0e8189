import CaptureCore

/// How rules are written.
extension PolicyRule {
    /// Takes one assignment in: `nil` when it was understood, else what would be right.
    private typealias Setter = (inout PolicyRule, String) -> String?

    private static var setters: [String: Setter] {
        [
            "Decision": { rule, text in
                guard let decision = Policy.Decision(rawValue: text) else { return "ask, restrict or allow" }
                rule.decision = decision
                return nil
            },
            "Service": words(\.services, Service.allCases.map(\.rawValue)) { Service(rawValue: $0) },
            "Tier": words(\.tiers, Tier.allCases.map(\.rawValue)) { Tier(rawValue: $0) },
            "User": { rule, text in accounts(text, into: &rule.users, "users' names or numbers, as in alice or 1001") },
            "Group": { rule, text in
                accounts(text, into: &rule.groups, "groups' names or numbers, as in guests or 1002")
            },
            "Program": { rule, text in
                guard isProgram(text) else {
                    return "one id or a pattern of ids, as in exe:/usr/bin/cheese, exe:/home/*, app:ID, flatpak:ID, "
                        + "snap:NAME, unit:NAME.service or uid:N"
                }
                rule.programs.append(Glob(text: text))
                return nil
            },
            "Unit": { rule, text in
                guard text.contains(".") || text.hasSuffix("*"), !text.contains("/") else {
                    return
                        "one unit's name with its suffix, or a pattern, as in cron.service or session-*.scope"
                }
                rule.units.append(Glob(text: text))
                return nil
            },
        ]
    }

    /// Reads a section.
    ///
    /// - Returns: `nil`, and problems, when it cannot be understood as a whole.
    init?(_ header: KeyFile.Header, _ entries: [KeyFile.Entry], of path: String, _ problems: inout [KeyFileProblem]) {
        place = "\(path):\(header.line)"
        let before = problems.count
        var decisionLine: Int?
        for entry in entries where !entry.key.hasPrefix("X-") {
            let name = KeyFile.shown(entry.key)
            let value = KeyFile.shown(entry.value)
            func report(_ message: String) {
                problems.append(KeyFileProblem(file: path, line: entry.line, message: message))
            }
            guard let set = PolicyRule.setters[entry.key], entry.locale.isEmpty else {
                let known = PolicyRule.setters.keys.sorted().joined(separator: ", ")
                report("unknown key '\(name)' in [Rule], expected one of \(known)")
                continue
            }
            if entry.value.isEmpty {
                report("\(name)= is empty; leave the condition out instead")
            } else if entry.value.unicodeScalars.contains("\u{FFFD}") {
                report("the value of \(name)= is not UTF-8")
            } else if let right = set(&self, entry.value) {
                report("'\(value)' is not a value for \(name)=, expected \(right)")
            }
            guard entry.key == "Decision" else { continue }
            if let decisionLine { report("Decision= was already given on line \(decisionLine); a rule has one") }
            decisionLine = entry.line
        }
        if decisionLine == nil {
            let message = "the rule has no Decision=, expected one of ask, restrict, allow"
            problems.append(KeyFileProblem(file: path, line: header.line, message: message))
        }
        if problems.count > before { return nil }
    }

    /// A condition of several words, of which any may fit.
    private static func words<Word: Hashable>(
        _ place: WritableKeyPath<PolicyRule, Set<Word>>,
        _ known: [String],
        _ read: @escaping (String) -> Word?
    ) -> Setter {
        { rule, text in
            for word in PolicyRule.split(text) {
                guard let word = read(word) else { return "some of \(known.joined(separator: ", "))" }
                rule[keyPath: place].insert(word)
            }
            return nil
        }
    }

    private static func accounts(_ text: String, into list: inout [Account], _ right: String) -> String? {
        for word in split(text) {
            if word.allSatisfy({ ("0"..."9").contains($0) }) {
                // The greatest number is the system's word for nobody.
                guard let number = UInt32(word), number < .max else { return right }
                list.append(.number(number))
            } else {
                guard !word.contains(where: { ":/*?,".contains($0) }), !word.hasPrefix("-") else { return right }
                list.append(.name(word))
            }
        }
        return nil
    }

    private static func split(_ text: String) -> [String] {
        text.split { $0 == " " || $0 == "\t" }.map(String.init)
    }

    /// Whether a pattern can be that of an id: a slip would fit nobody, and forbid nothing.
    private static func isProgram(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let value = parts.last, !value.isEmpty else { return false }
        let isOpen = value.hasSuffix("*")
        switch parts[0] {
        case "flatpak", "snap", "app": return !value.contains("/")
        case "unit": return !value.contains("/") && (value.hasSuffix(".service") || isOpen)
        case "uid": return value.allSatisfy { ("0"..."9").contains($0) || $0 == "*" || $0 == "?" }
        case "exe": return value.hasPrefix("/") || value.hasPrefix("*")
        default: return false
        }
    }
}
