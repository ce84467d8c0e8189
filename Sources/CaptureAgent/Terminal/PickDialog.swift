import CaptureCore
import CaptureKit

/// The source of what a pick dialog shows. May block.
protocol PickSource {
    /// A page of assets to pick from, as `PickBrowser.page(_:page:)` gives it.
    func page(_ options: AssetFetchOptions, _ cursor: String?) throws(CaptureError) -> PickPage

    /// The text that shows an asset's picture on the terminal; `nil` if it has no picture, or the terminal shows no pictures.
    func picture(of id: MediaAsset.ID, _ size: ThumbnailSize) throws(CaptureError) -> String?
}

/// The terminal dialog in which a person picks from the media library, as a state machine without a terminal: text to
/// show, lines to take.
struct PickDialog {
    let request: PickRequest
    var list: PickList
    /// What is picked, in the order of picking.
    var picked: [MediaAsset.ID] = []
    /// What the program may no longer read.
    var dropped: [MediaAsset.ID] = []
    /// The names of both.
    private var names: [MediaAsset.ID: String] = [:]
    /// Whether the person has yet to say whether to choose anything at all.
    private var isOffer: Bool

    init(_ request: PickRequest, _ source: any PickSource) {
        self.request = request
        list = PickList(source)
        isOffer = request.purpose == .offer
    }

    /// The result of a line.
    enum Step: Hashable {
        /// Text to show; another line is wanted.
        case next(String)
        /// The dialog is over; text to show.
        case done(PromptAnswer, String)
    }

    /// The text to show once lines are taken.
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
        case "w", "who": return .next(request.question.detailLines(width: ControllingTerminal.width) + prompt)
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
        case "n", "no": return .done(.picked(PickedAssets()), "nothing was changed\n")
        default: return .next(PickDialog.offer)
        }
    }

    private mutating func takeKinds(_ words: ArraySlice<String>) -> Step {
        var kinds: Set<MediaAssetKind> = []
        for word in words {
            guard let kind = MediaAssetKind(rawValue: word.lowercased()) else {
                let given = Printable.text(word, limit: 40)
                return .next("'\(given)' is not a kind; give photo, movie or sound\n" + prompt)
            }
            kinds.insert(kind)
        }
        return shown { list throws(CaptureError) in try list.show(kinds) }
    }

    private func view(_ words: ArraySlice<String>) -> Step {
        guard let rows = rows(words), let row = rows.first, rows.count == 1 else {
            return .next("give 'v' one number from the list\n" + prompt)
        }
        do throws(CaptureError) {
            let picture = try list.source.picture(of: list.rows[row].id, .medium)
            return .next((picture ?? "this terminal shows no pictures, or this item has none") + "\n" + prompt)
        } catch {
            return failed(error)
        }
    }

    /// Toggles the picked state of numbers and ranges.
    private mutating func select(_ words: [String]) -> Step {
        guard let rows = rows(words[...]) else {
            return .next("that is not a number in the list; ? for help\n" + prompt)
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
            guard picked.count < request.limit else { return "\(name) was not picked: \(request.limit) is the most\n" }
            picked.append(item.id)
        } else if request.purpose != .choose {
            return "the program may already read \(name)\n"
        } else if item.asset.program == request.subject {
            return "\(name) was made by the program, which may always read it\n"
        } else {
            guard dropped.count < request.limit else { return "\(name) stays: at most \(request.limit) at a time\n" }
            dropped.append(item.id)
        }
        return ""
    }

    /// The rows that numbers and ranges as in `1 3-5` name, each once; `nil` if one of them names no row.
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
            return .next("nothing is picked yet; q to pick nothing\n" + prompt)
        }
        return .done(.picked(PickedAssets(picked, dropped: dropped)), selection)
    }

    // MARK: What is shown

    private mutating func turn(_ change: (inout PickList) throws(CaptureError) -> Bool) -> Step {
        var isThere = false
        let step = shown { list throws(CaptureError) in isThere = try change(&list) }
        if case .next = step, !isThere { return .next("there are no more pages\n" + prompt) }
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
        return .next("cannot show that: \(Printable.text(error.message, limit: 300))\n" + prompt)
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
        1 3-5     pick these, or unpick them
        n, b      next and previous page
        k photo   only these kinds: photo, movie, sound; alone: all kinds
        /text     only names with this text; alone: all names
        v 3       show a larger picture, if the terminal can
        s         show what is picked
        d         done
        w         show details of the program that asks
        q         quit, pick nothing

        """
}
