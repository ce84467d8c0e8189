/// One thing that was checked, and what to do about it.
struct Finding: Equatable {
    /// How bad it is.
    enum State: String {
        /// As it should be.
        case fine
        /// Works, and could be better.
        case advice
        /// Keeps something from working.
        case problem
    }

    /// What was looked at, in a word.
    var check: String
    /// How it is.
    var state: State
    /// One sentence.
    var text: String
    /// The command that fixes it; empty if there is nothing to fix.
    var remedy: String

    static func fine(_ check: String, _ text: String) -> Finding {
        Finding(check: check, state: .fine, text: text, remedy: "")
    }

    static func advice(_ check: String, _ text: String, _ remedy: String) -> Finding {
        Finding(check: check, state: .advice, text: text, remedy: remedy)
    }

    static func problem(_ check: String, _ text: String, _ remedy: String) -> Finding {
        Finding(check: check, state: .problem, text: text, remedy: remedy)
    }
}

extension [Finding] {
    /// Whether nothing keeps anything from working.
    var areWell: Bool { !contains { $0.state == .problem } }

    /// The findings as lines, each with its command below.
    var text: String {
        map { finding in
            let mark =
                switch finding.state {
                case .fine: "ok      "
                case .advice: "advice  "
                case .problem: "PROBLEM "
                }
            let remedy = finding.remedy.isEmpty ? "" : "\n          fix it with: \(finding.remedy)"
            return mark + finding.check + ": " + finding.text + remedy
        }.joined(separator: "\n")
    }

    var json: JSON {
        let findings = map { finding -> JSON in
            [
                "check": JSON(finding.check), "state": JSON(finding.state.rawValue), "text": JSON(finding.text),
                "remedy": JSON(finding.remedy),
            ]
        }
        return ["healthy": JSON(areWell), "findings": .array(findings)]
    }

    /// The findings with the bridges and the programs that capture.
    func json(_ states: [BridgeState], _ programs: ProgramPresentation) -> JSON {
        json.with([
            "bridges": states.json, "programs": programs.json, "allProgramsSeen": JSON(programs.survey.isWhole),
        ])
    }
}
