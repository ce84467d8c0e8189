import CaptureCore
import CaptureKit

/// The words in which terminal and desktop ask for a confirmation.
extension ConfirmRequest {
    /// The program and what it wants, as in `“Tool” wants to delete 3 items from the media library: a.jpg, b.jpg …`.
    ///
    /// - Parameter shown: Makes a text of unknown origin harmless to show, and cuts it to a number of characters.
    func sentence(_ shown: (String, Int) -> String) -> String {
        let who = question.title(shown)
        return "“\(who)” wants to \(verb) \(things)\(place)" + list(shown)
    }

    /// The action as a verb, as in `delete`.
    var verb: String { action.rawValue }

    /// `1 item`, `3 items`.
    var things: String {
        let thing =
            switch action {
            case .delete, .erase: "item"
            case .save, .discard: "recording"
            }
        return "\(count) \(thing)\(count == 1 ? "" : "s")"
    }

    /// Where from or to, with a leading space.
    var place: String {
        switch action {
        case .delete: " from the media library"
        case .erase: " in the media library's bin"
        case .save: " into the media library"
        case .discard: " that \(count == 1 ? "was" : "were") not saved"
        }
    }

    /// A sentence that says what happens to them.
    var outcome: String {
        switch action {
        case .delete: "Deleted items go into the bin, where you can restore them for some time."
        case .erase: "Erased items are gone for good; nobody can restore them."
        case .save: "They were not saved when they were recorded. A yes puts them into the library."
        case .discard: "They were not saved when they were recorded. Discarded recordings are gone for good."
        }
    }

    /// The first names after a colon, and `…` if there are more.
    func list(_ shown: (String, Int) -> String) -> String {
        guard !names.isEmpty else { return "" }
        let first = names.prefix(5)
        return ": " + first.map { shown($0, 60) }.joined(separator: ", ") + (count > first.count ? " …" : "")
    }
}
