import CaptureBus
import CaptureCore
import CaptureSystem
import MediaLibrary

/// What a program finds in the library.
extension LibraryObject {
    func fetch(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let query = try AssetQuery(busValue: call.arguments.argument(0))
        let (page, status) = try await reading(call) { library, scope throws(CaptureError) in
            try library.fetch(query, scope)
        }
        return [.propertyList(page.assets.map(\.properties)), .string(page.next ?? ""), .uint32(status.rawValue)]
    }

    func count(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let query = try AssetQuery(busValue: call.arguments.argument(0))
        let (count, status) = try await reading(call) { library, scope throws(CaptureError) in
            try library.count(query, scope)
        }
        return [.uint64(UInt64(clamping: count)), .uint32(status.rawValue)]
    }

    func getAsset(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let id = try call.arguments.text(0)
        let asset = try await reading(call) { library, scope throws(CaptureError) in try library.asset(id, scope) }.value
        return [.properties(asset.properties)]
    }

    func open(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let id = try call.arguments.text(0)
        let version = try call.arguments.word(1, AssetVersion.self)
        let content = try await reading(call) { library, scope throws(CaptureError) in
            Descriptor(owning: try library.openContent(id, version, scope))
        }
        return [.descriptor(content.value)]
    }

    /// Made from the content where there is none yet, or none any more.
    func thumbnail(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let id = try call.arguments.text(0)
        let size = try call.arguments.word(1, ThumbnailSize.self)
        let find = { @Sendable (library: MediaLibrary, scope: LibraryScope) throws(CaptureError) -> Descriptor? in
            try library.openThumbnail(id, size, scope).map { Descriptor(owning: $0) }
        }
        if let picture = try await reading(call, find).value { return [.descriptor(picture)] }
        let content = try await reading(call) { library, scope throws(CaptureError) in
            Descriptor(owning: try library.openContent(id, .current, scope))
        }
        let pictures = try await importers.examine(content.value).thumbnails
        _ = try await reading(call) { library, scope throws(CaptureError) in
            try library.storeThumbnails(pictures, of: id, scope)
        }
        guard let picture = try await reading(call, find).value else {
            throw CaptureError(.badData, "asset \(id) has no picture of that size: it cannot be shown")
        }
        return [.descriptor(picture)]
    }

    func listAlbums(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let albums = try await reading(call) { library, scope throws(CaptureError) in try library.albums(scope) }
        return [.propertyList(albums.value.map(\.properties))]
    }

    func getToken(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let token = try await reading(call) { library, scope throws(CaptureError) in try library.token(scope) }.value
        try await watchers.watch(try await callers.client(call.sender))
        return [.string(token)]
    }

    func getChanges(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let token = try call.arguments.text(0)
        let limit = try call.arguments.number(1)
        guard (1...1000).contains(limit) else {
            throw CaptureError(.invalidArgument, "the limit \(limit) is not between 1 and 1000")
        }
        let changes = try await reading(call) { library, scope throws(CaptureError) in
            try library.changes(since: token, scope, limit: Int(limit))
        }.value
        let facts: [String: BusValue] = [
            "inserted": .propertyList(changes.inserted.map(\.properties)),
            "changed": .propertyList(changes.changed.map(\.properties)),
            "moved": .propertyList(changes.moved.map(\.properties)),
            "removed": .strings(changes.removed),
            "albums-inserted": .propertyList(changes.albums.inserted.map(\.properties)),
            "albums-changed": .propertyList(changes.albums.changed.map(\.properties)),
            "albums-removed": .strings(changes.albums.removed),
        ]
        return [.properties(facts), .string(changes.token), .bool(changes.isComplete)]
    }
}
