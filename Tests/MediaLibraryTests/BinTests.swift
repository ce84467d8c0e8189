@testable import MediaLibrary
import CaptureCore
import Foundation
import Testing

@Suite struct `The bin` {
    let place: TemporaryLibrary
    let library: LibraryStore

    init() throws { (place, library) = try TemporaryLibrary.opened() }

    @Test func `is emptied of what was in it when it was looked at, and is still`() throws {
        let library = try place.library()
        let assets = try ["1", "2", "3"].map { try library.add($0) }
        try library.bin.delete([assets[0].id, assets[1].id], scope: .all)
        let contents = try library.bin.contents()
        #expect(contents.count == 2)
        #expect(Set(contents.names) == Set(assets[..<2].map(\.name)))
        // Since then one was taken out, and another came.
        try library.bin.restore([assets[1].id], scope: .all)
        try library.bin.delete([assets[2].id], scope: .all)
        #expect(try library.bin.erase(contents) == 1)
        #expect(try library.bin.contents().count == 1)
        #expect(place.files("contents").count == 2)
        #expect(try library.text(assets[1].id) == "2")
        try library.bin.restore([assets[2].id], scope: .all)
        #expect(code { try library.bin.restore([assets[0].id], scope: .all) } == .noSuchAsset)
    }

    @Test func `keeps what was deleted for 30 days, and then nothing of it`() throws {
        let first = try library.add("first")
        let second = try library.add("second")
        #expect(try library.bin.delete([first.id], scope: .all) == 1)
        #expect(try pass(days: 29) == 0)
        #expect(try library.bin.delete([second.id, first.id, second.id], scope: .all) == 1)
        #expect(try library.bin.empty() == 0)
        #expect(try library.text(first.id) == "first")
        #expect(try pass(days: 1) == 1)
        #expect(code { _ = try library.text(first.id) } == .noSuchAsset)
        #expect(place.files("contents").count == 1)
        #expect(try library.quotas.usage(of: nil) == LibraryUsage(assets: 1, bytes: 6))
        #expect(try pass(days: 28) == 0)
        #expect(try pass(days: 1) == 1)
        #expect(place.files("contents").isEmpty)
        #expect(try library.quotas.usage(of: nil) == LibraryUsage())
    }

    @Test func `gives back what is wanted again`() throws {
        let asset = try library.add("first")
        try library.bin.delete([asset.id], scope: .all)
        try library.bin.restore([asset.id], scope: .all)
        #expect(try pass(days: 31) == 0)
        #expect(try library.bin.empty(olderThan: 0) == 0)
        #expect(try library.text(asset.id) == "first")
        // And begins anew with what was there before.
        try library.bin.delete([asset.id], scope: .all)
        #expect(try pass(days: 29) == 0)
        #expect(try pass(days: 1) == 1)
    }

    @Test func `takes all that are named, or none`() throws {
        let asset = try library.add("first")
        let absent = String(repeating: "0", count: 32)
        #expect(code { try library.bin.delete([asset.id, absent], scope: .all) } == .noSuchAsset)
        #expect(try library.bin.empty(olderThan: 0) == 0)
        #expect(code { try library.bin.delete([asset.id, "?"], scope: .all) } == .invalidArgument)
        #expect(code { try library.bin.delete([asset.id], scope: .nothing) } == .noSuchAsset)
        #expect(try library.bin.empty(olderThan: 0) == 0)
    }

    @Test func `goes with its contents, except those that others have`() throws {
        let first = try library.add("same")
        let second = try library.add("same")
        try library.bin.delete([first.id], scope: .all)
        #expect(try library.bin.empty(olderThan: 0) == 1)
        #expect(try library.text(second.id) == "same")
        let item = try library.imports.beginEdit(second.id, scope: .all)
        try item.append("edit")
        _ = try item.settle()
        try library.bin.delete([second.id], scope: .all)
        let open = try library.contents.open(second.id, scope: .all)
        #expect(try library.bin.empty(olderThan: 0) == 1)
        #expect(place.files("contents").isEmpty)
        #expect(text(of: open) == "edit")
    }

    @Test func `is emptied in pieces, however much is in it`() throws {
        let ids = try (0..<450).map { try library.add("content \($0 % 300)").id }
        try library.bin.delete(ids, scope: .all)
        #expect(try library.bin.empty(olderThan: 0) == 450)
        #expect(place.files("contents").isEmpty)
    }

    @Test func `keeps what a clock that was set back has put there`() throws {
        let asset = try library.add("first")
        try library.bin.delete([asset.id], scope: .all)
        place.pass(days: -100)
        #expect(try library.bin.empty() == 0)
        #expect(try library.bin.empty(olderThan: 0) == 1)
    }

    @Test func `is not emptied by a clock that was set wrong, and not kept full by it`() throws {
        let asset = try library.add("first")
        try library.bin.delete([asset.id], scope: .all)
        place.pass(days: 3650)
        #expect(try library.bin.empty() == 0)
        place.pass(days: -3650)
        #expect(try library.bin.empty() == 0)
        #expect(try pass(days: 29) == 0)
        #expect(try pass(days: 1) == 1)
        // Nor by one that was wrong when it was put there.
        let second = try library.add("second")
        place.pass(days: 3650)
        try library.bin.delete([second.id], scope: .all)
        place.pass(days: -3650)
        #expect(try library.bin.empty() == 0)
        // What the clock has gone back is waited for once more, up to a week.
        #expect(try pass(days: 36) == 0)
        #expect(try pass(days: 1) == 1)
    }

    @Test func `takes a machine that was off for long to have been off for a week`() throws {
        let asset = try library.add("first")
        try library.bin.delete([asset.id], scope: .all)
        place.pass(days: 1000)
        #expect(try library.bin.empty() == 0)
        #expect(try pass(days: 22) == 0)
        #expect(try pass(days: 1) == 1)
    }

    @Test func `gains nothing from a machine that begins each of its runs in 1970`() throws {
        let asset = try library.add("first")
        try library.bin.delete([asset.id], scope: .all)
        for _ in 0..<20 {
            place.pass(days: -19_000)
            #expect(try library.bin.empty() == 0)
            place.pass(days: 19_000)
            #expect(try library.bin.empty() == 0)
        }
        #expect(try pass(days: 29) == 0)
        #expect(try pass(days: 1) == 1)
    }

    @Test func `does not count the time before it was put there`() throws {
        try library.bin.empty()
        place.pass(days: 6)
        let asset = try library.add("first")
        try library.bin.delete([asset.id], scope: .all)
        #expect(try pass(days: 29) == 0)
        #expect(try pass(days: 1) == 1)
    }

    /// Days on which the bin is looked after.
    ///
    /// - Returns: How many assets it lost.
    private func pass(days: Int) throws -> Int {
        var gone = 0
        for _ in 0..<days {
            place.pass(days: 1)
            gone += try library.bin.empty()
        }
        return gone
    }
}
