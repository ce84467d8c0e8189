import CaptureCore

extension PickDialog {
    /// What to show first, while no line is taken yet: who asks, and what becomes of what is picked.
    var opening: String {
        let identity = PromptDialog(PromptRequest(cookie: "", program: "", tier: request.tier, services: []))
        let program = Printable.text(request.program, limit: 200)
        let name = Printable.text(request.name, limit: 60)
        var lines = ["", headline(name.isEmpty ? program : name)]
        lines.append("  program     \(program)")
        lines.append("  identity    \(Printable.text(request.tier, limit: 20)): \(identity.tierMeaning)")
        if !request.detail.isEmpty { lines.append("  made of     \(Printable.text(request.detail, limit: 300))") }
        if request.processID != 0 { lines.append("  process     \(request.processID)") }
        lines.append(meaning)
        if request.secondsLeft != 0 { lines.append("This stands for \((request.secondsLeft + 59) / 60) min.") }
        lines.append("Numbers and ranges as in 1 3-5 pick, d is done, q picks nothing, ? explains the rest.")
        return lines.joined(separator: "\n") + "\n"
    }

    private func headline(_ name: String) -> String {
        let kinds = MediaAssetKind.allCases.filter(request.kinds.contains).map { "\($0.rawValue)s" }
        let things = kinds.isEmpty ? "items" : kinds.joined(separator: ", ")
        switch request.purpose {
        case .pick:
            let count = request.limit == 1 ? "one of your \(things)" : "up to \(request.limit) of your \(things)"
            return "\(name) asks for \(count)"
        case .extend: return "Choose what \(name) may read of the media library"
        case .offer: return "\(name) may read what you chose of the media library, and you can choose more"
        case .choose:
            return "Choose what \(Printable.text(request.subject, limit: 200)) may read of the media library"
        }
    }

    private var meaning: String {
        switch request.purpose {
        case .pick: "It is handed what you pick, this once, and learns of nothing else."
        case .extend, .offer: "It may read from now on what you choose besides what is marked +, and nothing else."
        case .choose: "What is marked + it may read: picking that takes it away."
        }
    }
}
