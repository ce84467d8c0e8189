import CaptureCore

/// Where a dialog of picking gets what it shows. May block.
protocol PickSource {
    /// A page of what may be picked, as `PickBrowser.page(_:page:)` gives it.
    func page(_ options: AssetFetchOptions, _ cursor: String?) throws(CaptureError) -> PickPage

    /// What shows an asset's picture on the terminal; `nil` where there is none, or none can be shown.
    func picture(of id: MediaAsset.ID, _ size: ThumbnailSize) throws(CaptureError) -> String?
}

/// The dialog by which a person picks from the media library on a terminal, as a machine without one: text to show, lines
/// to take.
struct PickDialog {
    let request: PickRequest
    var list: PickList
    /// What is picked, in the order of picking.
    var picked: [MediaAsset.ID] = []
    /// What the program is not to read any more.
    var dropped: [MediaAsset.ID] = []
    /// The names of both.
    private var names: [MediaAsset.ID: String] = [:]
    /// Whether the person has still to say that anything is to be chosen at all.
    private var isOffer: Bool

    init(_ request: PickRequest, _ source: any PickSource) {
        self.request = request
        list = PickList(source)
        isOffer = request.purpose == .offer
    }

    /// What comes of a line.
    enum Step: Hashable {
        /// Text to show; another line is wanted.
        case next(String)
        /// It is over; text to show.
        case done(PromptAnswer, String)
    }

    /// What to show when lines are taken from now on.
    mutating func begin() -> Step {
        isOffer ? .next(PickDialog.offer) : shown { list throws(CaptureError) in try list.restart() }
    }

    private static let offer = "  choose more for it? [y/n] and Enter: "

    /// Takes a line, without its end; `nil` at the end of the input.
    mutating func take(_ line: String?) -> Step {
        guard let line else { return .done(.dismissed, "\nnothing was picked\n") }
        let words = line.split { $0 == " " || $0 == "\t" || $0 == "," }.map(String.init)
        if isOffer { return takeOffer(words) }
        guard let first = words.first else { return .next(prompt) }
        if line.hasPrefix("/") {
            let text = String(line.dropFirst())
            return shown { list throws(CaptureError) in try list.search(text) }
        }
        switch first.lowercased() {
        case "n", "next": return turn { list throws(CaptureError) in try list.turnOn() }
        case "b", "back": return turn { list in list.turnBack() }
        case "k", "kind": return takeKinds(words.dropFirst())
        case "v", "view": return view(words.dropFirst())
        case "s", "selected": return .next(selection + prompt)
        case "d", "done": return done()
        case "q", "quit": return .done(.dismissed, "nothing was picked\n")
        case "?", "h", "help": return .next(PickDialog.help + prompt)
        default: return select(words)
        }
    }

    private mutating func takeOffer(_ words: [String]) -> Step {
        switch words.first?.lowercased() {
        case "y", "yes":
            isOffer = false
            return begin()
        case "n", "no": return .done(.picked(PickAnswer()), "it stays as it is\n")
        default: return .next(PickDialog.offer)
        }
    }

    private mutating func takeKinds(_ words: ArraySlice<String>) -> Step {
        var kinds: Set<MediaAssetKind> = []
        for word in words {
            guard let kind = MediaAssetKind(rawValue: word.lowercased()) else {
                return .next("'\(Printable.text(word, limit: 40))' is no kind; photo, movie and sound are\n" + prompt)
            }
            kinds.insert(kind)
        }
        return shown { list throws(CaptureError) in try list.show(kinds) }
    }

    private func view(_ words: ArraySlice<String>) -> Step {
        guard let rows = rows(words), let row = rows.first, rows.count == 1 else {
            return .next("'v' takes one number of the list\n" + prompt)
        }
        do throws(CaptureError) {
            let picture = try list.source.picture(of: list.rows[row].id, .medium)
            return .next((picture ?? "this terminal shows no pictures, or there is none of it") + "\n" + prompt)
        } catch {
            return failed(error)
        }
    }

    /// Takes numbers and ranges: what is picked is so no more, and the other way round.
    private mutating func select(_ words: [String]) -> Step {
        guard let rows = rows(words[...]) else {
            return .next("that is no number of the list; ? explains what can be typed\n" + prompt)
        }
        var notes = ""
        for row in rows { notes += toggle(list.rows[row]) }
        return .next(notes + selection + prompt)
    }

    private mutating func toggle(_ item: PickableAsset) -> String {
        let name = Printable.text(item.asset.name, limit: 60)
        names[item.id] = item.asset.name
        if let index = picked.firstIndex(of: item.id) {
            picked.remove(at: index)
        } else if let index = dropped.firstIndex(of: item.id) {
            dropped.remove(at: index)
        } else if !item.isChosen {
            if request.limit == 1 { picked = [] }
            guard picked.count < request.limit else { return "\(name) is not picked: \(request.limit) are, the most\n" }
            picked.append(item.id)
        } else if request.purpose != .choose {
            return "\(name) may be read already\n"
        } else if item.asset.program == request.subject {
            return "\(name) was made by the program, which may always read it\n"
        } else {
            guard dropped.count < request.limit else { return "\(name) stays: \(request.limit) at a time may go\n" }
            dropped.append(item.id)
        }
        return ""
    }

    /// The rows that numbers and ranges as in `1 3-5` name, each once; `nil` where one of them names none.
    private func rows(_ words: ArraySlice<String>) -> [Int]? {
        var rows: [Int] = []
        for word in words {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first >= 1,
                first <= last, last <= list.rows.count
            else { return nil }
            rows += (first...last).map { $0 - 1 }.filter { !rows.contains($0) }
        }
        return rows.isEmpty ? nil : rows
    }

    private func done() -> Step {
        if picked.isEmpty, dropped.isEmpty, request.purpose == .pick {
            return .next("nothing is picked yet; q leaves it at that\n" + prompt)
        }
        return .done(.picked(PickAnswer(picked, dropped: dropped)), selection)
    }

    // MARK: What is shown

    private mutating func turn(_ change: (inout PickList) throws(CaptureError) -> Bool) -> Step {
        var isThere = false
        let step = shown { list throws(CaptureError) in isThere = try change(&list) }
        if case .next = step, !isThere { return .next("there is no more\n" + prompt) }
        return step
    }

    private mutating func shown(_ change: (inout PickList) throws(CaptureError) -> Void) -> Step {
        do throws(CaptureError) {
            try change(&list)
            return .next(try page() + prompt)
        } catch {
            return failed(error)
        }
    }

    private func failed(_ error: CaptureError) -> Step {
        if error.code == .notPermitted { return .done(.withdrawn, PromptDialog.withdrawal) }
        return .next("that cannot be shown: \(Printable.text(error.message, limit: 300))\n" + prompt)
    }

    private func page() throws(CaptureError) -> String {
        var text = ""
        for (index, item) in list.rows.enumerated() {
            if let picture = try list.source.picture(of: item.id, .small) { text += picture + "\n" }
            text += PickList.line(index + 1, mark(item), item.asset) + "\n"
        }
        return text + list.footer
    }

    private func mark(_ item: PickableAsset) -> Character {
        if picked.contains(item.id) { return "*" }
        if dropped.contains(item.id) { return "-" }
        return item.isChosen ? "+" : " "
    }

    private var selection: String {
        func told(_ what: String, _ ids: [MediaAsset.ID]) -> String {
            guard !ids.isEmpty else { return "" }
            let first = ids.prefix(8).map { Printable.text(names[$0] ?? $0, limit: 40) }.joined(separator: ", ")
            return "\(what) \(ids.count): \(first)\(ids.count > 8 ? " …" : "")\n"
        }
        let text = told("picked", picked) + told("to be taken away", dropped)
        return text.isEmpty ? "nothing is picked\n" : text
    }

    private var prompt: String { "pick> " }

    static let help = """
        1 3-5     picks these of the list, or does not any more
        n, b      the next and the previous page
        k photo   these kinds alone: photo, movie, sound; without a word all
        /text     names with this text alone; without a text all
        v 3       shows a larger picture, where the terminal can
        s         what is picked
        d         done
        q         picks nothing

        """
}
