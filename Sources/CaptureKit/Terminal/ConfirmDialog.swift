/// A dialog of a terminal agent as a machine without a terminal: text to show, keys to take.
protocol KeyDialog: Sendable {
    /// What to show first, while no key is taken yet.
    var opening: String { get }

    /// What to show below it when keys are taken from now on.
    ///
    /// - Parameter hasEarlyKeys: Whether some were typed before it, and thrown away.
    func firstQuestion(hasEarlyKeys: Bool) -> String

    /// Takes what came of one read from the terminal; nothing at the end of the input.
    mutating func take(_ bytes: [UInt8]) -> [PromptDialog.Step]
}

extension PromptDialog: KeyDialog {}

/// The dialog by which a person confirms on a terminal what a program is about to do. Nothing counts as an answer but `y`,
/// `n`, `yes` and `no`, in any case.
struct ConfirmDialog: KeyDialog {
    let request: ConfirmRequest

    init(_ request: ConfirmRequest) {
        self.request = request
    }

    var opening: String {
        let identity = PromptDialog(PromptRequest(cookie: "", program: "", tier: request.tier, services: []))
        var lines = ["", request.sentence { Printable.text($0, limit: $1) }]
        lines.append("  program     \(Printable.text(request.program, limit: 200))")
        lines.append("  identity    \(Printable.text(request.tier, limit: 20)): \(identity.tierMeaning)")
        if !request.detail.isEmpty { lines.append("  made of     \(Printable.text(request.detail, limit: 300))") }
        if request.processID != 0 { lines.append("  process     \(request.processID)") }
        let limit = request.secondsLeft == 0 ? "" : " within \(request.secondsLeft) s"
        lines.append(request.outcome)
        lines.append("y \(request.verb)s, n does not, this time; Ctrl-D answers nothing. Answer\(limit):")
        return lines.joined(separator: "\n") + "\n"
    }

    func firstQuestion(hasEarlyKeys: Bool) -> String {
        (hasEarlyKeys ? "  What was typed before this line came too early and was not taken.\n" : "")
            + "  \(request.verb) \(request.things)? [y/n] "
    }

    mutating func take(_ bytes: [UInt8]) -> [PromptDialog.Step] {
        let endOfInput: UInt8 = 4
        let interrupt: UInt8 = 3
        let escape: UInt8 = 27
        // By itself that is a key; with more behind it, the sequence of an arrow or a pasted text.
        if bytes.isEmpty || [[endOfInput], [interrupt], [escape]].contains(bytes) {
            return [.done(.dismissed, "no answer\n")]
        }
        // What was typed or pasted counts as a whole: a `y` in the middle of other text is nobody's yes.
        let words = bytes.split { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let word = words.first.map { String(decoding: $0, as: UTF8.self).lowercased() }
        switch word {
        case _ where words.count > 1: return [.ignored]
        case "y", "yes": return [.done(.confirmed(request.action, true), "yes\n")]
        case "n", "no": return [.done(.confirmed(request.action, false), "no\n")]
        default: return [.ignored]
        }
    }
}

extension TerminalPrompt {
    /// Shows what a program is about to do and waits for the key that confirms or refuses it, as `ask(_:)` does.
    ///
    /// - Returns: `dismissed` also when there is no terminal to ask on.
    public func confirm(_ request: ConfirmRequest) async -> PromptAnswer {
        await show(ConfirmDialog(request))
    }
}
