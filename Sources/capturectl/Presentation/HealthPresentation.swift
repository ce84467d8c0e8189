import CaptureKit

/// The daemon's own word on how it is, as text and as JSON.
enum HealthPresentation {
    static func text(_ health: DaemonHealth, _ sessions: [SessionSummary]) -> String {
        let running = sessions.count { $0.status.state == .running }
        var lines = ["captured \(Printable.text(health.version)): \(fault(health) ?? "well")"]
        lines.append("  \(Quantities.count(sessions.count, "session")), \(running) running")
        for member in members(health) where member.key != "version" {
            if let text = words(member.value) {
                lines.append("  \(spaced(member.key)): \(Printable.text(text, limit: 1000))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What is in use, and the sessions that are not over.
    static func tables(_ sessions: [SessionSummary], _ uses: [LiveUse]) -> [Table] {
        [UsePresentation.table(uses), SessionPresentation.table(SessionPresentation.ordered(sessions, all: false))]
            .filter { !$0.isEmpty }
    }

    static func json(_ health: DaemonHealth, _ sessions: [SessionSummary], _ uses: [LiveUse]) -> JSON {
        [
            "healthy": JSON(fault(health) == nil),
            "health": .object(members(health)),
            "uses": .array(uses.map { UsePresentation.json($0) }),
            "sessions": .array(SessionPresentation.ordered(sessions, all: true).map { SessionPresentation.json($0) }),
        ]
    }

    /// All that it says, by key.
    private static func members(_ health: DaemonHealth) -> [JSON.Member] {
        func list(_ texts: [String]) -> JSON { .array(texts.map { JSON($0) }) }
        return [
            ("agents", health.agents.map { JSON($0) } ?? .null),
            ("configurationProblems", list(health.configurationProblems)), ("history", JSON(health.history)),
            ("historyFault", JSON(health.historyFault)), ("historyRemedy", JSON(health.historyRemedy)),
            ("libraryFaults", list(health.libraryFaults)), ("policyFaults", list(health.policyFaults)),
            ("policyProblems", list(health.policyProblems)), ("policyRules", JSON(health.policyRules)),
            ("profileFault", JSON(health.profileFault)), ("recorder", JSON(health.recorder)),
            ("stateDirectory", JSON(health.stateDirectory)),
            ("store", JSON(health.store)), ("storeFault", JSON(health.storeFault)),
            ("storeRemedy", JSON(health.storeRemedy)), ("switchFault", JSON(health.switchFault)),
            ("switchedOff", list(health.switchedOff)), ("user", JSON(health.user)), ("version", JSON(health.version)),
        ].map { JSON.Member(key: $0.0, value: $0.1) }
    }

    /// A value as words; `nil` if it says nothing.
    private static func words(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number): "\(number)"
        case .array(let list): list.isEmpty ? "none" : list.compactMap(words).joined(separator: "; ")
        default: nil
        }
    }

    /// What is wrong, in a few words; `nil` when all is well.
    static func fault(_ health: DaemonHealth) -> String? {
        if !health.storeFault.isEmpty { return "its store of answers cannot be used, so nothing can start" }
        if !health.policyFaults.isEmpty { return "its policy cannot be understood, so nothing can start" }
        if !health.switchFault.isEmpty { return "its switches cannot be read, so nothing can start" }
        if !health.historyFault.isEmpty { return "its history cannot be used, so nothing can start" }
        let problems = health.configurationProblems.count
        return problems == 0 ? nil : "\(Quantities.count(problems, "problem")) in its configuration"
    }

    /// `configurationProblems` as `configuration problems`.
    private static func spaced(_ key: String) -> String {
        var result = ""
        for character in key {
            if character.isUppercase { result += " " }
            result += character.lowercased()
        }
        return Printable.text(result)
    }
}
