@testable import MediaLibrary
import CaptureCore
import Foundation
import TestSupport
import Testing

@Suite struct `Limits of a library` {
    let place: TemporaryLibrary
    private let cheese = "exe:/usr/bin/cheese"
    private let other = "exe:/usr/bin/guvcview"

    init() throws { place = try TemporaryLibrary() }

    @Test func `hold for one content while it comes in`() throws {
        let library = try place.library(LibraryLimits(contentBytes: 4))
        let item = try library.imports.begin(AssetDraft(name: "a.jpg"), program: cheese)
        try item.append("1234")
        #expect(code { try item.append("5") } == .overQuota)
        #expect(place.files("transit").isEmpty)
        #expect(code { _ = try item.finish() } == .wrongState)
        #expect(throws: Never.self) { try library.add("1234") }
    }

    @Test func `hold for the bytes of a program, whatever others have`() throws {
        let library = try place.library(LibraryLimits(programBytes: 10))
        try library.add("12345678", program: cheese)
        #expect(code { try library.add("123", program: cheese) } == .overQuota)
        #expect(throws: Never.self) { try library.add("123", program: other) }
        // The same file once more counts once more, although it is there once.
        #expect(code { try library.add("12345678", program: cheese) } == .overQuota)
        #expect(throws: Never.self) { try library.add("12", program: cheese) }
        #expect(place.files("transit").isEmpty)
        #expect(place.files("contents").count == 3)
    }

    @Test func `hold for the number of assets of a program and of the user`() throws {
        let library = try place.library(LibraryLimits(programAssets: 2, userAssets: 3))
        try library.add("1", program: cheese)
        try library.add("2", program: cheese)
        #expect(code { try library.add("3", program: cheese) } == .overQuota)
        try library.add("4", program: other)
        #expect(code { try library.add("5", program: other) } == .overQuota)
    }

    @Test func `hold for the bytes of the user`() throws {
        let library = try place.library(LibraryLimits(userBytes: 10))
        try library.add("123456", program: cheese)
        #expect(code { try library.add("12345", program: other) } == .overQuota)
        try library.add("1234", program: other)
    }

    @Test func `are in steps where they tell of what others have`() throws {
        let library = try place.library(LibraryLimits(userBytes: 3200))
        /// Whether so many bytes of a program would find room, which leaves nothing behind.
        func fits(_ count: Int) throws -> Bool {
            let item = try library.imports.begin(AssetDraft(name: "a.jpg"), program: cheese)
            defer { item.cancel() }
            return code { try item.append(String(repeating: "x", count: count)) } == nil
        }
        try library.add(String(repeating: "a", count: 150), program: other)
        #expect(try fits(3000))
        #expect(try !fits(3001))
        // A step is a hundred bytes here: what comes within it shows nowhere.
        try library.add(String(repeating: "b", count: 40), program: other)
        #expect(try fits(3000))
        try library.add(String(repeating: "c", count: 20), program: other)
        #expect(try !fits(3000))
        #expect(try fits(2900))
    }

    @Test func `tell nobody how much others have`() throws {
        let library = try place.library(LibraryLimits(userBytes: 10))
        try library.add("123456", program: cheese)
        let error = #expect(throws: CaptureError.self) { try library.add("12345", program: other) }
        #expect(error?.code == .overQuota)
        #expect(error?.message.contains(where: \.isNumber) == false, "\(error?.message ?? "")")
    }

    @Test func `hold for many imports at a time`() throws {
        let library = try place.library(LibraryLimits(programBytes: 10, programAssets: 2))
        let first = try library.imports.begin(AssetDraft(name: "a.jpg"), program: cheese)
        try first.append("123456")
        let second = try library.imports.begin(AssetDraft(name: "b.jpg"), program: cheese)
        #expect(code { _ = try library.imports.begin(AssetDraft(name: "c.jpg"), program: cheese) } == .overQuota)
        #expect(code { try second.append("12345") } == .overQuota)
        let third = try library.imports.begin(AssetDraft(name: "b.jpg"), program: cheese)
        try third.append("1234")
        _ = try first.settle()
        _ = try third.settle()
        #expect(try library.quotas.usage(of: cheese) == LibraryUsage(assets: 2, bytes: 10))
    }

    @Test func `hold for edits, and where one fails the asset stays as it was`() throws {
        let library = try place.library(LibraryLimits(programBytes: 10))
        let asset = try library.add("123456", program: cheese)
        let item = try library.imports.beginEdit(asset.id, scope: .all)
        #expect(code { try item.append("12345") } == .overQuota)
        let small = try library.imports.beginEdit(asset.id, scope: .all)
        try small.append("1234")
        #expect(try small.settle().isEdited)
        #expect(try library.quotas.usage(of: cheese) == LibraryUsage(assets: 1, bytes: 10))
        #expect(try library.text(asset.id, .original) == "123456")
    }

    @Test func `hold for the program that edits as for the one that made the asset`() throws {
        let library = try place.library(LibraryLimits(programBytes: 10))
        func edit(_ asset: MediaAsset, _ text: String) throws -> MediaAsset {
            let item = try library.imports.beginEdit(asset.id, scope: .all, program: other)
            try item.append(text)
            return try item.settle()
        }
        let first = try library.add("1", program: cheese)
        let second = try library.add("12345", program: "exe:/usr/bin/motion")
        let maker = #expect(throws: CaptureError.self) { try edit(second, "123456") }
        #expect(maker?.code == .overQuota)
        #expect(maker?.message.contains("the program that made the asset would have") == true)
        #expect(try edit(first, "12345678").isEdited)
        #expect(try library.quotas.usage(of: cheese) == LibraryUsage(assets: 1, bytes: 9))
        #expect(try library.quotas.usage(of: other) == LibraryUsage(assets: 0, bytes: 8))
        // For the user it is there once.
        #expect(try library.quotas.usage(of: nil) == LibraryUsage(assets: 2, bytes: 14))
        let editor = #expect(throws: CaptureError.self) { try edit(second, "123") }
        #expect(editor?.code == .overQuota)
        #expect(editor?.message.contains("the program would have") == true)
        #expect(editor?.message.contains("until the bin erases them") == true)
        #expect(code { try library.add("123", program: other) } == .overQuota)

        // Another edit takes its place, by whomever, and counts for that one.
        #expect(try edit(first, "1").isEdited)
        #expect(try library.quotas.usage(of: other) == LibraryUsage(assets: 0, bytes: 1))
        #expect(try library.check() == [])
        let own = try library.imports.beginEdit(first.id, scope: .all, program: cheese)
        try own.append("12")
        _ = try own.settle()
        #expect(try library.quotas.usage(of: other) == LibraryUsage())
        #expect(try library.quotas.usage(of: cheese) == LibraryUsage(assets: 1, bytes: 3))
        _ = try edit(first, "1234")
        try library.bin.delete([first.id], scope: .all)
        #expect(try library.quotas.usage(of: other) == LibraryUsage(assets: 0, bytes: 4))
        try library.bin.empty(olderThan: 0)
        #expect(try library.quotas.usage(of: other) == LibraryUsage())
        #expect(try library.check() == [])
    }

    @Test func `hold for many edits of others' assets at a time`() throws {
        let library = try place.library(LibraryLimits(programBytes: 10))
        let items = try ["a", "b"].map { maker in
            try library.imports.beginEdit(library.add("1", program: maker).id, scope: .all, program: other)
        }
        try items[0].append("123456")
        #expect(code { try items[1].append("12345") } == .overQuota)
        #expect(try items[0].settle().isEdited)
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func `leave something of the disk to others`() throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let place = try TemporaryLibrary(in: disk.path)
        let library = try place.library(LibraryLimits(reserve: 2 << 20))
        let late = try library.imports.begin(AssetDraft(name: "late.jpg"), program: cheese)
        try late.append("late")
        close(try late.finish())
        let large = try library.imports.begin(AssetDraft(name: "large.jpg"), program: cheese)
        let block = [UInt8](repeating: 7, count: 64 << 10)
        var count = 0
        func expectRefusal(_ body: () throws -> Void) {
            let error = #expect(throws: CaptureError.self) { try body() }
            #expect(error?.code == .inputOutput)
            #expect(error?.errno == ENOSPC)
            #expect(error?.message.contains("less than 2097152 bytes left, which are kept free") == true)
        }
        expectRefusal {
            for _ in 0..<64 {
                try large.append(block)
                count += 1
            }
        }
        #expect((4..<32).contains(count))
        try disk.fill()
        expectRefusal { _ = try late.commit(.photo) }
        expectRefusal { _ = try library.imports.begin(AssetDraft(name: "a.jpg"), program: cheese) }
        #expect(place.files("transit").isEmpty)
        #expect(place.files("contents").isEmpty)
        try disk.makeRoom()
        #expect(throws: Never.self) { try library.add("again") }
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func `leave a sixteenth of a small disk to others, unless told`() throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let place = try TemporaryLibrary(in: disk.path)
        let block = [UInt8](repeating: 7, count: 64 << 10)
        let large = try place.library(LibraryLimits()).imports.begin(AssetDraft(name: "large.jpg"), program: cheese)
        let error = #expect(throws: CaptureError.self) { for _ in 0..<64 { try large.append(block) } }
        #expect(error?.message.contains("less than 262144 bytes left, which are kept free") == true)
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func `of the disk refuse cleanly, and nothing is left behind`() throws {
        let disk = try SmallDisk(kilobytes: 2048)
        let place = try TemporaryLibrary(in: disk.path)
        let library = try place.library(LibraryLimits(reserve: 0))
        let kept = try library.add("kept")
        let block = [UInt8](repeating: 7, count: 64 << 10)
        let large = try library.imports.begin(AssetDraft(name: "large.jpg"), program: cheese)
        let error = #expect(throws: CaptureError.self) { for _ in 0..<64 { try large.append(block) } }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("the disk is full") == true)
        #expect(place.files("transit").isEmpty)
        try disk.settle()

        // Full just when the row is to be written.
        let late = try library.imports.begin(AssetDraft(name: "late.jpg"), program: cheese)
        try late.append("late")
        close(try late.finish())
        try disk.fill()
        var failures = 0
        for index in 0..<100 where failures == 0 {
            // What was reserved of the log takes a few more rows.
            do {
                _ = try library.assets.change(kept.id, AssetChanges(name: "name \(index)"), scope: .all)
            } catch {
                #expect(error.code == .inputOutput)
                #expect(error.message.contains("is full"), "\(error.message)")
                failures += 1
            }
        }
        #expect(failures == 1)
        #expect(code { _ = try late.commit(.photo) } == .inputOutput)
        #expect(place.files("transit").isEmpty)
        #expect(place.files("contents").count == 1)
        #expect(code { try library.add("x") } == .inputOutput)
        #expect(try library.text(kept.id) == "kept")

        try disk.makeRoom()
        #expect(try library.text(library.add("again").id) == "again")
        #expect(place.files("contents").count == 2)
        #expect(place.files("transit").isEmpty)
    }
}
