import CaptureKit

/// The dialog of a terminal agent as a state machine without a terminal: text to show, keys to take.
///
/// It shows all rows first, then asks one question per row, answered by one key. Only `y` and `n` count as an answer, and
/// if the daemon takes them, `t` for this time, `c` until the program is closed, and `s` for chosen assets of the library.
/// After a yes to reading the library it does not ask about adding, because a program that may read may add.
public struct PromptDialog: Sendable {
    /// What is asked.
    public let request: PromptRequest
    private var answers: [AuthorizationService: PersonsAnswer] = [:]

    /// How many columns the terminal has.
    private let width: Int

    /// The dialog of a request.
    ///
    /// - Parameters:
    ///   - request: What the dialog asks.
    ///   - width: How many columns the terminal has. Longer lines are broken between words.
    public init(_ request: PromptRequest, width: Int = 80) {
        self.request = request
        self.width = width
    }

    /// How long `opening` is shown before keys are taken, so that a person who was typing something else has seen it.
    public static let moment: Duration = .milliseconds(600)

    /// The text to show first, before keys are taken: who asks, for what and why, and whether its identity is verified.
    public var opening: String {
        let shown: (String, Int) -> String = { Printable.quotable($0, limit: $1) }
        var lines = ["“\(request.question.title(shown))” wants to \(AuthorizationService.action(request.services))"]
        for service in request.rows {
            let reason = shown(request.reasons[service] ?? "", 300)
            let label = request.rows.count == 1 ? "It" : "\(service.rawValue): it"
            lines.append("  \(label) \(reason.isEmpty ? "gives no reason" : "says: “\(reason)”")")
        }
        if let bridge = request.bridge { lines.append("  \(bridge.claim)") }
        lines.append("  " + request.question.certainty(shown))
        if request.question.isInline {
            lines.append("  A yes covers every command run in this session that uses capturectl.")
        }
        let limit = request.question.secondsLeft == 0 ? "" : ", or no answer within \(request.question.secondsLeft) s,"
        lines.append("  y and n are remembered. Ctrl-D\(limit) leaves it undecided.")
        return "\n" + lines.map { $0.wrapped(to: width, indent: 4) + "\n" }.joined()
    }

    /// The text to show when the question is withdrawn, below the unanswered row.
    public static let withdrawal = "\nthe question was withdrawn\n"

    /// The result of a key.
    public enum Step: Hashable, Sendable {
        /// The key means nothing here.
        case ignored
        /// The row is answered; text to show, the next question in it.
        case next(String)
        /// All rows are answered, or the dialog was closed; text to show.
        case done(PromptAnswer, String)
    }

    /// Takes the bytes of one read from the terminal.
    ///
    /// - Parameter bytes: Empty at the end of the input.
    /// - Returns: The steps in order; after `done` there are no more.
    public mutating func take(_ bytes: [UInt8]) -> [Step] {
        if bytes.isEmpty { return [.done(.dismissed, "no answer\n")] }
        if bytes.first == Key.escape {
            // By itself it is the key; with more behind it, the sequence of an arrow or a pasted text.
            return bytes.count == 1 ? [.done(.dismissed, "no answer\n")] : [.ignored]
        }
        // What was typed or pasted counts as a whole: a `y` in the middle of other text is not a yes.
        guard let keys = keys(in: bytes) else { return [.ignored] }
        var steps: [Step] = []
        for key in keys {
            let step = take(key)
            steps.append(step)
            if case .done = step { break }
        }
        return steps
    }

    /// The answers in some input: `y`, `n`, `yes` and `no` in upper or lower case, with or without space between them, and
    /// the keys that end the dialog; `nil` if it contains anything else but white space.
    private func keys(in bytes: [UInt8]) -> [UInt8]? {
        var keys: [UInt8] = []
        let limited = canBeLimited ? [Key.limited] : []
        let known = Set(
            offered.map(\.key) + limited
                + [UInt8(ascii: "y"), UInt8(ascii: "n"), Key.details, Key.endOfInput, Key.interrupt]
        )
        for word in bytes.split(whereSeparator: { $0 == 0x20 || (0x09...0x0d).contains($0) }) {
            let word = word.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
            if word == Array("yes".utf8) || word == Array("no".utf8) {
                keys.append(word[0])
            } else if word.allSatisfy(known.contains) {
                keys += word
            } else {
                return nil
            }
        }
        return keys
    }

    private mutating func take(_ key: UInt8) -> Step {
        switch key {
        case UInt8(ascii: "y"): return answer(true, "yes")
        case UInt8(ascii: "n"): return answer(false, "no")
        case Key.details:
            guard pending != nil else { return .ignored }
            return .next("details\n" + request.question.detailLines(width: width) + question)
        case Key.limited:
            guard let pending, request.limitable.contains(pending) else { return .ignored }
            return answer(PersonsAnswer(true, isLimited: true), "yes, only chosen items and its own")
        case Key.endOfInput, Key.interrupt: return .done(.dismissed, "no answer\n")
        default:
            guard let choice = offered.first(where: { $0.key == key }) else { return .ignored }
            return answer(PersonsAnswer(true, lifetime: choice.lifetime), "yes, \(choice.meaning)")
        }
    }

    private mutating func answer(_ answer: PersonsAnswer, _ word: String) -> Step {
        guard let service = pending else { return .ignored }
        answers[service] = answer
        return pending == nil ? .done(.answered(answers), word + "\n") : .next(word + "\n" + question)
    }

    /// The keys for a shorter yes, if the daemon takes them.
    private var offered: [(key: UInt8, lifetime: GrantLifetime, meaning: String)] {
        let all: [(UInt8, GrantLifetime, String)] = [
            (UInt8(ascii: "t"), .session, "this time"), (UInt8(ascii: "c"), .connection, "until closed"),
        ]
        return all.filter { request.lifetimes.contains($0.1.word) }.map { (key: $0.0, lifetime: $0.1, meaning: $0.2) }
    }

    private var pending: AuthorizationService? { request.next(after: answers) }

    /// Whether a question can be answered with chosen assets.
    private var canBeLimited: Bool { request.services.contains(where: request.limitable.contains) }

    /// Names every key that answers.
    var question: String {
        guard let pending else { return "" }
        let isLimitable = request.limitable.contains(pending)
        var keys = [isLimitable ? "y yes, all of it" : "y yes"]
        if isLimitable { keys.append("s only chosen items and its own") }
        keys += offered.map { "\(Character(Unicode.Scalar($0.key))) \($0.meaning)" } + ["n no", "d details"]
        // Keep a key and its meaning on one line.
        let list = keys.map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: ", ")
        let line = "  allow \(pending.title)? [\(list)]".wrapped(to: width - 1, indent: 4)
        return line.replacing("\u{A0}", with: " ") + " "
    }

    enum Key {
        static let interrupt: UInt8 = 3
        static let endOfInput: UInt8 = 4
        static let escape: UInt8 = 27
        static let limited = UInt8(ascii: "s")
        static let details = UInt8(ascii: "d")
    }
}

extension String {
    /// The text in lines of at most a width, broken at blanks if possible. All lines but the first are indented.
    func wrapped(to width: Int, indent: Int) -> String {
        var lines: [String] = []
        var line = String(prefix { $0 == " " })
        var isEmpty = true
        // A longer word would go on at the edge of the terminal, where it could pass for a line of ours.
        let longest = max(width - max(indent, line.count), 1)
        for word in split(separator: " ").flatMap({ TextWidth.pieces($0, of: longest) }) {
            if !isEmpty, TextWidth.of(line) + 1 + TextWidth.of(word) > width {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }

    /// The text filled with spaces to a width; as it is when longer.
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - TextWidth.of(self)))
    }
}
