@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Testing

@Suite struct `Checking and repairing a library` {
    let place: TemporaryLibrary
    let library: LibraryStore

    init() throws { (place, library) = try TemporaryLibrary.opened() }

    @Test func `finds nothing in one that is whole, and reads all of it`() throws {
        #expect(try library.check().isEmpty)
        try library.add("one")
        try library.edit(library.add("two"), "three")
        var told: [Int64] = []
        let faults = try library.check { read, all in
            #expect(all == 11)
            told.append(read)
        }
        #expect(faults.isEmpty)
        #expect(told == told.sorted())
        #expect(told.last == 11)
        #expect(try library.repair().isEmpty)
    }

    @Test func `finds a file that is missing, and puts its assets into the bin`() throws {
        let asset = try library.add("one")
        let twin = try library.add("one")
        let other = try library.add("two")
        try place.remove("one")
        let fault = try #require(try library.check().first)
        #expect(fault.kind == .missing)
        #expect(fault.assets == [asset.id, twin.id].sorted())
        #expect(try fault.file == place.file("one"))
        #expect(fault.message.contains("is missing"))
        #expect(fault.outcome.isEmpty)
        let mended = try library.repair()
        #expect(mended.map(\.kind) == [.missing])
        #expect(mended[0].outcome == "2 went to the bin")
        #expect(try library.check().isEmpty)
        #expect(code { try library.bin.restore([asset.id], scope: .all) } == .inputOutput)
        #expect(try library.text(other.id) == "two")
        // The file may come back with another import.
        try library.add("one")
        try library.bin.restore([asset.id], scope: .all)
        #expect(try library.text(asset.id) == "one")
    }

    @Test(arguments: ["eno", "on", "longer"])
    func `finds a file that is damaged, and sets it aside`(_ text: String) throws {
        let asset = try library.add("one")
        let other = try library.add("two")
        try place.damage("one", text)
        #expect(try library.check().map(\.kind) == [.damaged])
        #expect(try library.check().first?.assets == [asset.id])
        #expect(place.files("lost+found").isEmpty)
        let mended = try library.repair()
        #expect(mended.map(\.outcome) == ["the file is in lost+found, 1 went to the bin"])
        let aside = try #require(place.files("lost+found").first)
        #expect(try aside == place.hash("one") + ".damaged")
        #expect(try String(contentsOfFile: place.path + "/lost+found/" + aside, encoding: .utf8) == text)
        #expect(try library.check().isEmpty)
        #expect(try library.text(other.id) == "two")
    }

    @Test(arguments: ["link", "folder", "pipe"])
    func `takes what is no file for damaged, and goes on`(_ kind: String) throws {
        let asset = try library.add("one")
        let other = try library.add("two")
        try library.add("three")
        try place.damage("two", "owt")
        let path = place.path + "/" + (try place.file("one"))
        try place.remove("one")
        switch kind {
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hostname")
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: #expect(unsafe mkfifo(path, 0o600) == 0)
        }
        #expect(code { _ = try library.text(asset.id) } == .inputOutput)
        let found = try library.check()
        #expect(found.map(\.kind) == [.damaged, .damaged])
        #expect(Set(found.flatMap(\.assets)) == [asset.id, other.id])
        #expect(try library.repair().allSatisfy { $0.outcome == "the file is in lost+found, 1 went to the bin" })
        #expect(try library.check().isEmpty)
        try library.add("one")
        try library.bin.restore([asset.id], scope: .all)
        #expect(try library.text(asset.id) == "one")
    }

    @Test func `goes back to the original of a lost edit, and on with the edit of a lost original`() throws {
        let first = try library.add("one")
        try library.edit(first, "first edit")
        let second = try library.add("two")
        try library.edit(second, "second edit")
        let third = try library.add("three")
        try library.edit(third, "third edit")
        try place.remove("first edit")
        try place.damage("two", "owt")
        try place.remove("three")
        try place.remove("third edit")
        #expect(try library.check().count == 4)
        let outcomes = try Set(library.repair().map(\.outcome))
        let expected: Set = [
            "1 went back to the original", "the file is in lost+found, 1 went on with the edit", "1 went to the bin",
        ]
        #expect(outcomes == expected)
        #expect(try library.check().isEmpty)
        #expect(try library.text(first.id) == "one")
        #expect(try library.text(second.id, .original) == "second edit")
        #expect(try !library.index.read { try $0.asset(number: 2) }.isEdited)
        #expect(code { _ = try library.assets.revert(third.id, scope: .all) } == .wrongState)
        let sum = LibraryUsage(assets: 3, bytes: 3 + 11 + 5)
        #expect(try library.quotas.usage(of: nil) == sum)
    }

    @Test func `finds files that nobody has, and sets them aside`() throws {
        try library.add("one")
        let stray = place.path + "/contents/stray"
        let content = place.path + "/contents/aa/" + String(repeating: "a", count: 64)
        for _ in 1...2 {
            try FileManager.default.createDirectory(
                atPath: place.path + "/contents/aa",
                withIntermediateDirectories: true
            )
            #expect(FileManager.default.createFile(atPath: content, contents: Data("x".utf8)))
            try FileManager.default.createSymbolicLink(atPath: stray, withDestinationPath: "/nowhere")
            #expect(try library.check().map(\.kind) == [.orphaned, .orphaned])
            #expect(try library.repair().allSatisfy { $0.outcome.contains("lost+found/") })
            #expect(try library.check().isEmpty)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path + "/lost+found").sorted()
        let a = String(repeating: "a", count: 64)
        #expect(names == [a, a + "-2", "stray", "stray-2"])
        #expect(place.files("contents").count == 1)
    }

    @Test func `finds an index that contradicts itself, and reckons it anew`() throws {
        let asset = try library.add("one")
        try library.index.write { try $0.execute(sql: "UPDATE usage SET bytes = 0; DELETE FROM tally") }
        #expect(try library.check().map(\.kind) == [.index, .index])
        let mended = "everything that could be recalculated was"
        #expect(try library.repair().map(\.outcome) == [mended, mended])
        #expect(try library.check().isEmpty)
        #expect(try library.quotas.usage(of: asset.program) == LibraryUsage(assets: 1, bytes: 3))
    }

    @Test func `takes no part in what goes on meanwhile`() throws {
        let ids = try (0..<20).map { try library.add("content \($0)").id }
        let thread = Thread {
            for id in ids {
                _ = try? library.bin.delete([id], scope: .all)
                _ = try? library.bin.empty(olderThan: 0)
                _ = try? library.add("again \(id)")
            }
        }
        thread.start()
        while !thread.isFinished { #expect(try library.check().isEmpty) }
        #expect(try library.check().isEmpty)
    }
}
