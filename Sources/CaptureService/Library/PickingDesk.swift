import Authorization
import CaptureBus
import CaptureCore
import CaptureMessages
import CaptureSystem
import MediaLibrary

/// What an agent sees of the library of a person who picks from it, and takes the answer: as long as that question stands,
/// and for that agent alone. No program's consent has a part in it.
struct PickingDesk: Sendable {
    let agents: AgentRegistry
    let libraries: LibraryCatalog
    let pictures: LibraryPictures
    let taken: TakenContents

    /// A page of what may be picked, as it travels.
    ///
    /// - Throws: `.notPermitted` for who was not asked that.
    func browse(
        _ cookie: String,
        from connection: String,
        _ query: AssetFetchOptions
    ) async throws(CaptureError) -> (assets: [[String: BusValue]], next: String?) {
        let question = try await shown(cookie, from: connection)
        guard !query.isBinned else {
            throw CaptureError(.invalidArgument, "nothing can be picked from the bin; leave 'binned' out of the query")
        }
        var query = query
        let shown = question.assetKinds
        if !shown.isEmpty {
            query.kinds = query.kinds.isEmpty ? shown : query.kinds.intersection(shown)
            guard !query.kinds.isEmpty else { return ([], nil) }
        }
        let wanted = query
        let (page, chosen) = try await libraries.use(question.client.user) { library throws(CaptureError) in
            let page = try library.assets.fetch(wanted, scope: .all)
            guard question.purpose != .pick else { return (page, Set<String>()) }
            return (page, try library.choices.visible(to: question.subject, among: page.assets.map(\.id)))
        }
        // Nothing is shown of a question that was answered or taken back meanwhile.
        _ = try await agents.picking(cookie, from: connection)
        let assets = page.assets.map { asset in
            asset.properties.merging(["chosen": .bool(chosen.contains(asset.id))]) { $1 }
        }
        return (assets, page.next)
    }

    /// A picture of one.
    ///
    /// - Throws: `.notPermitted` as for a page; `.noSuchAsset`.
    func thumbnail(
        _ cookie: String,
        from connection: String,
        _ id: String,
        _ size: ThumbnailSize
    ) async throws(CaptureError) -> Descriptor {
        let question = try await shown(cookie, from: connection)
        let picture = try await pictures.open(id, size, of: question.client.user, .all)
        _ = try await agents.picking(cookie, from: connection)
        return picture
    }

    /// A question that the library is shown for, which it is not where something new is taken.
    private func shown(_ cookie: String, from connection: String) async throws(CaptureError) -> PickQuestion {
        let question = try await agents.picking(cookie, from: connection)
        guard question.taking == nil else {
            throw CaptureError(.notPermitted, "the library is not shown for what the camera takes")
        }
        return question
    }

    /// Takes the answer. One that cannot be leaves the question open.
    ///
    /// - Throws: `.invalidArgument` for more than may be picked, and what is no id; `.notPermitted` as for a page.
    func answer(_ cookie: String, from connection: String, _ answer: PickedAssets) async throws(CaptureError) {
        let question = try await agents.picking(cookie, from: connection)
        let ids = answer.picked + answer.dropped
        guard Set(ids).count == ids.count else {
            throw CaptureError(.invalidArgument, "an id was given twice; give each once")
        }
        guard answer.picked.count <= question.limit, answer.dropped.count <= question.limit else {
            throw CaptureError(.invalidArgument, "\(ids.count) assets were picked; \(question.limit) is the most")
        }
        guard answer.dropped.isEmpty || question.purpose == .choose else {
            throw CaptureError(
                .invalidArgument,
                "this question cannot take anything away; leave 'dropped' empty"
            )
        }
        guard !answer.picked.isEmpty || ![.pick, .take].contains(question.purpose) else {
            throw CaptureError(.invalidArgument, "nothing was picked; call Dismiss instead")
        }
        if let taking = question.taking {
            guard await taken.content(of: taking)?.id == ids.first else {
                throw CaptureError(.invalidArgument, "that is not what was taken last; give its id")
            }
        } else {
            _ = try await libraries.use(question.client.user) { library throws(CaptureError) in
                try library.contents.contents(of: ids)
            }
        }
        try await agents.answer(cookie, from: connection, picked: answer)
    }
}

extension PickQuestion {
    /// The kinds that are shown; empty for all.
    var assetKinds: Set<MediaAssetKind> { Set(kinds.compactMap(MediaAssetKind.init)) }
}
