@testable import MediaLibrary
import CaptureCore
import GRDB
import Testing

@Suite struct `Changes since a token` {
    let temporary: TemporaryLibrary

    init() throws {
        temporary = try TemporaryLibrary()
        try temporary.library().hurry()
    }

    @Test func `are what is different, whatever happened in between`() throws {
        let library = try temporary.library()
        let ids = try (1...6).map { try library.put($0) }
        let album = try library.albums.create("a", program: "app:a", scope: .all).id
        let gone = try library.albums.create("gone", program: "app:a", scope: .all).id
        let token = try library.history.token(scope: .all)
        #expect(try library.history.changes(since: token, scope: .all).isEmpty)

        let new = try library.put(7)
        let passing = try library.put(8)
        try library.purge(passing)
        for isFavourite in [true, false, true] {
            _ = try library.assets.change(ids[0], AssetChanges(isFavourite: isFavourite), scope: .all)
        }
        try library.bin.delete([ids[1], ids[2]], scope: .all)
        try library.unbin(ids[2])
        try library.members.add([ids[3]], toAlbum: album, scope: .all)
        try library.albums.delete(gone, scope: .all)
        let made = try library.albums.create("made", program: "app:a", scope: .all)

        let changes = try library.history.changes(since: token, scope: .all)
        #expect(changes.inserted.map(\.id) == [new])
        #expect(changes.changed.map(\.id) == [ids[0], ids[2]])
        #expect(changes.changed.first?.isFavourite == true)
        #expect(changes.removed == [ids[1]])
        #expect(changes.moved.map(\.id) == [ids[3]])
        #expect(changes.changedAlbums.map(\.id) == [album] && changes.changedAlbums.map(\.count) == [1])
        #expect(changes.removedAlbums == [gone])
        #expect(changes.insertedAlbums == [made])
        #expect(changes.isComplete)
        #expect(try library.history.changes(since: changes.token, scope: .all).isEmpty)
    }

    @Test func `of a choice are the program's alone`() throws {
        let library = try temporary.library()
        let asset = try library.put(1)
        let scope = LibraryScope.limited(program: "app:limited")
        let token = try library.history.token(scope: scope)
        let all = try library.history.token(scope: .all)
        _ = try library.choices.choose("app:limited", [asset])
        #expect(try library.history.changes(since: all, scope: .all).isEmpty)
        let chosen = try library.history.changes(since: token, scope: scope)
        #expect(chosen.inserted.map(\.id) == [asset])
        try library.choices.unchoose("app:limited", [asset])
        let unchosen = try library.history.changes(since: chosen.token, scope: scope)
        #expect(unchosen.removed == [asset] && unchosen.inserted.isEmpty)
        #expect(try library.history.changes(since: token, scope: scope).isEmpty)
        #expect(try library.history.changes(since: all, scope: .all).isEmpty)
    }

    @Test func `come in pieces, each thing once`() throws {
        let library = try temporary.library()
        let token = try library.history.token(scope: .all)
        try library.fill(25)
        var (next, found, pieces) = (token, [String](), 0)
        while true {
            let changes = try library.history.changes(since: next, scope: .all, limit: 10)
            found += changes.inserted.map(\.id)
            next = changes.token
            pieces += 1
            if changes.isComplete { break }
        }
        #expect(pieces == 3 && found == (1...25).map { id($0) })
        for limit in [0, -1, 1001] {
            #expect(
                code { _ = try library.history.changes(since: token, scope: .all, limit: limit) } == .invalidArgument
            )
        }
    }

    @Test func `are known after the library was closed`() throws {
        let token = try { () throws -> LibraryChangeToken in
            let library = try temporary.library()
            try library.put(1)
            return try library.history.token(scope: .all)
        }()
        temporary.close()
        let library = try temporary.library()
        try library.put(2)
        #expect(try library.history.changes(since: token, scope: .all).inserted.map(\.id) == [id(2)])
    }

    @Test func `are not told from a token of an index that was replaced by an older copy`() throws {
        let library = try temporary.library()
        try library.fill(5)
        let token = try library.history.token(scope: .all)
        // The copy went on to the same numbers at another time.
        try library.index.write { try $0.execute(sql: "UPDATE change SET at = at + 60000") }
        try library.put(6)
        #expect(code { _ = try library.history.changes(since: token, scope: .all) } == .staleToken)
        let newer = try library.history.token(scope: .all)
        try library.index.write { try $0.execute(sql: "UPDATE reader SET last = last - 1") }
        #expect(code { _ = try library.history.changes(since: newer, scope: .all) } == .staleToken)
    }

    @Test func `are forgotten when there are too many or they are too old`() throws {
        let library = try temporary.library()
        try library.index.write { try $0.execute(sql: "UPDATE meta SET value = 10 WHERE key = 'changes'") }
        let first = try library.history.token(scope: .all)
        try library.fill(10)
        #expect(try library.history.changes(since: first, scope: .all).inserted.count == 10)
        let second = try library.history.token(scope: .all)
        try library.put(11)
        #expect(code { _ = try library.history.changes(since: first, scope: .all) } == .staleToken)
        #expect(try library.history.changes(since: second, scope: .all).inserted.count == 1)
        #expect(
            try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM change WHERE reader = ''") } == 10
        )

        let third = try library.history.token(scope: .all)
        try library.history.forget(before: 0)
        #expect(try library.history.changes(since: second, scope: .all).inserted.count == 1)
        try library.history.forget(before: .max)
        #expect(code { _ = try library.history.changes(since: second, scope: .all) } == .staleToken)
        #expect(try library.history.changes(since: third, scope: .all).isEmpty)
        #expect(try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM change") } == 0)
        try library.put(12)
        #expect(try library.history.changes(since: third, scope: .all).inserted.map(\.id) == [id(12)])
    }
}
