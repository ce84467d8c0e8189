@testable import MediaLibrary
import CaptureCore
import GRDB
import Testing

@Suite struct `An album` {
    let temporary: TemporaryLibrary
    let library: MediaLibrary

    init() throws {
        temporary = try TemporaryLibrary()
        library = try temporary.library()
        try library.hurry()
    }

    private func order(_ album: String) throws -> [String] {
        try library.fetchAll(AssetFetchOptions(album: album, order: .position, isAscending: true), scope: .all)
    }

    @Test func `is made, found, renamed and deleted, and its assets stay`() throws {
        let made = try library.createAlbum("Été 2024", program: "app:a", scope: .all)
        #expect(try library.album(made.id, scope: .all) == made)
        #expect(made.created == temporary.now && made.count == 0)
        let asset = try library.put(1)
        #expect(try library.add([asset, asset], toAlbum: made.id, scope: .all) == 1)
        #expect(try library.add([asset], toAlbum: made.id, scope: .all) == 0)
        try library.renameAlbum(made.id, to: "Summer", scope: .all)
        #expect(try library.album(named: "Summer", scope: .all)?.id == made.id)
        #expect(try library.album(named: "Été 2024", scope: .all) == nil)
        #expect(try library.albums(scope: .all).map(\.count) == [1])
        try library.deleteAlbum(made.id, scope: .all)
        #expect(try library.albums(scope: .all) == [])
        #expect(try library.count(AssetFetchOptions(), scope: .all) == 1)
        #expect(try library.readingFaults() == [])
    }

    @Test func `may have the name of another`() throws {
        let first = try library.createAlbum("a", program: "app:a", scope: .all)
        _ = try library.createAlbum("a", program: "app:a", scope: .all)
        #expect(try library.albums(scope: .all).count == 2)
        #expect(try library.album(named: "a", scope: .all) == first)
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "a\u{202E}b", "a\nb", " ", "\u{200B}\u{3000}", String(repeating: "a", count: 256),
    ])
    func `has a name that is one`(_ name: String) throws {
        #expect(code { _ = try library.createAlbum(name, program: "app:a", scope: .all) } == .invalidArgument)
        let album = try library.createAlbum("a", program: "app:a", scope: .all)
        #expect(code { try library.renameAlbum(album.id, to: name, scope: .all) } == .invalidArgument)
    }

    @Test func `that is not there is named so by every call`() throws {
        let asset = try library.put(1)
        let none = id(77)
        #expect(code { _ = try library.album(none, scope: .all) } == .noSuchAlbum)
        #expect(code { try library.renameAlbum(none, to: "a", scope: .all) } == .noSuchAlbum)
        #expect(code { try library.deleteAlbum(none, scope: .all) } == .noSuchAlbum)
        #expect(code { try library.add([asset], toAlbum: none, scope: .all) } == .noSuchAlbum)
        #expect(code { try library.remove([asset], fromAlbum: none, scope: .all) } == .noSuchAlbum)
        #expect(code { _ = try library.fetch(AssetFetchOptions(album: none), scope: .all) } == .noSuchAlbum)
        #expect(code { _ = try library.count(AssetFetchOptions(album: none), scope: .all) } == .noSuchAlbum)
        #expect(code { _ = try library.count(AssetFetchOptions(album: "x' OR 1"), scope: .all) } == .invalidArgument)
    }

    @Test func `takes all of the assets that are named or none`() throws {
        let album = try library.createAlbum("a", program: "app:a", scope: .all).id
        let asset = try library.put(1)
        let binned = try library.put(2)
        try library.delete([binned], scope: .all)
        for wrong in [id(9), binned] {
            #expect(code { try library.add([asset, wrong], toAlbum: album, scope: .all) } == .noSuchAsset)
        }
        #expect(try order(album) == [])
        let many = Array(repeating: asset, count: MediaLibrary.mostMembersAtOnce + 1)
        #expect(code { try library.add(many, toAlbum: album, scope: .all) } == .invalidArgument)
    }

    @Test func `keeps the order that it is given`() throws {
        let album = try library.createAlbum("a", program: "app:a", scope: .all).id
        let ids = try (1...5).map { try library.put($0) }
        try library.add([ids[4], ids[0], ids[1], ids[2], ids[3]], toAlbum: album, scope: .all)
        #expect(try order(album) == [ids[4], ids[0], ids[1], ids[2], ids[3]])
        try library.move([ids[4]], inAlbum: album, before: nil, scope: .all)
        #expect(try order(album) == ids)
        try library.move([ids[3], ids[2]], inAlbum: album, before: ids[0], scope: .all)
        #expect(try order(album) == [ids[3], ids[2], ids[0], ids[1], ids[4]])
        #expect(code { try library.move([ids[0]], inAlbum: album, before: ids[0], scope: .all) } == .invalidArgument)
        let other = try library.put(6)
        #expect(code { try library.move([other], inAlbum: album, before: ids[0], scope: .all) } == .invalidArgument)
        #expect(code { try library.move([ids[0]], inAlbum: album, before: other, scope: .all) } == .invalidArgument)
    }

    @Test func `has room between two assets however often one is put there`() throws {
        let album = try library.createAlbum("a", program: "app:a", scope: .all).id
        var expected = try (1...4).map { try library.put($0) }
        try library.add(expected, toAlbum: album, scope: .all)
        _ = try library.choose("app:limited", expected)
        for step in 0..<60 {
            let asset = expected.remove(at: step % 2 == 0 ? 0 : 1)
            expected.insert(asset, at: 2)
            try library.move([asset], inAlbum: album, before: expected[3], scope: .all)
            #expect(try order(album) == expected)
        }
        let seen = try library.fetchAll(
            AssetFetchOptions(album: album, order: .position, isAscending: true),
            scope: .limited(program: "app:limited")
        )
        #expect(seen == expected)
        #expect(try library.readingFaults() == [])
    }

    @Test func `and everything else that is kept of reading is made anew when it is damaged`() throws {
        let album = try library.createAlbum("a", program: "app:a", scope: .all).id
        let ids = try (1...5).map { try library.put($0) }
        try library.add(ids, toAlbum: album, scope: .all)
        _ = try library.choose("app:limited", [ids[1], ids[3]])
        try library.write { database in
            try database.execute(
                sql: """
                    UPDATE tally SET photos = photos + 3;
                    DELETE FROM listed WHERE reader != '' AND album != 0;
                    UPDATE shown SET assets = 0;
                    DELETE FROM tally WHERE level = 24;
                    """
            )
        }
        #expect(try library.readingFaults().count >= 3)
        try library.rebuildReading()
        #expect(try library.readingFaults() == [])
        #expect(try library.count(AssetFetchOptions(album: album), scope: .limited(program: "app:limited")) == 2)
    }
}
