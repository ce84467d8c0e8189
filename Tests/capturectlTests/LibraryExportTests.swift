import BusSupport
import CaptureBus
import CaptureKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LibraryExportTests {
    /// A library with everything in it that an export has to keep.
    private func filled() async throws -> LibraryTool {
        let tool = try await LibraryTool()
        let place = BusValue.structure([.double(52.5), .double(-13.25)])
        let first = tool.fake.put("a.jpg", "PHOTO 1", ["favourite": .bool(true), "place": place])
        let second = tool.fake.put("a.jpg", "PHOTO 2", ["device": .string("A Camera"), "created": .int64(-1000)])
        tool.fake.put("a.jpg", "PHOTO 3")
        tool.fake.put("sound", "SOUND")
        tool.fake.put("odd.json", "MOVIE", ["created": .int64(1_600_000_000_000)])
        for name in ["Trip", "Empty", "Trip"] { _ = try await tool.run("album", "create", name) }
        let albums = try await tool.run("album", "list", "--json").rows().compactMap { $0["id"] as? String }
        _ = try await tool.run("album", "add", albums[0], first, second)
        _ = try await tool.run("album", "add", albums[2], first)
        _ = try await tool.run("edit", first, try tool.write("e.jpg", "PHOTO edited"))
        return tool
    }

    /// The same, exported into `out`.
    private func exported() async throws -> LibraryTool {
        let tool = try await filled()
        _ = try await tool.run("export", "--all", tool.path("out"))
        return tool
    }

    @Test func `a library that is exported and imported again is the same`() async throws {
        let tool = try await filled()
        let said = try await tool.run("export", "--all", tool.path("out"))
        #expect(said.code == 0 && said.messages.contains("5 assets exported"))
        #expect(
            tool.files(in: "out") == [
                "1969/12/a.jpg", "1969/12/a.jpg.json", "2020/09/odd.json_", "2020/09/odd.json_.json",
                "2023/11/a (2).jpg", "2023/11/a (2).jpg.json", "2023/11/a.jpg", "2023/11/a.jpg.json",
                "2023/11/a.original.jpg", "2023/11/sound", "2023/11/sound.json", "albums.json",
            ]
        )
        #expect(try tool.read("out/2023/11/a.jpg") == "PHOTO edited")
        #expect(try tool.read("out/2023/11/a.original.jpg") == "PHOTO 1")
        let other = try await LibraryTool()
        let imported = try await other.run("import", tool.path("out"), "--json")
        #expect(imported.code == 0, "\(imported.messages)")
        let expected: NSDictionary = ["imported": 5, "present": 0, "leftOut": 0, "failed": NSArray()]
        #expect(try imported.json() as? NSDictionary == expected)
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    @Test func `what is imported again is there already, unless it is wanted twice`() async throws {
        let tool = try await exported()
        let other = try await LibraryTool()
        _ = try await other.run("import", tool.path("out"))
        let again = try await other.run("import", tool.path("out"))
        #expect(again.code == 0 && again.messages.contains("0 files imported, 5 already there"), "\(again.messages)")
        #expect(other.fake.inventory == tool.fake.inventory)
        // The one that is here stands for one of two.
        try other.write("in/twin.jpg", "PHOTO twin")
        try other.write("in/deeper/twin.jpg", "PHOTO twin")
        other.fake.put("twin.jpg", "PHOTO twin")
        other.fake.put("twin.jpg", "PHOTO of another")
        let twins = try await other.run("import", other.path("in"), "--json")
        let expected: NSDictionary = ["imported": 1, "present": 1, "leftOut": 0, "failed": NSArray()]
        #expect(try twins.json() as? NSDictionary == expected)
        let wanted = try await other.run("import", "--duplicates", other.path("in"))
        #expect(wanted.messages.contains("2 files imported\n"), "\(wanted.messages)")
        // Who may only add cannot tell.
        let blind = try await LibraryTool(FakeLibrary([.readWrite: .denied]))
        for count in [2, 4] {
            #expect(try await blind.run("import", other.path("in")).code == 0)
            #expect(blind.fake.inventory.count == count)
        }
    }

    @Test func `an import that was broken off is brought to its end`() async throws {
        let tool = try await exported()
        let other = try await LibraryTool()
        // As it is after the first file, before its edit and its albums.
        other.fake.put("a.jpg", "PHOTO 1", ["favourite": .bool(true)])
        let again = try await other.run("import", tool.path("out"))
        #expect(again.code == 0 && again.messages.contains("4 files imported, 1 already there"), "\(again.messages)")
        let places = { (inventory: [String]) in inventory.map { $0.replacing(/place [^|]*/, with: "") } }
        #expect(places(other.fake.inventory) == places(tool.fake.inventory))
    }

    @Test func `names that look alike are two`() async throws {
        let tool = try await LibraryTool()
        tool.fake.put("e\u{301}.jpg", "PHOTO 1")
        tool.fake.put("\u{e9}.jpg", "PHOTO 2")
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 0)
        let other = try await LibraryTool()
        let imported = try await other.run("import", tool.path("out"))
        #expect(imported.code == 0, "\(imported.messages)")
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    @Test func `names that are not UTF-8 are told of, and what has them is not left out without a word`() async throws {
        let tool = try await LibraryTool()
        let good = try tool.write("in/good.jpg", "PHOTO")
        let odd = Array(good.dropLast("good.jpg".count).utf8) + Array("caf".utf8) + [0xe9] + Array(".jpg".utf8) + [0]
        var name = odd.map(CChar.init(bitPattern:))
        let file = unsafe creat(&name, 0o600)
        try #require(file >= 0)
        close(file)
        let imported = try await tool.run("import", tool.path("in"))
        #expect(imported.code == 65 && tool.fake.inventory.count == 1)
        #expect(imported.messages.contains("caf\u{fffd}.jpg: its name is not UTF-8"))
        // As an argument it is repaired to a name that no file has.
        let repaired = tool.path("in/caf\u{fffd}.jpg")
        for files in [[repaired], [good, repaired]] {
            let added = try await tool.run(["add"] + files)
            #expect(added.code == 74, "\(added.messages)")
            #expect(added.messages.contains("caf\u{fffd}.jpg cannot be opened: its name is not UTF-8"))
        }
        #expect(try await tool.run("add", tool.path("in/cafe.jpg")).messages.contains("No such file or directory"))
        try tool.write("in/sign\u{fffd}.jpg", "PHOTO")
        #expect(try await tool.run("add", tool.path("in/sign\u{fffd}.jpg")).code == 0)
    }

    @Test func `the facts beside a file are all there, with the hashes that sha256sum prints`() async throws {
        let tool = try await exported()
        let data = Data(try tool.read("out/2023/11/a.jpg.json").utf8)
        let facts = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(facts["name"] as? String == "a.jpg" && facts["favourite"] as? Bool == true)
        #expect(facts["place"] as? [String: Double] == ["latitude": 52.5, "longitude": -13.25])
        #expect((facts["albums"] as? [[String: Any]])?.map { $0["name"] as? String } == ["Trip", "Trip"])
        #expect((facts["albums"] as? [[String: Any]])?.map { $0["position"] as? Int } == [0, 0])
        let original = facts["original"] as? [String: String]
        // printf 'PHOTO 1' | sha256sum
        let hash = "f50fc5e72436ba7c557ebe1f9c058f1232e0b3bea41ec2463bb317bd482d48b0"
        #expect(original == ["file": "a.original.jpg", "sha256": hash])
    }

    @Test func `an export again writes nothing anew and nothing over`() async throws {
        let tool = try await exported()
        let before = tool.files(in: "out")
        let again = try await tool.run("export", "--all", tool.path("out"))
        #expect(again.code == 0 && again.messages.contains("0 assets exported, 5 already there"))
        #expect(tool.files(in: "out") == before)
    }

    @Test func `one that was interrupted goes on where it was`() async throws {
        let tool = try await exported()
        let before = tool.files(in: "out")
        // As it is between the contents and the facts, and before the original.
        for name in ["2023/11/a.jpg.json", "2023/11/a.original.jpg", "2020/09/odd.json_", "2020/09/odd.json_.json"] {
            try FileManager.default.removeItem(atPath: tool.path("out/" + name))
        }
        let again = try await tool.run("export", "--all", tool.path("out"))
        #expect(again.messages.contains("2 assets exported, 3 already there"))
        #expect(tool.files(in: "out") == before)
        #expect(try tool.read("out/2023/11/a.original.jpg") == "PHOTO 1")
    }

    @Test func `what others have put there stays as it is`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO 1")
        try tool.write("out/2023/11/a.jpg", "mine")
        try tool.write("out/2023/11/a (2).jpg.json", "mine too")
        #expect(try await tool.run("export", String(id.prefix(6)), tool.path("out")).code == 0)
        #expect(try tool.read("out/2023/11/a.jpg") == "mine")
        #expect(try tool.read("out/2023/11/a (2).jpg.json") == "mine too")
        #expect(try tool.read("out/2023/11/a (3).jpg") == "PHOTO 1")
    }

    @Test func `facts that changed since are told, not written over`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO 1")
        _ = try await tool.run("export", "--all", tool.path("out"))
        let before = try tool.read("out/2023/11/a.jpg.json")
        _ = try await tool.run("favourite", id)
        let again = try await tool.run("export", "--all", tool.path("out"))
        #expect(again.code == 0 && again.messages.contains("a.jpg.json has older facts"))
        #expect(try tool.read("out/2023/11/a.jpg.json") == before)
    }

    @Test func `one that is not there fails, and the others are written`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO 1")
        let said = try await tool.run("export", String(repeating: "0", count: 32), id, tool.path("out"))
        #expect(said.code == 66 && said.messages.contains("1 asset exported, 1 failed"))
        #expect(tool.files(in: "out") == ["2023/11/a.jpg", "2023/11/a.jpg.json"])
        try tool.write("file", "text")
        #expect(try await tool.run("export", id, tool.path("file")).code == 74)
        #expect(try await tool.run("export", id, tool.path("file/below")).code == 74)
    }

    @Test func `plain folders are imported as they are, and what is broken is told with exit 65`() async throws {
        let tool = try await LibraryTool()
        try tool.write("in/b/a.jpg", "PHOTO 1")
        try tool.write("in/b/notes.txt", "text")
        try tool.write("in/c.flac", "SOUND")
        try tool.write("in/.hidden", "PHOTO")
        try tool.write("in/settings.json", "{}")
        try tool.write("in/d.jpg", "PHOTO")
        try tool.write("in/d.jpg.json", "{ broken")
        try FileManager.default.createSymbolicLink(
            atPath: tool.path("in/link.jpg"),
            withDestinationPath: tool.path("in/c.flac")
        )
        let said = try await tool.run("import", tool.path("in"), "--json")
        #expect(said.code == 65)
        let summary = try #require(try said.json() as? [String: Any])
        #expect(summary["imported"] as? Int == 2 && summary["leftOut"] as? Int == 3)
        let failed = (summary["failed"] as? [[String: String]])?.compactMap { $0["file"] } ?? []
        #expect(failed.map { $0.split(separator: "/").last ?? "" } == ["d.jpg.json", "notes.txt"])
        #expect(said.messages.contains("2 files imported, 2 failed, 3 left out"))
        #expect(try await tool.run("import", tool.path("none")).code == 74)
    }

    @Test func `a file that was damaged after its export is not imported, nor facts without a file`() async throws {
        let tool = try await exported()
        try tool.write("out/2023/11/a.original.jpg", "PHOTO !")
        try FileManager.default.removeItem(atPath: tool.path("out/2023/11/sound"))
        let other = try await LibraryTool()
        let said = try await other.run("import", tool.path("out"))
        #expect(said.code == 65 && said.messages.contains("SHA-256") && said.messages.contains("is missing"))
        #expect(said.messages.contains("3 files imported, 2 failed"))
    }

    @Test func `an album that is here already is filled, and a refusal ends it all`() async throws {
        let tool = try await exported()
        let other = try await LibraryTool()
        _ = try await other.run("album", "create", "Trip")
        _ = try await other.run("import", tool.path("out"))
        let names = try await other.run("album", "list", "--json").rows().compactMap { $0["name"] as? String }
        #expect(names.sorted() == ["Empty", "Trip", "Trip"])
        let refused = try await LibraryTool(FakeLibrary([.readWrite: .denied]))
        #expect(try await refused.run("import", tool.path("out")).code == 77)
        #expect(refused.fake.inventory.isEmpty)
        let plain = try await LibraryTool(FakeLibrary([.readWrite: .denied]))
        try plain.write("in/a.jpg", "PHOTO")
        #expect(try await plain.run("import", plain.path("in")).code == 0)
        #expect(plain.fake.inventory.count == 1)
    }
}
