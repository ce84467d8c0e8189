import CaptureBus
import CaptureCore
import Synchronization

extension FakeLibrary {
    /// What only looks.
    var looking: [String: FakeDaemon.Answer] {
        [
            "Fetch": { _, call throws(CaptureError) in try self.fetch(call.arguments[0].properties ?? [:]) },
            "Count": { _, call throws(CaptureError) in
                let state = try self.decided()
                let count = try state.found(call.arguments[0].properties ?? [:]).count
                return [.uint64(UInt64(count)), .uint32(state.status(.readWrite).rawValue)]
            },
            "GetAsset": { _, call throws(CaptureError) in
                let state = try self.decided()
                return [.properties(state.entries[try state.index(call.arguments[0].text)].facts)]
            },
            "GetAssets": { _, call throws(CaptureError) in
                let state = try self.decided()
                let found = (call.arguments[0].texts ?? []).compactMap { id in
                    state.entries.first { [$0.id, FakeLibrary.pickedID(of: $0.id)].contains(id) && state.sees($0) }
                }
                return [.propertyList(found.map(\.facts)), .uint32(state.status(.readWrite).rawValue)]
            },
            "FindAssets": { _, call throws(CaptureError) in
                let state = try self.decided()
                let facts: [String: BusValue] = ["binned": .bool(call.arguments[1] == .bool(true))]
                let ids = try state.found(facts).map(\.id)
                return [
                    .strings((call.arguments[0].texts ?? []).flatMap { digits in ids.filter { $0.hasPrefix(digits) } })
                ]
            },
            "Open": { _, call throws(CaptureError) in
                let state = self.state.withLock { $0 }
                let entry = state.entries[try state.index(call.arguments[0].text)]
                let isOriginal = call.arguments[1].text == "original"
                guard isOriginal || entry.edit != nil || entry.facts["edited"] != .bool(true) else {
                    throw CaptureError(.inputOutput, "the file of the asset \(entry.id) is missing")
                }
                return [.descriptor(try FakeLibrary.file(isOriginal ? entry.original : entry.edit ?? entry.original))]
            },
            "Thumbnail": { _, call throws(CaptureError) in
                let state = self.state.withLock { $0 }
                _ = try state.index(call.arguments[0].text)
                return [.descriptor(try FakeLibrary.file(Array("JPEG \(call.arguments[1].text ?? "")".utf8)))]
            },
            "ListAlbums": { _, _ throws(CaptureError) in
                let state = try self.decided()
                let isReader = [.authorized, .limited].contains(state.status(.readWrite))
                return [.propertyList(isReader ? state.albums.map(state.facts) : [])]
            },
            "GetToken": { _, call throws(CaptureError) in
                let state = self.state.withLock { state in
                    state.listeners.insert(call.sender)
                    return state
                }
                try state.checkDecided()
                return [.string("t\(state.log.count)")]
            },
            "GetChanges": { _, call throws(CaptureError) in try self.changes(call.arguments) },
        ]
    }

    /// The state, once the person has decided about reading.
    private func decided() throws(CaptureError) -> State {
        let state = state.withLock { $0 }
        try state.checkDecided()
        return state
    }

    private func fetch(_ query: [String: BusValue]) throws(CaptureError) -> [BusValue] {
        let state = try decided()
        let found = try state.found(query)
        let limit = Int(query["limit"]?.integer ?? 100)
        let start = query["page"]?.text.flatMap { Int($0.dropFirst()) } ?? 0
        let page = found.dropFirst(start).prefix(limit)
        let next = start + page.count < found.count ? "p\(start + page.count)" : ""
        return [
            .propertyList(page.map(\.facts)), .string(next), .uint32(state.status(.readWrite).rawValue),
        ]
    }

    private func changes(_ arguments: [BusValue]) throws(CaptureError) -> [BusValue] {
        let state = try decided()
        guard let text = arguments[0].text, text.hasPrefix("t"), let start = Int(text.dropFirst()),
            start <= state.log.count
        else { throw CaptureError(.staleToken, "the token is too old, or not of this program: fetch again") }
        let piece = state.log.dropFirst(start).prefix(Int(arguments[1].integer ?? 1000))
        var assets: [String: [[String: BusValue]]] = [:]
        var ids: [String: [String]] = [:]
        for change in piece {
            if change.key.hasSuffix("removed") {
                ids[change.key, default: []].append(change.id)
            } else if change.key.hasPrefix("albums") {
                if let album = state.albums.first(where: { $0.id == change.id }) {
                    assets[change.key, default: []].append(state.facts(of: album))
                }
            } else if let entry = state.entries.first(where: { $0.id == change.id && state.sees($0) }) {
                assets[change.key, default: []].append(entry.facts)
            }
        }
        let facts = assets.mapValues { BusValue.propertyList($0) }.merging(ids.mapValues { .strings($0) }) { $1 }
        let end = start + piece.count
        return [.properties(facts), .string("t\(end)"), .bool(end == state.log.count)]
    }
}
