/// What terminal and desktop say of what is to be confirmed.
extension ConfirmRequest {
    /// The program and what it wants, as in `Tool wants to delete 3 items from the media library: a.jpg, b.jpg …`.
    ///
    /// - Parameter shown: Makes a text of unknown origin harmless where it is shown, and not longer than a number of
    ///   characters.
    func sentence(_ shown: (String, Int) -> String) -> String {
        let who = shown(name.isEmpty ? program : name, 60)
        return "\(who) wants to \(verb) \(things)\(place)" + list(shown)
    }

    /// `delete`, as of what a person does.
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

    /// Where from or to, with a blank before it.
    var place: String {
        switch action {
        case .delete: " from the media library"
        case .erase: " in the media library's bin"
        case .save: " into the media library"
        case .discard: " that \(count == 1 ? "was" : "were") not saved"
        }
    }

    /// What becomes of them, in a sentence.
    var outcome: String {
        switch action {
        case .delete: "What is deleted goes into the bin, from which it can be taken back for some time."
        case .erase: "What is erased is gone for good, and nobody can take it back."
        case .save: "They were not saved when they were made, and wait. A yes puts them into the library."
        case .discard: "They were not saved when they were made, and wait. What is discarded is gone for good."
        }
    }

    /// The first names behind a colon, and `…` where there are more.
    func list(_ shown: (String, Int) -> String) -> String {
        guard !names.isEmpty else { return "" }
        let first = names.prefix(5)
        return ": " + first.map { shown($0, 60) }.joined(separator: ", ") + (count > first.count ? " …" : "")
    }
}
