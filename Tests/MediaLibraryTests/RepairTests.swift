@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Testing

@Suite struct `Mending what a check has found long ago` {
    let place: TemporaryLibrary
    let library: LibraryStore

    init() throws { (place, library) = try TemporaryLibrary.opened() }

    @Test func `leaves alone what came back with another import`() throws {
        let lost = try library.add("lost")
        let damaged = try library.add("damaged")
        let edited = try library.add("original")
        try library.edit(edited, "edit")
        try place.remove("lost")
        try place.damage("damaged", "degamad")
        try place.remove("edit")
        let found = try library.check()
        #expect(found.count == 3)
        for text in ["lost", "damaged", "edit"] { try library.add(text) }
        let outcomes = try library.mending.mend(found).map(\.outcome)
        #expect(outcomes == Array(repeating: "it was repaired meanwhile", count: 3))
        #expect(try library.text(lost.id) == "lost")
        #expect(try library.text(damaged.id) == "damaged")
        #expect(try library.text(edited.id) == "edit")
        #expect(try library.assets.count(AssetFetchOptions(), scope: .all) == 6)
        #expect(place.files("lost+found").isEmpty)
        #expect(try library.check().isEmpty)
    }

    @Test func `leaves alone a file that was none of an asset and is now`() throws {
        try place.stray("new")
        let found = try library.check()
        #expect(found.map(\.kind) == [.orphaned])
        let asset = try library.add("new")
        #expect(try library.mending.mend(found).map(\.outcome) == ["it was repaired meanwhile"])
        #expect(try library.text(asset.id) == "new")
        #expect(place.files("lost+found").isEmpty)
        #expect(try library.mending.mend(found).map(\.outcome) == ["it was repaired meanwhile"])
    }

    @Test func `does nothing about what has gone`() throws {
        let asset = try library.add("one")
        try place.damage("one", "eno")
        try place.stray("stray")
        let found = try library.check()
        try library.bin.delete([asset.id], scope: .all)
        try library.bin.empty(olderThan: 0)
        try place.remove("stray")
        #expect(try library.mending.mend(found).map(\.outcome) == ["it went away by itself", "it went away by itself"])
        #expect(place.files("lost+found").isEmpty)
    }

    @Test func `sets aside what came to the place of a missing file and is another`() throws {
        let asset = try library.add("one")
        try place.remove("one")
        let found = try library.check()
        let path = place.path + "/" + (try place.file("one"))
        #expect(FileManager.default.createFile(atPath: path, contents: Data("two".utf8)))
        #expect(try library.mending.mend(found).map(\.outcome) == ["the file is in lost+found, 1 went to the bin"])
        #expect(try library.assets.asset(asset.id, scope: .all).binned == place.now)
        #expect(try library.check().isEmpty)
    }

    @Test(arguments: [
        "UPDATE content SET size = 'much'", "UPDATE content SET size = NULL", "UPDATE content SET size = x'00'",
        "UPDATE content SET size = 9223372036854775807 WHERE size = 3; UPDATE content SET size = -1 WHERE size = 5",
        "UPDATE content SET hash = zeroblob(64) WHERE size = 3", "UPDATE content SET hash = 'zz/' || hash",
    ])
    func `is not stopped by rows of contents that cannot be`(_ damage: String) throws {
        try library.add("one")
        try library.add("three")
        try loosen("content", "hash TEXT NOT NULL PRIMARY KEY CHECK(length(hash) = 64)", "hash ANY PRIMARY KEY")
        try loosen("content", "size INTEGER NOT NULL CHECK(size >= 0)", "size ANY")
        _ = try library.index.pragma("foreign_keys = OFF")
        try library.index.write { try $0.execute(sql: damage) }
        let faults = try library.check()
        #expect(!faults.isEmpty)
        #expect(faults.contains { $0.kind == .index || $0.kind == .damaged })
        #expect(try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM content") } == 2)
    }

    @Test func `is not stopped by the row of an asset that cannot be`() throws {
        try library.add("one")
        try place.damage("one", "eno")
        try loosen("asset", "id TEXT NOT NULL UNIQUE CHECK(length(id) = 32)", "id ANY UNIQUE")
        try library.index.write {
            try $0.execute(sql: "DROP TRIGGER assetFixed; DROP TRIGGER assetUpdated; UPDATE asset SET id = NULL")
        }
        let file = try place.file("one")
        #expect(try library.check().contains { $0.kind == .index && $0.message.contains(file) })
    }

    @Test func `says what it could not mend`() throws {
        try library.add("one")
        try place.stray("stray")
        _ = try library.index.pragma("foreign_keys = OFF")
        let another = String(repeating: "a", count: 64)
        try library.index.write { try $0.execute(sql: "UPDATE content SET hash = ?", arguments: [another]) }
        let faults = try library.repair()
        #expect(faults.contains { $0.isLeft && $0.kind == .index && $0.outcome.contains("restore a copy") })
        #expect(faults.allSatisfy { $0.isLeft == ($0.kind == .index) })
        #expect(try library.check().contains { $0.kind == .index })
    }

    @Test func `mends nothing more once its consent is gone`() throws {
        try place.stray("stray")
        let found = try library.check()
        let ended = code {
            _ = try library.mending.mend(found) { () throws(CaptureError) in throw CaptureError(.revoked, "withdrawn") }
        }
        #expect(ended == .revoked)
        #expect(place.files("lost+found").isEmpty)
    }

    /// Makes a table take what its declaration forbids, as a damaged page would.
    private func loosen(_ table: String, _ rule: String, _ none: String) throws {
        _ = try library.index.pragma("writable_schema = ON")
        try library.index.write { database in
            try database.execute(
                sql: "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?",
                arguments: [rule, none, table]
            )
            #expect(database.changesCount == 1)
        }
        _ = try library.index.pragma("writable_schema = RESET")
    }
}
