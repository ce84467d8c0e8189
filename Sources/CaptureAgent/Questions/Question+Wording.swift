import CaptureKit
import CaptureCore

/// Who asks, in the same words wherever a person is asked.
///
/// `shown` makes a text of unknown origin harmless to show, and cuts it to a number of characters.
extension Question {
    /// Its name, or its id if it has no name.
    func title(_ shown: (String, Int) -> String) -> String {
        let own = shown(name, 60)
        return own.isEmpty ? shown(program, 60) : own
    }

    /// A sentence that says whether the program's identity is verified.
    func certainty(_ shown: (String, Int) -> String) -> String {
        let id = shown(program, 100)
        switch tier {
        case "sandboxed": return "Verified: this is \(id), identified by its sandbox."
        case "service": return "Verified: this is the system service \(id), identified by its unit."
        case "user": return "Verified: this is \(id), which has a system account of its own."
        case "claimed" where isReplaceable:
            return "Not verified: this is \(id), a file that any program of your account can change."
        case "claimed": return "Not verified: another program of your account could pretend to be this one."
        default: return "Not verified: unknown kind of identity '\(shown(tier, 20))'."
        }
    }

    /// What else is known about it, each with a label, to show when the person asks for details.
    func details(_ shown: (String, Int) -> String) -> [(label: String, text: String)] {
        var facts = [(label: "program", text: shown(program, 200)), (label: "identity", text: shown(tier, 20))]
        if !detail.isEmpty { facts.append((label: "known by", text: shown(detail, 300))) }
        if processID != 0 { facts.append((label: "process", text: "\(processID)")) }
        return facts
    }

    /// The same as lines for a terminal of so many columns.
    func detailLines(width: Int) -> String {
        let indent = 12
        return details { Printable.text($0, limit: $1) }.map { label, text in
            let lines = text.wrapped(to: width - indent, indent: 0).split(separator: "\n")
            let separator = "\n" + String(repeating: " ", count: indent)
            return "  \(label.padding(to: 9)) " + lines.joined(separator: separator) + "\n"
        }.joined()
    }
}
