import CaptureKit

/// The daemon's own word on how it is, as text and as JSON.
enum HealthPresentation {
    static func text(_ health: DaemonHealth, _ sessions: [SessionSummary]) -> String {
        let running = sessions.count { $0.status.state == .running }
        var lines = ["captured \(Printable.text(health.text("version"))): \(fault(health) ?? "well")"]
        lines.append("  \(Quantities.count(sessions.count, "session")), \(running) running")
        for (key, value) in health.values.sorted(by: { $0.key < $1.key }) where key != "version" {
            let text =
                switch value {
                case .text(let text): text
                case .number(let number): "\(number)"
                case .flag(let flag): flag ? "yes" : "no"
                case .list(let list): list.isEmpty ? "none" : list.joined(separator: "; ")
                }
            if !text.isEmpty { lines.append("  \(spaced(key)): \(Printable.text(text, limit: 1000))") }
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
            "health": .object(
                health.values.sorted { $0.key < $1.key }.map { key, value in
                    let json: JSON =
                        switch value {
                        case .text(let text): JSON(text)
                        case .number(let number): JSON(number)
                        case .flag(let flag): JSON(flag)
                        case .list(let list): .array(list.map { JSON($0) })
                        }
                    return JSON.Member(key: key, value: json)
                }
            ),
            "uses": .array(uses.map { UsePresentation.json($0) }),
            "sessions": .array(SessionPresentation.ordered(sessions, all: true).map { SessionPresentation.json($0) }),
        ]
    }

    /// What is wrong, in a few words; `nil` when all is well.
    static func fault(_ health: DaemonHealth) -> String? {
        if !health.text("storeFault").isEmpty { return "its store of answers cannot be used, so nothing can start" }
        if !health.list("policyFaults").isEmpty { return "its policy cannot be understood, so nothing can start" }
        if !health.text("switchFault").isEmpty { return "its switches cannot be read, so nothing can start" }
        if !health.text("historyFault").isEmpty { return "its history cannot be used, so nothing can start" }
        let problems = health.list("configurationProblems").count
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
