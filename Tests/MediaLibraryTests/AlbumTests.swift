@testable import MediaLibrary
import CaptureCore
import GRDB
import Testing

@Suite struct `An album` {
    let temporary: TemporaryLibrary
    let library: LibraryStore

    init() throws {
        (temporary, library) = try TemporaryLibrary.opened()
        try library.hurry()
    }

    private func order(_ album: String) throws -> [String] {
        try library.fetchAll(AssetFetchOptions(album: album, order: .position, isAscending: true), scope: .all)
    }

    @Test func `is made, found, renamed and deleted, and its assets stay`() throws {
        let made = try library.albums.create("Été 2024", program: "app:a", scope: .all)
        #expect(try library.albums.album(made.id, scope: .all) == made)
        #expect(made.created == temporary.now && made.count == 0)
        let asset = try library.put(1)
        #expect(try library.members.add([asset, asset], toAlbum: made.id, scope: .all) == 1)
        #expect(try library.members.add([asset], toAlbum: made.id, scope: .all) == 0)
        try library.albums.rename(made.id, to: "Summer", scope: .all)
        #expect(try library.albums.album(named: "Summer", scope: .all)?.id == made.id)
        #expect(try library.albums.album(named: "Été 2024", scope: .all) == nil)
        #expect(try library.albums.all(scope: .all).map(\.count) == [1])
        try library.albums.delete(made.id, scope: .all)
        #expect(try library.albums.all(scope: .all) == [])
        #expect(try library.assets.count(AssetFetchOptions(), scope: .all) == 1)
        #expect(try library.index.read(ReadingRecount.faults) == [])
    }

    @Test func `may have the name of another`() throws {
        let first = try library.albums.create("a", program: "app:a", scope: .all)
        _ = try library.albums.create("a", program: "app:a", scope: .all)
        #expect(try library.albums.all(scope: .all).count == 2)
        #expect(try library.albums.album(named: "a", scope: .all) == first)
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "a\u{202E}b", "a\nb", " ", "\u{200B}\u{3000}", String(repeating: "a", count: 256),
    ])
    func `has a name that is one`(_ name: String) throws {
        #expect(code { _ = try library.albums.create(name, program: "app:a", scope: .all) } == .invalidArgument)
        let album = try library.albums.create("a", program: "app:a", scope: .all)
        #expect(code { try library.albums.rename(album.id, to: name, scope: .all) } == .invalidArgument)
    }

    @Test func `that is not there is named so by every call`() throws {
        let asset = try library.put(1)
        let none = id(77)
        #expect(code { _ = try library.albums.album(none, scope: .all) } == .noSuchAlbum)
        #expect(code { try library.albums.rename(none, to: "a", scope: .all) } == .noSuchAlbum)
        #expect(code { try library.albums.delete(none, scope: .all) } == .noSuchAlbum)
        #expect(code { try library.members.add([asset], toAlbum: none, scope: .all) } == .noSuchAlbum)
        #expect(code { try library.members.remove([asset], fromAlbum: none, scope: .all) } == .noSuchAlbum)
        #expect(code { _ = try library.assets.fetch(AssetFetchOptions(album: none), scope: .all) } == .noSuchAlbum)
        #expect(code { _ = try library.assets.count(AssetFetchOptions(album: none), scope: .all) } == .noSuchAlbum)
        #expect(
            code { _ = try library.assets.count(AssetFetchOptions(album: "x' OR 1"), scope: .all) } == .invalidArgument
        )
    }

    @Test func `takes all of the assets that are named or none`() throws {
        let album = try library.albums.create("a", program: "app:a", scope: .all).id
        let asset = try library.put(1)
        let binned = try library.put(2)
        try library.bin.delete([binned], scope: .all)
        for wrong in [id(9), binned] {
            #expect(code { try library.members.add([asset, wrong], toAlbum: album, scope: .all) } == .noSuchAsset)
        }
        #expect(try order(album) == [])
        let many = Array(repeating: asset, count: AlbumMembers.mostAtOnce + 1)
        #expect(code { try library.members.add(many, toAlbum: album, scope: .all) } == .invalidArgument)
    }

    @Test func `keeps the order that it is given`() throws {
        let album = try library.albums.create("a", program: "app:a", scope: .all).id
        let ids = try (1...5).map { try library.put($0) }
        try library.members.add([ids[4], ids[0], ids[1], ids[2], ids[3]], toAlbum: album, scope: .all)
        #expect(try order(album) == [ids[4], ids[0], ids[1], ids[2], ids[3]])
        try library.members.move([ids[4]], inAlbum: album, before: nil, scope: .all)
        #expect(try order(album) == ids)
        try library.members.move([ids[3], ids[2]], inAlbum: album, before: ids[0], scope: .all)
        #expect(try order(album) == [ids[3], ids[2], ids[0], ids[1], ids[4]])
        #expect(
            code { try library.members.move([ids[0]], inAlbum: album, before: ids[0], scope: .all) } == .invalidArgument
        )
        let other = try library.put(6)
        #expect(
            code { try library.members.move([other], inAlbum: album, before: ids[0], scope: .all) } == .invalidArgument
        )
        #expect(
            code { try library.members.move([ids[0]], inAlbum: album, before: other, scope: .all) } == .invalidArgument
        )
    }

    @Test func `has room between two assets however often one is put there`() throws {
        let album = try library.albums.create("a", program: "app:a", scope: .all).id
        var expected = try (1...4).map { try library.put($0) }
        try library.members.add(expected, toAlbum: album, scope: .all)
        _ = try library.choices.choose("app:limited", expected)
        for step in 0..<60 {
            let asset = expected.remove(at: step % 2 == 0 ? 0 : 1)
            expected.insert(asset, at: 2)
            try library.members.move([asset], inAlbum: album, before: expected[3], scope: .all)
            #expect(try order(album) == expected)
        }
        let seen = try library.fetchAll(
            AssetFetchOptions(album: album, order: .position, isAscending: true),
            scope: .limited(program: "app:limited")
        )
        #expect(seen == expected)
        #expect(try library.index.read(ReadingRecount.faults) == [])
    }

    @Test func `and everything else that is kept of reading is made anew when it is damaged`() throws {
        let album = try library.albums.create("a", program: "app:a", scope: .all).id
        let ids = try (1...5).map { try library.put($0) }
        try library.members.add(ids, toAlbum: album, scope: .all)
        _ = try library.choices.choose("app:limited", [ids[1], ids[3]])
        try library.index.write { database in
            try database.execute(
                sql: """
                    UPDATE tally SET photos = photos + 3;
                    DELETE FROM listed WHERE reader != '' AND album != 0;
                    UPDATE shown SET assets = 0;
                    DELETE FROM tally WHERE level = 24;
                    """
            )
        }
        #expect(try library.index.read(ReadingRecount.faults).count >= 3)
        try library.index.write { try $0.execute(sql: ReadingRecount.rebuild) }
        #expect(try library.index.read(ReadingRecount.faults) == [])
        #expect(try library.assets.count(AssetFetchOptions(album: album), scope: .limited(program: "app:limited")) == 2)
    }
}
