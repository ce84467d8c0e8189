/// The dialog of a terminal agent as a machine without a terminal: text to show, keys to take.
///
/// All rows are shown first; then one question a row, answered by one key. Nothing counts as an answer but `y` and `n`, and
/// where the daemon takes them `t`, this time, `c`, until the program is closed, and `s`, for chosen assets of the library.
/// Who may read the library may add to it: that is not asked after a yes to reading.
public struct PromptDialog: Sendable {
    /// What is asked.
    public let request: PromptRequest
    private var answers: [AuthorizationService: PromptChoice] = [:]

    /// The dialog of a request.
    public init(_ request: PromptRequest) {
        self.request = request
    }

    /// How long `opening` stands before keys are taken: who was typing something else has seen it by then.
    public static let moment: Duration = .milliseconds(600)

    /// What to show first, while no key is taken yet: who asks, why, and every row.
    public var opening: String {
        let name = Printable.text(request.name, limit: 60)
        let program = Printable.text(request.program, limit: 200)
        let wanted = AuthorizationService.action(request.services)
        var lines = ["", "\(name.isEmpty ? program : name) wants to \(wanted)"]
        lines.append("  program     \(program)")
        lines.append("  identity    \(Printable.text(request.tier, limit: 20)): \(tierMeaning)")
        if !request.detail.isEmpty { lines.append("  made of     \(Printable.text(request.detail, limit: 300))") }
        if request.processID != 0 { lines.append("  process     \(request.processID)") }
        for service in request.rows {
            let reason = Printable.text(request.reasons[service] ?? "", limit: 300)
            let label = (service.rawValue + " ").padding(to: 12)
            lines.append("  \(label)\(reason.isEmpty ? "(no reason given)" : "it says: \"\(reason)\"")")
        }
        if request.isInline {
            lines.append("  A yes covers every command run in this session that uses capturectl.")
        }
        let limit = request.secondsLeft == 0 ? "" : " within \(request.secondsLeft) s"
        lines.append("y allows, n refuses, both are remembered; Ctrl-D answers nothing. Answer\(limit):")
        let shorter = offered.map { key, _, meaning in "\(Character(Unicode.Scalar(key))) allows \(meaning)" }
        if !shorter.isEmpty { lines.insert("\(shorter.joined(separator: ", "));", at: lines.count - 1) }
        if canBeLimited {
            let meaning = "of the library y allows everything, s what you choose and what it adds;"
            lines.insert(meaning, at: lines.count - 1)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What to show below it when keys are taken from now on: the first question.
    ///
    /// - Parameter hasEarlyKeys: Whether some were typed before it, and thrown away.
    public func firstQuestion(hasEarlyKeys: Bool) -> String {
        (hasEarlyKeys ? "  What was typed before this line came too early and was not taken.\n" : "") + question
    }

    /// What to show when the question is withdrawn: below the row that stands there with no answer.
    public static let withdrawal = "\nthe question was withdrawn\n"

    /// What comes of a key.
    public enum Step: Hashable, Sendable {
        /// Nothing: the key means nothing here.
        case ignored
        /// The row is answered; text to show, the next question in it.
        case next(String)
        /// All rows are answered, or the dialog was closed; text to show.
        case done(PromptAnswer, String)
    }

    /// Takes what came of one read from the terminal.
    ///
    /// - Parameter bytes: Empty at the end of the input.
    /// - Returns: The steps in order; after `done` there are no more.
    public mutating func take(_ bytes: [UInt8]) -> [Step] {
        if bytes.isEmpty { return [.done(.dismissed, "no answer\n")] }
        if bytes.first == Key.escape {
            // By itself it is the key; with more behind it, the sequence of an arrow or a pasted text.
            return bytes.count == 1 ? [.done(.dismissed, "no answer\n")] : [.ignored]
        }
        // What was typed or pasted counts as a whole: a `y` in the middle of other text is nobody's yes.
        guard let keys = keys(in: bytes) else { return [.ignored] }
        var steps: [Step] = []
        for key in keys {
            let step = take(key)
            steps.append(step)
            if case .done = step { break }
        }
        return steps
    }

    /// The answers in some input: `y`, `n`, `yes` and `no` in any case, apart from each other or not, and the keys that
    /// end the dialog; `nil` when there is anything else in it but white space.
    private func keys(in bytes: [UInt8]) -> [UInt8]? {
        var keys: [UInt8] = []
        let limited = canBeLimited ? [Key.limited] : []
        let known = Set(
            offered.map(\.key) + limited + [UInt8(ascii: "y"), UInt8(ascii: "n"), Key.endOfInput, Key.interrupt]
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
        case UInt8(ascii: "y"): return answer(.yes(.always), "yes")
        case UInt8(ascii: "n"): return answer(.no, "no")
        case Key.limited:
            guard let pending, request.limitable.contains(pending) else { return .ignored }
            return answer(.limited(.always), "yes, what you choose")
        case Key.endOfInput, Key.interrupt: return .done(.dismissed, "no answer\n")
        default:
            guard let choice = offered.first(where: { $0.key == key }) else { return .ignored }
            return answer(.yes(choice.lifetime), "yes, \(choice.meaning)")
        }
    }

    private mutating func answer(_ choice: PromptChoice, _ word: String) -> Step {
        guard let service = pending else { return .ignored }
        answers[service] = choice
        return pending == nil ? .done(.inPlainWords(answers), word + "\n") : .next(word + "\n" + question)
    }

    /// The keys of a yes for a shorter time, as far as the daemon takes it.
    private var offered: [(key: UInt8, lifetime: GrantLifetime, meaning: String)] {
        let all: [(UInt8, GrantLifetime, String)] = [
            (UInt8(ascii: "t"), .session, "this time"), (UInt8(ascii: "c"), .connection, "until it is closed"),
        ]
        return all.filter { request.lifetimes.contains($0.1.word) }.map { (key: $0.0, lifetime: $0.1, meaning: $0.2) }
    }

    private var pending: AuthorizationService? { request.next(after: answers) }

    /// Whether a question can be answered with chosen assets.
    private var canBeLimited: Bool { request.services.contains(where: request.limitable.contains) }

    private var question: String {
        guard let pending else { return "" }
        return "  allow \(pending.title)? [\(request.limitable.contains(pending) ? "y/s/n" : "y/n")] "
    }

    /// What the tier says about how sure the identity is.
    var tierMeaning: String {
        switch request.tier {
        case "sandboxed": "an application in a sandbox, named by its sandbox"
        case "service": "a system service, named by its unit"
        case "user": "a system account of its own"
        case "claimed": "not certain, any program of yours could pass for it"
        default: "not known to this version of capturectl"
        }
    }

    private enum Key {
        static let interrupt: UInt8 = 3
        static let endOfInput: UInt8 = 4
        static let escape: UInt8 = 27
        static let limited = UInt8(ascii: "s")
    }
}

extension String {
    /// The text filled with spaces to a width; as it is when longer.
    func padding(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }
}
