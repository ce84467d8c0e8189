@testable import MediaLibrary
import CaptureCore
import GRDB
import Testing

@Suite struct `A reader of a part of the library` {
    let temporary: TemporaryLibrary
    let library: LibraryStore
    static let scope = LibraryScope.limited(program: "app:limited")
    var scope: LibraryScope { Self.scope }

    init() throws {
        (temporary, library) = try TemporaryLibrary.opened()
        try library.hurry()
    }

    @Test func `sees what was chosen for it and what it made`() throws {
        let chosen = try library.put(1)
        let hidden = try library.put(2)
        let own = try library.put(3, program: "app:limited")
        #expect(try library.choices.choose("app:limited", [chosen, own]) == [chosen])
        #expect(try library.choices.choose("app:limited", [chosen]) == [])
        #expect(try library.fetchAll(AssetFetchOptions(), scope: scope) == [own, chosen])
        #expect(try library.assets.count(AssetFetchOptions(), scope: scope) == 2)
        #expect(try library.choices.chosen("app:limited") == [chosen])
        #expect(try library.assets.asset(own, scope: scope).id == own)
        let refused = error { _ = try library.assets.asset(hidden, scope: scope) }
        let unknown = error { _ = try library.assets.asset(id(9), scope: scope) }
        #expect(refused?.code == .noSuchAsset && refused?.message.replacing(hidden, with: id(9)) == unknown?.message)
        #expect(code { _ = try library.assets.fetch(AssetFetchOptions(isBinned: true), scope: scope) } == .notPermitted)
    }

    @Test func `sees no more what is not chosen for it any more, or is in the bin`() throws {
        let ids = try (1...4).map { try library.put($0) }
        _ = try library.choices.choose("app:limited", ids)
        try library.bin.delete([ids[0]], scope: .all)
        #expect(try library.fetchAll(AssetFetchOptions(), scope: scope) == [ids[3], ids[2], ids[1]])
        #expect(code { _ = try library.assets.asset(ids[0], scope: scope) } == .noSuchAsset)
        try library.choices.unchoose("app:limited", [ids[2], ids[3]])
        #expect(try library.choices.choose("app:limited", [ids[1]]) == [])
        #expect(try library.fetchAll(AssetFetchOptions(), scope: scope) == [ids[1]])
        try library.choices.forgetChosen("app:limited")
        #expect(try library.assets.count(AssetFetchOptions(), scope: scope) == 0)
        #expect(try library.albums.all(scope: scope) == [])
    }

    @Test func `sees of albums what it sees of the library`() throws {
        let mixed = try library.albums.create("mixed", program: "app:maker", scope: .all).id
        let hidden = try library.albums.create("hidden", program: "app:maker", scope: .all).id
        let ids = try (1...4).map { try library.put($0) }
        try library.members.add(ids, toAlbum: mixed, scope: .all)
        try library.members.add(ids, toAlbum: hidden, scope: .all)
        #expect(try library.albums.all(scope: scope) == [])
        #expect(code { _ = try library.assets.fetch(AssetFetchOptions(album: mixed), scope: scope) } == .noSuchAlbum)
        try library.members.remove([ids[1]], fromAlbum: hidden, scope: .all)
        _ = try library.choices.choose("app:limited", [ids[1]])
        let seen = try #require(try library.albums.all(scope: scope).first)
        #expect(seen.id == mixed && seen.count == 1)
        #expect(try library.fetchAll(AssetFetchOptions(album: mixed, order: .position), scope: scope) == [ids[1]])

        // Whatever others do with what it does not see.
        try library.members.remove([ids[0]], fromAlbum: mixed, scope: .all)
        try library.members.move([ids[3]], inAlbum: mixed, before: ids[1], scope: .all)
        try library.albums.delete(hidden, scope: .all)
        #expect(try library.albums.all(scope: scope) == [seen])
        #expect(code { try library.albums.rename(mixed, to: "mine", scope: scope) } == .notPermitted)
        #expect(code { try library.albums.delete(mixed, scope: scope) } == .notPermitted)
        #expect(code { try library.members.add([ids[0]], toAlbum: mixed, scope: scope) } == .noSuchAsset)
    }

    @Test func `learns nothing of what happens to what it does not see`() throws {
        let ids = try (1...10).map { try library.put($0) }
        _ = try library.choices.choose("app:limited", Array(ids[..<4]))
        let token = try library.history.token(scope: scope)
        let page = try library.assets.fetch(AssetFetchOptions(pageSize: 2), scope: scope)
        let before = try rows()
        var moment = try library.history.moment()

        try library.fill(50, first: 100, program: "app:other")
        let album = try library.albums.create("others'", program: "app:other", scope: .all).id
        try library.members.add([ids[5], ids[6], id(110)], toAlbum: album, scope: .all)
        try library.members.move([id(110)], inAlbum: album, before: ids[5], scope: .all)
        _ = try library.assets.change(ids[7], AssetChanges(name: "b.jpg", isFavourite: true), scope: .all)
        try library.bin.delete([ids[8], id(120)], scope: .all)
        try library.purge(id(120))
        _ = try library.choices.choose("app:third", ids)
        try library.choices.forgetChosen("app:third")

        // Not a row that is read for it is another one, so that nothing can depend on what others do.
        #expect(try rows() == before)
        let concern = try library.history.concern(since: &moment)
        #expect(concern.all && concern.programs == ["app:maker", "app:other", "app:third"])
        #expect(concern.includes(.all) && !concern.includes(scope) && !concern.includes(.nothing))
        let changes = try library.history.changes(since: token, scope: scope)
        #expect(changes.isEmpty && changes.isComplete && changes.token.rawValue.utf8.count == token.rawValue.utf8.count)
        #expect(try library.assets.fetch(AssetFetchOptions(pageSize: 2), scope: scope).assets == page.assets)
        #expect(
            try library.assets.fetch(AssetFetchOptions(pageSize: 2), scope: scope).next?.utf8.count
                == page.next?.utf8.count
        )
        #expect(try library.history.concern(since: &moment) == LibraryConcern(all: false, programs: []))

        _ = try library.assets.change(ids[2], AssetChanges(isFavourite: true), scope: .all)
        #expect(try library.history.concern(since: &moment).programs == ["app:maker", "app:limited"])
    }

    /// Every instruction that SQLite executes for it is counted, which no other load of the machine disturbs.
    @Test func `waits no longer for its answers, however much happens to what it does not see`() throws {
        let ids = try (1...40).map { try library.put($0) }
        try library.fill(100, first: 1000, program: "app:other")
        let mixed = try library.albums.create("mixed", program: "app:other", scope: .all).id
        try library.members.add(ids, toAlbum: mixed, scope: .all)
        _ = try library.choices.choose("app:limited", Array(ids[..<20]))
        let token = try library.history.token(scope: scope)
        let tokenOfAll = try library.history.token(scope: .all)
        for id in ids[..<10] { _ = try library.assets.change(id, AssetChanges(isFavourite: true), scope: .all) }
        let queries = [
            AssetFetchOptions(), AssetFetchOptions(album: mixed, order: .position),
            AssetFetchOptions(isFavourite: true, pageSize: 5),
        ]
        let answers: [() throws -> Int] =
            [
                { try library.history.changes(since: token, scope: scope).changed.count },
                { try library.history.token(scope: scope).rawValue.utf8.count },
                { try library.albums.all(scope: scope).count },
                { try library.assets.asset(ids[3], scope: scope).name.utf8.count },
                { error { _ = try library.assets.asset(ids[30], scope: scope) }?.message.utf8.count ?? 0 },
                { error { _ = try library.assets.asset(id(77), scope: scope) }?.message.utf8.count ?? 0 },
            ]
            + queries.flatMap { query -> [() throws -> Int] in
                [
                    { try library.assets.fetch(query, scope: scope).assets.count },
                    { Int(try library.assets.count(query, scope: scope)) },
                ]
            }
        #expect(try answers.map { try $0() }.allSatisfy { $0 > 0 })  // and prepares its statements
        let before = try answers.map { try library.steps($0) }
        #expect(before.allSatisfy { $0 > 10 })
        let ofAll = { try library.history.changes(since: tokenOfAll, scope: .all).inserted.count }
        #expect(try ofAll() == 0)
        let beforeOfAll = try library.steps(ofAll)

        // A notice is decided for all who are told at once: it looks at as many rows as there are readers.
        var moment = try library.history.moment()
        let deciding = try library.steps { _ = try library.history.concern(since: &moment) }
        try library.fill(3000, first: 10_000, program: "app:other")
        for id in ids[20...] { _ = try library.assets.change(id, AssetChanges(isFavourite: true), scope: .all) }
        try library.members.add((10_000..<10_500).map { MediaLibraryTests.id($0) }, toAlbum: mixed, scope: .all)
        try library.members.remove(Array(ids[30...]), fromAlbum: mixed, scope: .all)
        try library.bin.delete(Array(ids[35...]), scope: .all)
        #expect(try library.steps { _ = try library.history.concern(since: &moment) } == deciding)
        #expect(try answers.map { try library.steps($0) } == before)
        // Who sees it does, by this measure.
        #expect(try library.steps(ofAll) > 10 * beforeOfAll)
    }

    @Test func `is not made to forget by what others do`() throws {
        try library.index.write { try $0.execute(sql: "UPDATE meta SET value = 20 WHERE key = 'changes'") }
        let own = try library.put(1, program: "app:limited")
        let mine = try library.history.token(scope: scope)
        let all = try library.history.token(scope: .all)
        try library.fill(100, first: 100, program: "app:other")
        #expect(code { _ = try library.history.changes(since: all, scope: .all) } == .staleToken)
        try library.purge(own)
        #expect(try library.history.changes(since: mine, scope: scope).removed == [own])
    }

    @Test func `has a limit of albums of its own`() throws {
        for number in 1...LibraryAlbums.mostAlbums {
            _ = try library.albums.create("\(number)", program: "app:other", scope: .all)
        }
        #expect(code { _ = try library.albums.create("more", program: "app:other", scope: .all) } == .overQuota)
        for number in 1...LibraryAlbums.mostAlbumsOfProgram {
            _ = try library.albums.create("\(number)", program: "app:limited", scope: scope)
        }
        let refused = error { _ = try library.albums.create("more", program: "app:limited", scope: scope) }
        #expect(refused?.code == .overQuota && refused?.message.contains("1000") == false)
        let own = try library.albums.all(scope: scope)
        #expect(own.count == 100)
        try library.albums.rename(own[0].id, to: "renamed", scope: scope)
        try library.albums.delete(own[1].id, scope: scope)
        #expect(try library.albums.all(scope: scope).map(\.name).contains("renamed"))
    }

    @Test func `sees nothing when it is denied or nobody`() throws {
        try library.put(1)
        let album = try library.albums.create("a", program: "app:maker", scope: .all).id
        for scope in [LibraryScope.nothing, .limited(program: "")] {
            #expect(try library.assets.fetch(AssetFetchOptions(), scope: scope) == AssetPage())
            #expect(try library.assets.fetch(AssetFetchOptions(album: album), scope: scope) == AssetPage())
            #expect(try library.assets.count(AssetFetchOptions(), scope: scope) == 0)
            #expect(try library.albums.all(scope: scope) == [])
            #expect(code { _ = try library.assets.asset(id(1), scope: scope) } == .noSuchAsset)
            #expect(code { try library.members.add([id(1)], toAlbum: album, scope: scope) } == .noSuchAlbum)
            #expect(code { _ = try library.albums.create("b", program: "app:x", scope: scope) } == .notPermitted)
            let token = try library.history.token(scope: scope)
            try library.put(2)
            #expect(try library.history.changes(since: token, scope: scope).isEmpty)
            try library.purge(id(2))
        }
    }

    /// All rows of the index that are read for the program.
    private func rows() throws -> [String] {
        try library.index.read { database in
            try [
                "SELECT * FROM listed WHERE reader = 'app:limited'",
                "SELECT * FROM shown WHERE reader = 'app:limited'",
                "SELECT * FROM tally WHERE reader = 'app:limited' OR maker = 'app:limited'",
                "SELECT * FROM reader WHERE reader = 'app:limited'",
                "SELECT * FROM change WHERE reader = 'app:limited'",
            ].flatMap { try Row.fetchAll(database, sql: $0).map(\.description) }
        }
    }
}

/// The error that the body throws.
func error(_ body: () throws -> Void) -> CaptureError? {
    do {
        try body()
        return nil
    } catch {
        return error as? CaptureError
    }
}
