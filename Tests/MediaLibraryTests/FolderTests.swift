@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Testing

@Suite struct `A library as a plain folder` {
    let place: TemporaryLibrary
    let library: MediaLibrary
    let folder: String

    init() throws {
        place = try TemporaryLibrary()
        library = try place.library()
        folder = place.folder + "/export"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    @Test func `has each original with its edit and what is said of it, by year and month`() throws {
        try fill()
        #expect(try export() == 4)
        let expected = [
            "2020/09/Ostern.edited.jpg", "2020/09/Ostern.edited.jpg.json", "2020/09/Ostern.jpg",
            "2020/09/Ostern.jpg.json", "2023/11/Ostern-2.jpg", "2023/11/Ostern-2.jpg.json", "2023/11/Ostern.jpg",
            "2023/11/Ostern.jpg.json", "2023/11/a.jpg", "2023/11/a.jpg.json", "albums.json",
        ].filter { $0 != "2020/09/Ostern.edited.jpg.json" }
        #expect(try files() == expected)
        #expect(try text("2020/09/Ostern.jpg") == "one")
        #expect(try text("2020/09/Ostern.edited.jpg") == "edited")
        let object = try JSONSerialization.jsonObject(with: Data(text("2020/09/Ostern.jpg.json").utf8))
        let sidecar = try #require(object as? [String: Any])
        #expect(sidecar["name"] as? String == "Ostern.jpg")
        #expect(sidecar["created"] as? Int == 1_600_000_000_000)
        #expect(sidecar["favourite"] as? Bool == true)
        #expect(sidecar["latitude"] as? Double == 52.5)
        #expect(sidecar["edit"] as? String == "Ostern.edited.jpg")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/2020/09/Ostern.jpg")
        #expect((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 == 1_600_000_000)
    }

    @Test func `comes back as it was into another library, and once only`() throws {
        try fill()
        _ = try export()
        let other = try TemporaryLibrary()
        other.pass(days: 100)
        let copy = try other.library()
        #expect(try importAll(into: copy) == FolderImport(imported: 4))
        #expect(try contents(of: copy) == contents(of: library))
        #expect(try importAll(into: copy) == FolderImport(present: 4))
        #expect(try contents(of: copy) == contents(of: library))
        #expect(try copy.check() == [])
    }

    @Test func `goes on where an import was cut off between an original and its edit`() throws {
        try fill()
        _ = try export()
        let other = try TemporaryLibrary()
        let copy = try other.library()
        _ = try importAll(into: copy)
        for asset in try assets(of: copy) where asset.isEdited { _ = try copy.revert(asset.id, scope: .all) }
        #expect(try importAll(into: copy) == FolderImport(imported: 1, present: 3))
        #expect(try contents(of: copy) == contents(of: library))
    }

    @Test func `leaves the bin behind, and is refused where something is there`() throws {
        try library.delete([library.add("one").id], scope: .all)
        try library.add("two")
        #expect(try export() == 1)
        #expect(code { _ = try export() } == .invalidArgument)
    }

    @Test func `may be any folder of files, without sidecars or with broken ones`() throws {
        for (name, text) in [
            ("sub/a.jpg", "one"), ("b.jpg", "two"), ("b.jpg.json", "not JSON"), ("empty.jpg", ""),
            ("unknown.txt", "bad"),
        ] {
            let file = URL(fileURLWithPath: folder + "/" + name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        try FileManager.default.createSymbolicLink(atPath: folder + "/link.jpg", withDestinationPath: "/etc/passwd")
        #expect(unsafe mkfifo(folder + "/fifo.jpg", 0o600) == 0)
        let result = try importAll(into: library) { text throws(CaptureError) in
            if text.hasPrefix("bad") || text.hasPrefix("not") { throw CaptureError(.badData, "unknown") }
            return .photo
        }
        #expect(result.imported == 2)
        #expect(result.failures.map(\.file) == ["b.jpg.json", "empty.jpg", "unknown.txt"])
        #expect(try assets(of: library).map(\.name) == ["b.jpg", "a.jpg"])
        #expect(place.files("transit").isEmpty)
    }

    @Test func `is not taken where a file was changed or a sidecar says what cannot be`() throws {
        try fill()
        _ = try export()
        try Data("changed".utf8).write(to: URL(fileURLWithPath: folder + "/2023/11/a.jpg"))
        for (name, old, new) in [
            ("Ostern.jpg", "\"created\" : ", "\"created\" : 99"), ("Ostern-2.jpg", "\"id\" : \"", "\"id\" : \".."),
        ] {
            let file = "\(folder)/2023/11/\(name).json"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: URL(fileURLWithPath: file))
        }
        let other = try TemporaryLibrary()
        let result = try importAll(into: other.library())
        #expect(result.imported == 1)
        let failures = Set(result.failures.map { "\($0.file) \($0.error.code.rawValue)" })
        let expected: Set = [
            "2023/11/a.jpg BadData", "2023/11/Ostern.jpg InvalidArgument", "2023/11/Ostern-2.jpg InvalidArgument",
        ]
        #expect(failures == expected)
        #expect(other.files("transit").isEmpty)
    }

    @Test(arguments: [
        (0, "1970", "01"), (-1, "1969", "12"), (951_782_400_000, "2000", "02"), (951_868_800_000, "2000", "03"),
        (253_402_300_799_999, "9999", "12"), (-62_167_219_200_000, "0000", "01"), (1_704_067_199_999, "2023", "12"),
    ])
    func `is ordered by the calendar`(_ time: Int64, _ year: String, _ month: String) {
        let folder = FolderNames.folder(of: time)
        #expect(folder.year == year)
        #expect(folder.month == month)
    }

    @Test func `has names that file systems take`() {
        #expect(FolderNames.file("a.jpg", number: 1) == "a.jpg")
        #expect(FolderNames.file("a.b.jpg", number: 3) == "a.b-3.jpg")
        #expect(FolderNames.file(".jpg", number: 2) == ".jpg-2")
        #expect(FolderNames.file("a", number: 1, word: ".edited") == "a.edited")
        for name in [String(repeating: "ä", count: 127), "a." + String(repeating: "👩‍👩‍👧", count: 14)] {
            #expect(FolderNames.file(name, number: 1_000_000, word: ".edited").utf8.count < 240)
        }
    }

    /// Four assets, one with an edit, and an album.
    private func fill() throws {
        let draft = AssetDraft(
            name: "Ostern.jpg",
            created: 1_600_000_000_000,
            device: "Camera",
            place: try Place(latitude: 52.5, longitude: 13.4),
            isFavourite: true
        )
        let item = try library.beginImport(draft, program: "exe:/usr/bin/cheese")
        try item.append("one")
        let first = try item.settle()
        let second = try library.add("two", "Ostern.jpg")
        try library.add("three", "Ostern.jpg", program: "exe:/usr/bin/guvcview")
        let last = try library.add("three", "a.jpg")
        place.pass(days: 1)
        let edit = try library.beginEdit(first.id, scope: .all)
        try edit.append("edited")
        _ = try edit.settle()
        let album = try library.createAlbum("Frühling", program: "exe:/usr/bin/cheese", scope: .all)
        try library.add([last.id, first.id, second.id], toAlbum: album.id, scope: .all)
    }

    private func export() throws -> Int {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        return try library.exportAll(into: descriptor)
    }

    private func importAll(
        into library: MediaLibrary,
        examine: (String) throws(CaptureError) -> MediaFacts = { _ in .photo }
    ) throws -> FolderImport {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        return try library.importAll(from: descriptor, program: "p") { file throws(CaptureError) in
            try examine(MediaLibraryTests.text(of: dup(file)))
        }
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains(".") }.sorted()
    }

    private func text(_ file: String) throws -> String {
        try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
    }

    private func assets(of library: MediaLibrary) throws -> [Asset] {
        try library.read { database in
            try Row.fetchAll(database, sql: "SELECT \(Asset.columns) FROM \(Asset.origin) ORDER BY asset.number")
                .map { try Asset($0) }
        }
    }

    /// Assets, their files, and the albums with their order.
    private func contents(of library: MediaLibrary) throws -> Set<String> {
        var found: Set<String> = []
        for asset in try assets(of: library) {
            found.insert("\(asset) \(try library.text(asset.id)) \(try library.text(asset.id, .original))")
        }
        let albums = try library.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name || ' ' || group_concat(id) FROM (
                        SELECT album.name, asset.id, album.number FROM listed
                            JOIN album ON album.number = listed.album JOIN asset ON asset.number = listed.asset
                            WHERE reader = '' ORDER BY album.number, listed.position
                    ) GROUP BY number
                    """
            )
        }
        #expect(!albums.isEmpty)
        return found.union(albums)
    }
}
