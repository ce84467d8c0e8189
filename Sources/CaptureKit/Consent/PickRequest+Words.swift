/// What a person is told of a request, in the same words wherever something is picked. Texts from outside are neutralized.
extension PickRequest {
    /// Who wants what.
    public var headline: String {
        let kinds = MediaAssetKind.allCases.filter(self.kinds.contains).map { "\($0.rawValue)s" }
        let things = kinds.isEmpty ? "items" : kinds.joined(separator: ", ")
        switch purpose {
        case .pick:
            let count = limit == 1 ? "one of your \(things)" : "up to \(limit) of your \(things)"
            return "\(shownName) asks for \(count)"
        case .extend: return "Choose what \(shownName) may read of the media library"
        case .offer: return "\(shownName) may read what you chose of the media library, and you can choose more"
        case .choose: return "Choose what \(Printable.text(subject, limit: 200)) may read of the media library"
        }
    }

    /// What becomes of what is picked. What may be read already is to be marked with `+`.
    public var meaning: String {
        switch purpose {
        case .pick: "It is handed what you pick, this once, and learns of nothing else."
        case .extend, .offer: "It may read from now on what you choose besides what is marked +, and nothing else."
        case .choose: "What is marked + it may read: picking that takes it away."
        }
    }

    /// What is known of the asking program, a label and a text each.
    public var facts: [(label: String, text: String)] {
        let identity = PromptDialog(PromptRequest(cookie: "", program: "", tier: tier, services: []))
        var facts = [
            (label: "program", text: Printable.text(program, limit: 200)),
            (label: "identity", text: "\(Printable.text(tier, limit: 20)): \(identity.tierMeaning)"),
        ]
        if !detail.isEmpty { facts.append((label: "made of", text: Printable.text(detail, limit: 300))) }
        if processID != 0 { facts.append((label: "process", text: "\(processID)")) }
        return facts
    }

    private var shownName: String {
        let own = Printable.text(name, limit: 60)
        return own.isEmpty ? Printable.text(program, limit: 200) : own
    }
}
