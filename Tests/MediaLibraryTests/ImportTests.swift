@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Testing

@Suite struct `Importing into a library` {
    let place: TemporaryLibrary
    let library: LibraryStore

    init() throws { (place, library) = try TemporaryLibrary.opened() }

    @Test func `keeps the content by its hash, read-only, and all that is said of it`() throws {
        var draft = AssetDraft(name: "Ostern 🐣.jpg", created: 1_600_000_000_000, device: "Camera")
        draft.place = try MediaPlace(latitude: 52.5, longitude: 13.4).checked()
        draft.isFavourite = true
        let item = try library.imports.begin(draft, program: "exe:/usr/bin/cheese")
        try item.append("ab")
        try item.append("c")
        #expect(item.size == 3)
        let staged = try item.finish()
        #expect(unsafe write(staged, "x", 1) == -1)
        #expect(text(of: staged) == "abc")
        #expect(place.files("contents").isEmpty)
        let asset = try item.commit(.photo)
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(place.files("contents") == ["ba/" + hash])
        #expect(place.files("transit").isEmpty)
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(place.path)/contents/ba/\(hash)")
        #expect(attributes[.posixPermissions] as? Int == 0o400)
        #expect(asset.id.count == 32)
        #expect(asset.name == draft.name)
        #expect(asset.created == draft.created)
        #expect(asset.added == place.now)
        #expect(asset.modified == asset.added)
        let facts = ExaminedMedia(
            kind: asset.kind,
            mediaType: asset.mediaType,
            codec: asset.codec,
            width: asset.width,
            height: asset.height,
            duration: asset.duration
        )
        #expect(facts == .photo)
        #expect(asset.size == 3)
        #expect(asset.device == "Camera")
        #expect(asset.place == draft.place)
        #expect(asset.isFavourite)
        #expect(asset.program == "exe:/usr/bin/cheese")
        #expect(!asset.isEdited)
        #expect(asset.binned == nil)
        #expect(try library.index.read { try $0.asset(number: 1) } == asset)
    }

    @Test func `takes the date inside the file, else the file's own, where the program gives none`() throws {
        var facts = ExaminedMedia.photo
        facts.created = 1_234_567_890_000
        #expect(try library.add("one", facts: facts).created == 1_234_567_890_000)
        facts.created = .max
        #expect(try library.add("two", facts: facts).created == place.now)
        #expect(try library.add("three", facts: facts, written: 17).created == 17)
        #expect(try library.add("four", facts: facts, written: .max).created == place.now)
        facts.created = 5
        #expect(try library.add("five", facts: facts, written: 17).created == 5)
    }

    @Test func `makes two assets of equal files, with one content`() throws {
        let first = try library.add("same", "first.jpg")
        let second = try library.add("same", "second.jpg", program: "exe:/usr/bin/guvcview")
        #expect(first.id != second.id)
        #expect(place.files("contents").count == 1)
        #expect(place.files("transit").isEmpty)
        #expect(try library.text(first.id) == "same")
        #expect(try library.text(second.id) == "same")
    }

    @Test func `replaces a file of the wrong size under the same hash, and one that is missing`() throws {
        let asset = try library.add("whole")
        let file = place.path + "/contents/" + place.files("contents")[0]
        #expect(unsafe chmod(file, 0o600) == 0)
        try Data("cut".utf8).write(to: URL(fileURLWithPath: file))
        try library.add("whole")
        #expect(try library.text(asset.id) == "whole")
        // And one of the right size that is another.
        try Data("elohw".utf8).write(to: URL(fileURLWithPath: file))
        try library.add("whole")
        #expect(try library.text(asset.id) == "whole")
        try FileManager.default.removeItem(atPath: file)
        #expect(code { _ = try library.text(asset.id) } == .inputOutput)
        try library.add("whole")
        #expect(try library.text(asset.id) == "whole")
    }

    /// Else the time that it takes would tell who may only add what the user has.
    @Test func `writes the same for a content that is there already`() throws {
        try library.index.write {
            try $0.execute(
                sql: """
                    CREATE TABLE seen(hash);
                    CREATE TRIGGER seeing AFTER INSERT ON doubtful BEGIN INSERT INTO seen VALUES(NEW.hash); END;
                    CREATE TRIGGER seeingMore AFTER DELETE ON doubtful BEGIN INSERT INTO seen VALUES(OLD.hash); END;
                    """
            )
        }
        var files: Set<Int> = []
        for round in 1...3 {
            try library.add("same")
            let file = place.path + "/contents/" + place.files("contents")[0]
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            files.insert(try #require(attributes[.systemFileNumber] as? Int))
            #expect(attributes[.referenceCount] as? Int == 1)
            #expect(try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM seen") } == 2 * round)
        }
        // Each was put into place.
        #expect(files.count > 1)
        #expect(place.files("transit").isEmpty)
    }

    @Test func `leaves nothing of what is given up or forgotten, and of an empty file`() throws {
        let item = try library.imports.begin(AssetDraft(name: "a.jpg"), program: "p")
        try item.append("some")
        item.cancel()
        #expect(code { try item.append("more") } == .wrongState)
        #expect(code { _ = try item.finish() } == .wrongState)
        _ = try library.imports.begin(AssetDraft(name: "a.jpg"), program: "p")
        let empty = try library.imports.begin(AssetDraft(name: "a.jpg"), program: "p")
        #expect(code { _ = try empty.finish() } == .badData)
        #expect(code { _ = try empty.commit(.photo) } == .wrongState)
        #expect(place.files("transit").isEmpty)
        #expect(place.files("contents").isEmpty)
        #expect(try library.quotas.usage(of: nil) == LibraryUsage())
    }

    @Test func `removes what was half imported when the one before ended`() throws {
        let item = try library.imports.begin(AssetDraft(name: "a.jpg"), program: "p")
        try item.append("half")
        let half = place.files("transit")
        #expect(half.count == 1)
        // A crash leaves the file, and so does this second name of it.
        let name = place.path + "/transit/" + String(repeating: "0", count: 32)
        try FileManager.default.linkItem(atPath: place.path + "/transit/" + half[0], toPath: name)
        // And a content whose row did not come any more.
        try library.index.write { try $0.doubt(String(repeating: "a", count: 64)) }
        try FileManager.default.createDirectory(atPath: place.path + "/contents/aa", withIntermediateDirectories: false)
        let content = place.path + "/contents/aa/" + String(repeating: "a", count: 64)
        #expect(FileManager.default.createFile(atPath: content, contents: Data("x".utf8)))
        item.cancel()
        try library.recover()
        #expect(place.files("transit").isEmpty)
        #expect(place.files("contents").isEmpty)
        #expect(try library.index.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM doubtful") } == 0)
    }

    @Test(arguments: [".", "..", "a/b", "a\u{0}b", "a\nb", "a\u{202E}gpj.exe", "\u{2066}a", "a\u{7F}", "a\u{2028}"])
    func `refuses a name that is none`(_ name: String) {
        #expect(code { _ = try library.imports.begin(AssetDraft(name: name), program: "p") } == .invalidArgument)
        #expect(place.files("transit").isEmpty)
    }

    @Test(arguments: [
        (0, "photo-19700101-000000.jpg"), (1_709_210_096_999, "photo-20240229-123456.jpg"),
        (951_868_800_000, "photo-20000301-000000.jpg"), (-1, "photo-19691231-235959.jpg"),
        (253_402_300_799_999, "photo-99991231-235959.jpg"), (-62_167_219_200_000, "photo-00000101-000000.jpg"),
    ])
    func `names what comes without a name by its kind and time`(_ created: Int64, _ name: String) throws {
        var facts = ExaminedMedia.photo
        facts.created = created
        #expect(try library.add("a", "", facts: facts).name == name)
    }

    @Test func `takes a name of 255 bytes and refuses a longer one`() throws {
        #expect(throws: Never.self) { try library.add("a", String(repeating: "ä", count: 127) + "a") }
        #expect(code { try library.add("b", String(repeating: "ä", count: 128)) } == .invalidArgument)
    }

    @Test func `refuses a place and a date that cannot be`() {
        #expect(code { _ = try MediaPlace(latitude: 91, longitude: 0).checked() } == .invalidArgument)
        #expect(code { _ = try MediaPlace(latitude: 0, longitude: .nan).checked() } == .invalidArgument)
        let draft = AssetDraft(name: "a.jpg", created: .max)
        #expect(code { _ = try library.imports.begin(draft, program: "p") } == .invalidArgument)
    }

    /// Nothing but the beginning and the end of one.
    private static func jpeg(_ text: String) -> [UInt8] { [0xFF, 0xD8, 0xFF] + Array(text.utf8) + [0xFF, 0xD9] }

    @Test func `has no small picture that is no whole JPEG, and makes place for another`() throws {
        let asset = try library.add("one")
        let file = try library.contents.open(asset.id, scope: .all)
        defer { close(file) }
        func store() throws {
            try library.contents.storeThumbnails([.small: Self.jpeg("one")], of: asset.id, madeFrom: file)
        }
        try store()
        let path = place.path + "/thumbnails/" + (try #require(place.files("thumbnails").first))
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for garbage in [Data(), whole.dropLast(), whole.dropFirst(), Data("garbage".utf8), nil] {
            try FileManager.default.removeItem(atPath: path)
            if let garbage {
                try garbage.write(to: URL(fileURLWithPath: path))
            } else {
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hostname")
            }
            #expect(try library.contents.openThumbnail(asset.id, size: .small, scope: .all) == nil)
            try store()
            let stored = try #require(try library.contents.openThumbnail(asset.id, size: .small, scope: .all))
            #expect(text(of: stored).contains("one"))
        }
    }

    @Test func `stores small pictures of the content that they were made of, and of no other`() throws {
        let asset = try library.add("one")
        let other = try library.add("two")
        let file = try library.contents.open(asset.id, scope: .all)
        #expect(try library.contents.openThumbnail(asset.id, size: .small, scope: .all) == nil)
        #expect(
            try library.contents.storeThumbnails(
                [.small: Self.jpeg("small"), .large: Self.jpeg("large")],
                of: asset.id,
                madeFrom: file
            )
        )
        #expect(try !library.contents.storeThumbnails([.small: Self.jpeg("other")], of: other.id, madeFrom: file))
        // An equal file takes the place of the one that they are made of.
        let twin = try library.add("one")
        #expect(try library.contents.storeThumbnails([.medium: Self.jpeg("medium")], of: asset.id, madeFrom: file))
        close(file)
        let large = try #require(try library.contents.openThumbnail(asset.id, size: .large, scope: .all))
        #expect(text(of: large).contains("large"))
        let medium = try #require(try library.contents.openThumbnail(asset.id, size: .medium, scope: .all))
        #expect(text(of: medium).contains("medium"))
        #expect(try library.contents.openThumbnail(other.id, size: .small, scope: .all) == nil)
        #expect(
            code { _ = try library.contents.openThumbnail(asset.id, size: .small, scope: .nothing) } == .noSuchAsset
        )
        try library.bin.delete([asset.id, twin.id], scope: .all)
        try library.bin.empty(olderThan: 0)
        #expect(place.files("thumbnails").isEmpty)
    }
}
