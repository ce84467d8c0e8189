import CaptureBus
import CaptureKit

/// The details of the asking program in a desktop dialog. The portal's dialogs cannot unfold, so the person ticks a box
/// and gets the same question again with all details.
enum DesktopDetails {
    /// The dialog has a box that asks for them.
    case offered
    /// The dialog shows them.
    case shown

    private static let id = "details"

    /// The box.
    var choices: [AccessDialog.Choice] {
        self == .offered ? [.init(DesktopDetails.id, "Show details, and ask again", isTicked: false)] : []
    }

    /// The lines of the details, if they are shown.
    func lines(of question: Question) -> [String] {
        guard self == .shown else { return [] }
        return [""]
            + question.details { DesktopDialog.data($0, limit: $1) }.map { fact in
                "\(fact.label.prefix(1).uppercased() + fact.label.dropFirst()): \(fact.text)"
            }
    }

    /// Whether the person wants to see them first. Such an answer allows nothing.
    static func areWanted(_ response: AccessResponse) -> Bool {
        if case .granted(let chosen) = response { chosen[id] == "true" } else { false }
    }
}
