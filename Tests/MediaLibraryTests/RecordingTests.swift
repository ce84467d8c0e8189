@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import TestSupport
import Testing

@Suite struct `A recording for the library` {
    let place: TemporaryLibrary
    let program = "exe:/usr/bin/cheese"
    private let draft = AssetDraft(
        name: "clip.mkv",
        created: 17,
        device: "Camera",
        place: try? MediaPlace(latitude: 1, longitude: 2).checked(),
        isFavourite: true,
        album: String(repeating: "a", count: 32),
        albumName: "Trip"
    )

    init() throws { place = try TemporaryLibrary() }

    @Test func `becomes an asset with what was said of it`() throws {
        let library = try place.library()
        let id = try record("frames")
        #expect(try library.recordings.kept().isEmpty)
        let asset = try library.recordings.finish(id, .photo)
        #expect(try library.text(asset.id) == "frames")
        #expect(asset.name == "clip.mkv")
        #expect(asset.created == 17)
        #expect(asset.device == "Camera")
        #expect(asset.place == draft.place)
        #expect(asset.isFavourite)
        #expect(asset.program == program)
        #expect(place.files("transit").isEmpty)
        #expect(code { _ = try library.recordings.finish(id, .photo) } == .noSuchAsset)
        // And once more, of a content that is there.
        _ = try library.recordings.finish(try record("frames"), .photo)
        #expect(place.files("transit").isEmpty)
        #expect(place.files("contents").count == 1)
    }

    @Test func `can be read while it is written, and not be written by that`() throws {
        let library = try place.library()
        let reader = try library.recordings.open(try record("frames"))
        #expect(unsafe write(reader, "x", 1) == -1)
        #expect(text(of: reader) == "frames")
    }

    @Test func `is kept for the user where it may not be saved`() throws {
        let library = try place.library()
        let first = try record("first")
        place.pass(days: 1)
        let second = try record("second")
        try library.recordings.keep(first, because: "the program may not")
        try library.recordings.keep(second, because: "nor this one")
        let kept = try library.recordings.kept()
        #expect(kept.map(\.id) == [first, second])
        #expect(kept[0].draft == draft)
        #expect(kept[0].why == "the program may not")
        #expect(kept[0].size == 5)
        #expect(kept[0].program == program)
        #expect(kept[0].started == place.now - 86_400_000)
        #expect(try library.text(library.recordings.saveKept(first, .photo).id) == "first")
        try library.recordings.discardKept(second)
        #expect(try library.recordings.kept().isEmpty)
        #expect(place.files("transit").isEmpty)
        #expect(code { try library.recordings.discardKept(second) } == .noSuchAsset)
    }

    @Test func `is kept after a crash, unless there is nothing in it`() throws {
        let full = try record("full")
        _ = try record("")
        try place.library().recover()
        let kept = try place.library().recordings.kept()
        #expect(kept.map(\.id) == [full])
        #expect(kept.first?.why.contains("ended while") == true)
        #expect(place.files("transit") == [full])
        place.close()
        #expect(try place.library().recordings.kept() == kept)
    }

    @Test func `is set aside where the index is lost`() throws {
        try place.library().recordings.keep(try record("frames"), because: "the program may not")
        place.close()
        for end in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: place.path + "/index.sqlite\(end)")
        }
        let library = try place.library()
        #expect(try library.recordings.kept().isEmpty)
        #expect(place.files("transit").isEmpty)
        let file = try #require(place.files("lost+found").first)
        #expect(try String(contentsOfFile: "\(place.path)/lost+found/\(file)", encoding: .utf8) == "frames")
    }

    @Test func `is being written as long as somebody can write to it, and is kept after a crash though it is empty`()
        throws
    {
        let library = try place.library()
        var transit: RecordingTransit? = try library.recordings.begin(draft, program: program)
        let id = try #require(transit?.id)
        let other = dup(try #require(transit?.descriptor))
        #expect(try library.recordings.isBeingWritten(id))
        transit = nil
        #expect(try library.recordings.isBeingWritten(id))
        try library.recover()
        #expect(try library.recordings.kept().map(\.id) == [id])
        close(other)
        #expect(try !library.recordings.isBeingWritten(id))
        let reader = try library.recordings.open(id)
        #expect(try !library.recordings.isBeingWritten(id))
        close(reader)
        #expect(code { _ = try library.recordings.isBeingWritten(String(repeating: "0", count: 32)) } == .noSuchAsset)
    }

    @Test func `is listed as kept though that cannot be written down`() throws {
        let library = try place.library()
        let id = try record("first")
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        let index = try DatabaseQueue(path: place.path + "/index.sqlite", configuration: configuration)
        // Nobody else can write meanwhile.
        try index.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(code { _ = try library.recordings.finish(id, .photo) } == .inputOutput)
        let kept = try library.recordings.kept()
        #expect(kept.map(\.id) == [id])
        #expect(kept.first?.why.contains("cannot be used") == true)
        try index.inDatabase { try $0.execute(sql: "ROLLBACK") }
        #expect(try library.text(library.recordings.saveKept(id, .photo).id) == "first")
        #expect(try library.recordings.kept().isEmpty)
    }

    @Test func `is kept where saving fails, and can be saved later`() throws {
        let library = try place.library(LibraryLimits(programBytes: 10))
        let first = try record("eight...")
        let second = try record("four")
        let asset = try library.recordings.finish(first, .photo)
        #expect(code { _ = try library.recordings.finish(second, .photo) } == .overQuota)
        #expect(try library.recordings.kept().map(\.id) == [second])
        #expect(try library.recordings.kept().first?.why.contains("10 bytes") == true)
        // Eight bytes are there, and four wait.
        #expect(try library.recordings.room(of: program) == 0)
        #expect(try library.recordings.room(of: "exe:/other") == 10)
        try library.bin.delete([asset.id], scope: .all)
        try library.bin.empty(olderThan: 0)
        #expect(try library.text(library.recordings.saveKept(second, .photo).id) == "four")
    }

    @Test(arguments: [12, 11])
    func `is saved at the person's word beyond what its program may have, not beyond what the user may`(
        bytesOfUser: Int64
    ) throws {
        let library = try place.library(LibraryLimits(programBytes: 10, userBytes: bytesOfUser))
        let (first, second) = (try record("eight..."), try record("four"))
        _ = try library.recordings.finish(first, .photo)
        #expect(code { _ = try library.recordings.finish(second, .photo) } == .overQuota)
        let saving = code { _ = try library.recordings.saveKept(second, .photo) }
        #expect(saving == (bytesOfUser < 12 ? .overQuota : nil))
        #expect(try library.recordings.kept().map(\.id) == (bytesOfUser < 12 ? [second] : []))
    }

    @Test func `that is under way is neither saved nor discarded as a kept one, but given up`() throws {
        let library = try place.library()
        let id = try record("frames")
        #expect(code { _ = try library.recordings.saveKept(id, .photo) } == .wrongState)
        #expect(code { try library.recordings.discardKept(id) } == .wrongState)
        try library.recordings.cancel(id)
        #expect(place.files("transit").isEmpty)
        let empty = try record("")
        #expect(code { _ = try library.recordings.finish(empty, .photo) } == .badData)
        #expect(place.files("transit").isEmpty)
        #expect(try library.recordings.kept().isEmpty)
        #expect(code { _ = try library.recordings.open("../../x") } == .invalidArgument)
    }

    @Test func `leaves on the disk what is kept free for others`() throws {
        let library = try place.library(LibraryLimits(reserve: .max / 2))
        #expect(code { _ = try library.recordings.begin(draft, program: program) } == .inputOutput)
        #expect(try library.recordings.room(of: program) == 0)
        #expect(place.files("transit").isEmpty)
    }

    @Test func `is refused where too many wait, and where no room is left`() throws {
        let library = try place.library(LibraryLimits(programBytes: 10, keptRecordings: 2))
        _ = try record("1234567890")
        _ = try record("1")
        #expect(code { _ = try record("") } == .overQuota)
        try library.discardAll()
        #expect(place.files("transit").isEmpty)
        _ = try record("12345678901")
        #expect(code { _ = try record("") } == .overQuota)
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func `that fills the disk is kept, and can be saved when there is room`()
        throws
    {
        let disk = try SmallDisk(kilobytes: 2048)
        let place = try TemporaryLibrary(in: disk.path)
        let library = try place.library(LibraryLimits(reserve: 0))
        let transit = try library.recordings.begin(draft, program: program)
        let bytes = Array("frames".utf8)
        #expect(unsafe write(transit.descriptor, bytes, bytes.count) == bytes.count)
        // The index has some room left in its log, which goes too.
        let item = try library.add("kept")
        try disk.fill()
        #expect(throws: CaptureError.self) {
            for index in 0..<200 { _ = try library.assets.change(item.id, AssetChanges(name: "\(index)"), scope: .all) }
        }
        let error = #expect(throws: CaptureError.self) { try library.recordings.finish(transit.id, .photo) }
        #expect(error?.message.contains("full") == true, "\(error?.message ?? "")")
        #expect(try library.recordings.kept().map(\.id) == [transit.id])
        #expect(try library.recordings.kept().first?.why.contains("full") == true)
        #expect(text(of: try library.recordings.open(transit.id)) == "frames")
        #expect(place.files("contents").count == 1)
        try disk.makeRoom()
        #expect(try library.text(library.recordings.saveKept(transit.id, .photo).id) == "frames")
        #expect(try library.recordings.kept().isEmpty)
        #expect(try library.check() == [])
    }

    private func record(_ text: String) throws -> String {
        let transit = try place.library().recordings.begin(draft, program: program)
        let bytes = Array(text.utf8)
        #expect(unsafe write(transit.descriptor, bytes, bytes.count) == bytes.count)
        #expect(transit.identity != nil)
        return transit.id
    }
}

extension LibraryStore {
    fileprivate func discardAll() throws {
        for recording in try recordings.kept(andOpen: true) { try recordings.cancel(recording.id) }
    }
}
