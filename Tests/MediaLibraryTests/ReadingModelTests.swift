@testable import MediaLibrary
import CaptureCore
import GRDB
import Testing

@Suite struct `What readers see` {
    static let scopes: [LibraryScope] = [.all, .limited(program: "app:a"), .limited(program: "app:b")]

    @Test(arguments: 1...2)
    func `is what looking at everything finds, whatever happens to the library`(_ seed: UInt64) throws {
        let temporary = try TemporaryLibrary()
        let library = try temporary.library()
        try library.hurry()
        var random = Repeatable(state: seed)
        var model = ReadingModel()
        for step in 0..<400 {
            try model.step(library, &random)
            guard step % 4 == 0 else { continue }
            for scope in Self.scopes {
                let query = anyQuery(model, scope, &random)
                let expected = model.ids(query, scope)
                #expect(try library.fetchAll(query, scope: scope) == expected, "\(query) \(scope)")
                #expect(try library.assets.count(query, scope: scope) == expected.count, "\(query) \(scope)")
            }
        }
        #expect(try library.index.read(ReadingRecount.faults) == [])
        for scope in Self.scopes {
            let albums = try library.albums.all(scope: scope)
            #expect(Set(albums.map(\.id)) == Set(model.albums(scope).keys))
            for album in albums {
                let query = AssetFetchOptions(album: album.id, order: .position, isAscending: true, pageSize: 3)
                #expect(try library.fetchAll(query, scope: scope) == model.albums(scope)[album.id])
                #expect(Int(album.count) == model.albums(scope)[album.id]?.count)
            }
        }
    }

    @Test(arguments: 1...2)
    func `is what a client has that was told of differences alone`(_ seed: UInt64) throws {
        let temporary = try TemporaryLibrary()
        let library = try temporary.library()
        try library.hurry()
        var random = Repeatable(state: seed &* 77)
        var model = ReadingModel()
        var clients = try Self.scopes.map { Client(scope: $0, token: try library.history.token(scope: $0)) }
        for _ in 0..<60 {
            for _ in 0..<Int.random(in: 1..<20, using: &random) { try model.step(library, &random) }
            for index in clients.indices where Bool.random(using: &random) {
                var isComplete = false
                while !isComplete {
                    isComplete = try clients[index].catchUp(library, limit: Int.random(in: 1..<6, using: &random))
                    // Others go on while it is told in pieces.
                    if Int.random(in: 0..<4, using: &random) == 0 { try model.step(library, &random) }
                }
                isComplete = false
                while !isComplete { isComplete = try clients[index].catchUp(library, limit: 3) }
                let scope = clients[index].scope
                let expected = Set(model.entries.values.filter { model.sees($0, scope) && !$0.isBinned }.map(\.id))
                #expect(Set(clients[index].assets.keys) == expected)
                for asset in clients[index].assets.values {
                    #expect(try library.assets.asset(asset.id, scope: scope) == asset)
                }
                #expect(clients[index].albums == Set(model.albums(scope).keys))
            }
        }
    }

    /// Somebody who knows the library by differences.
    struct Client {
        var scope: LibraryScope
        var token: LibraryChangeToken
        var assets: [String: MediaAsset] = [:]
        var albums: Set<String> = []

        mutating func catchUp(_ library: LibraryStore, limit: Int) throws -> Bool {
            let changes = try library.history.changes(since: token, scope: scope, limit: limit)
            for asset in changes.inserted { assets[asset.id] = asset }
            for asset in changes.changed + changes.moved {
                #expect(assets[asset.id] != nil, "changed, and never inserted")
                assets[asset.id] = asset
            }
            for id in changes.removed { assets[id] = nil }
            for album in changes.insertedAlbums { albums.insert(album.id) }
            for album in changes.changedAlbums { #expect(albums.contains(album.id)) }
            for id in changes.removedAlbums { albums.remove(id) }
            let told =
                changes.inserted.count + Set((changes.changed + changes.moved).map(\.id)).count
                + changes.removed.count + changes.insertedAlbums.count + changes.changedAlbums.count
                + changes.removedAlbums.count
            #expect(told <= limit)
            token = changes.token
            return changes.isComplete
        }
    }

    private func anyQuery(_ model: ReadingModel, _ scope: LibraryScope, _ random: inout Repeatable) -> AssetFetchOptions
    {
        var query = AssetFetchOptions(pageSize: Int.random(in: 1..<8, using: &random))
        if Bool.random(using: &random) {
            query.kinds = Set(MediaAssetKind.allCases.filter { _ in Bool.random(using: &random) })
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            let odd = Int64.random(in: -1...1, using: &random)
            query.from = Int64.random(in: -3...20, using: &random) * 50_000_000 + odd
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            query.until = Int64.random(in: 21...42, using: &random) * 50_000_000
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            query.program = ["app:a", "app:b", "app:c", "app:none"].randomElement(using: &random)
        }
        if Int.random(in: 0..<3, using: &random) == 0 { query.isFavourite = Bool.random(using: &random) }
        if Int.random(in: 0..<2, using: &random) == 0 {
            query.album = model.albums(scope).keys.sorted().randomElement(using: &random)
        }
        if scope == .all { query.isBinned = Int.random(in: 0..<4, using: &random) == 0 }
        let orders: [AssetFetchOptions.Order] =
            query.album == nil ? [.created, .added, .name] : AssetFetchOptions.Order.allCases
        query.order = orders.randomElement(using: &random) ?? .created
        query.isAscending = Bool.random(using: &random)
        return query
    }
}
