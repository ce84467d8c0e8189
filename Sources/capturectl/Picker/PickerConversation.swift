import CaptureAgent
import CaptureKit
import PickerMessages

/// A question put to a person in the picker's window: what the window wants of the library is fetched for it, and what the
/// person picked is its answer.
struct PickerConversation: Sendable {
    let request: PickRequest
    let browser: PickBrowser
    let process: PickerProcess

    /// How many assets the window gets at a time.
    static let pageSize = 60

    /// Shows the window and waits for its answer. Cancelling the task takes it off the screen.
    ///
    /// - Throws: `badData` or `inputOutput` when the window's program fails.
    func run() async throws(CaptureError) -> PromptAnswer {
        defer { process.end() }
        try await process.send(.question(PickerQuestion(request)))
        for await report in process.reports {
            switch try report.get() {
            case .ready: throw CaptureError(.badData, "the picker said twice that it is ready")
            case .unable(let message): throw CaptureError(.inputOutput, Printable.text(message, limit: 300))
            case .picked(let picked, let dropped): return .picked(PickedAssets(picked, dropped: dropped))
            case .closed: return .dismissed
            case .advance, .again, .handOver:
                throw CaptureError(.badData, "the picker took something that was not asked for")
            case .page(let number, let kind, let cursor):
                guard let order = try await page(number, kind, cursor) else { return .withdrawn }
                await show(order)
            case .picture(let id):
                guard let order = try await picture(id) else { return .withdrawn }
                await show(order)
            }
        }
        if Task.isCancelled { return .withdrawn }
        process.end()
        throw CaptureError(.inputOutput, "the picker went away without an answer: \(process.ending)")
    }

    /// Shows the window something. One that is gone by now has said why: its answer is among the reports that follow.
    private func show(_ order: PickerOrder) async { try? await process.send(order) }

    /// A page for the window; `nil` once the question does not stand any more.
    private func page(_ number: Int, _ kind: MediaAssetKind?, _ cursor: String?) async throws(CaptureError)
        -> PickerOrder?
    {
        var options = AssetFetchOptions()
        options.pageSize = PickerConversation.pageSize
        if let kind { options.kinds = [kind] }
        do throws(CaptureError) {
            let page = try await browser.page(options, page: cursor)
            let items = page.assets.map { PickerItem($0, for: request.subject) }
            return .page(PickerPage(number: number, items: items, next: page.next))
        } catch {
            if error.code == .notPermitted || Task.isCancelled { return nil }
            return .failed(message: Printable.text(error.message, limit: 300), page: number)
        }
    }

    /// A picture for the window; `nil` once the question does not stand any more.
    private func picture(_ id: String) async throws(CaptureError) -> PickerOrder? {
        do throws(CaptureError) {
            return .picture(id: id, jpeg: PickerBytes(try await browser.jpeg(of: id)))
        } catch {
            if error.code == .notPermitted || Task.isCancelled { return nil }
            // Of a sound, of what has gone meanwhile, or not to be read: it is shown without one.
            return .picture(id: id, jpeg: nil)
        }
    }
}

extension PickerQuestion {
    /// What the window says of a request.
    init(_ request: PickRequest) {
        self.init(
            headline: request.headline,
            meaning: request.meaning,
            certainty: request.certainty,
            facts: request.details.map { Fact($0.label.prefix(1).uppercased() + $0.label.dropFirst(), $0.text) },
            purpose: request.purpose,
            limit: request.limit,
            kinds: MediaAssetKind.allCases.filter { request.kinds.isEmpty || request.kinds.contains($0) }
        )
    }
}

extension PickerItem {
    /// How the window shows an asset.
    init(_ item: PickableAsset, for program: String) {
        self.init(
            id: item.id,
            kind: item.asset.kind,
            name: Printable.text(item.asset.name, limit: 80),
            created: item.asset.created,
            duration: item.asset.duration,
            state: !item.isChosen ? .free : item.asset.program == program ? .own : .chosen
        )
    }
}
