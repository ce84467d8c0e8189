import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import CaptureSystem
import MediaLibrary

/// What a program finds in the library.
extension LibraryObject {
    func fetch(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let query = try AssetFetchOptions(busValue: call.arguments.argument(0))
        let (page, status) = try await reading(callers.client(call.sender)) { library, scope throws(CaptureError) in
            try library.assets.fetch(query, scope: scope)
        }
        return [.records(page.assets), .string(page.next ?? ""), .uint32(status.rawValue)]
    }

    func count(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let query = try AssetFetchOptions(counting: call.arguments.argument(0))
        let (count, status) = try await reading(callers.client(call.sender)) { library, scope throws(CaptureError) in
            try library.assets.count(query, scope: scope)
        }
        return [.uint64(UInt64(clamping: count)), .uint32(status.rawValue)]
    }

    func getAsset(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let id = try call.arguments.text(0)
        let asset = try await reading(callers.client(call.sender)) { library, scope throws(CaptureError) in
            try library.assets.asset(id, scope: scope)
        }.value
        return [asset.busValue]
    }

    func getAssets(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let ids = try call.arguments.ids(0)
        let client = try await callers.client(call.sender)
        let (assets, status) = try await reading(client) { library, scope throws(CaptureError) in
            try library.picks.assets(of: ids, for: client.identity.program, scope: scope)
        }
        return [.records(assets), .uint32(status.rawValue)]
    }

    func findAssets(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let (beginnings, isBinned) = (try call.arguments.ids(0), try call.arguments.boolean(1))
        let ids = try await reading(callers.client(call.sender)) { library, scope throws(CaptureError) in
            try library.assets.ids(beginningWith: beginnings, isBinned: isBinned, scope: scope)
        }.value
        return [.strings(ids)]
    }

    func open(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let id = try call.arguments.text(0)
        let version = try call.arguments.word(1, AssetVersion.self)
        let content = try await reading(callers.client(call.sender)) { library, scope throws(CaptureError) in
            Descriptor(owning: try library.contents.open(id, version: version, scope: scope))
        }
        return [.descriptor(content.value)]
    }

    func thumbnail(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let id = try call.arguments.text(0)
        let size = try call.arguments.word(1, ThumbnailSize.self)
        let view = try await access.view(of: client)
        let picture = try await pictures.open(id, size, of: client.identity.user, view.scope)
        try view.confirm()
        await picking.choosing.offer(client, view.status)
        return [.descriptor(picture)]
    }

    func listAlbums(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let albums = try await reading(callers.client(call.sender)) { library, scope throws(CaptureError) in
            try library.albums.all(scope: scope)
        }
        return [.records(albums.value)]
    }

    func getToken(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        // First, so that nothing is missed between the token and the first notice. Who sees nothing is told when that
        // changes, and of nothing else.
        _ = try await access.view(of: client)
        try await watchers.watch(client)
        let token = try await reading(client) { library, scope throws(CaptureError) in
            try library.history.token(scope: scope)
        }
        .value
        return [.string(token.rawValue)]
    }

    func getChanges(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let token = LibraryChangeToken(rawValue: try call.arguments.text(0))
        let limit = try call.arguments.number(1)
        guard (1...Int64(LibraryHistory.mostAtOnce)).contains(limit) else {
            throw CaptureError(
                .invalidArgument,
                "the limit \(limit) is not between 1 and \(LibraryHistory.mostAtOnce)"
            )
        }
        let changes = try await reading(callers.client(call.sender)) { library, scope throws(CaptureError) in
            try library.history.changes(since: token, scope: scope, limit: Int(limit))
        }.value
        return [changes.busValue, .string(changes.token.rawValue), .bool(changes.isComplete)]
    }
}
