import CaptureKit

/// A terminal dialog as a state machine without a terminal: text to show, keys to take.
protocol KeyDialog: Sendable {
    /// The text to show first, before keys are taken.
    var opening: String { get }

    /// The question to answer next, or an empty text.
    var question: String { get }

    /// Takes the bytes of one read from the terminal; none at the end of the input.
    mutating func take(_ bytes: [UInt8]) -> [PromptDialog.Step]
}

extension KeyDialog {
    /// The text to show below `opening` once keys are taken.
    ///
    /// - Parameter hasEarlyKeys: Whether keys were typed before it and discarded.
    func firstQuestion(hasEarlyKeys: Bool) -> String {
        (hasEarlyKeys ? "  Keys typed before this line came too early and were ignored.\n" : "") + question
    }
}

extension PromptDialog: KeyDialog {}

/// The terminal dialog in which a person confirms what a program is about to do. Only `y`, `n`, `yes` and `no` count as an
/// answer, in upper or lower case; `d` shows details of the program.
struct ConfirmDialog: KeyDialog {
    let request: ConfirmRequest
    /// How many columns the terminal has.
    private let width: Int

    init(_ request: ConfirmRequest, width: Int = 80) {
        self.request = request
        self.width = width
    }

    var opening: String {
        let shown: (String, Int) -> String = { Printable.quotable($0, limit: $1) }
        let limit = request.question.secondsLeft == 0 ? "" : ", or no answer within \(request.question.secondsLeft) s,"
        let lines = [
            request.sentence(shown), "  " + request.question.certainty(shown), "  " + request.outcome,
            "  Your answer counts only this time. Ctrl-D\(limit) leaves it undecided.",
        ]
        return "\n" + lines.map { $0.wrapped(to: width, indent: 4) + "\n" }.joined()
    }

    var question: String { "  \(request.verb) \(request.things)? [y yes, n no, d details] " }

    mutating func take(_ bytes: [UInt8]) -> [PromptDialog.Step] {
        typealias Key = PromptDialog.Key
        // By itself that is a key; with more behind it, the sequence of an arrow or a pasted text.
        if bytes.isEmpty || [[Key.endOfInput], [Key.interrupt], [Key.escape]].contains(bytes) {
            return [.done(.dismissed, "no answer\n")]
        }
        // What was typed or pasted counts as a whole: a `y` in the middle of other text is nobody's yes.
        let words = bytes.split { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let word = words.first.map { String(decoding: $0, as: UTF8.self).lowercased() }
        switch word {
        case _ where words.count > 1: return [.ignored]
        case "y", "yes": return [.done(.confirmed(request.action, true), "yes\n")]
        case "d", "details": return [.next("details\n" + request.question.detailLines(width: width) + question)]
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
        await show(ConfirmDialog(request, width: ControllingTerminal.width))
    }
}
