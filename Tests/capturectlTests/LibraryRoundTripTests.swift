import BusSupport
import CaptureBus
import CaptureKit
import Foundation
import Synchronization
import Testing

/// What an export and an import keep that is easily lost between them.
@Suite(.timeLimit(.minutes(10)))
struct LibraryRoundTripTests {
    /// Names of which one is another's with the ending of facts.
    private func alike() async throws -> LibraryTool {
        let tool = try await LibraryTool()
        let ids = ["x.jpg", "x.jpg.json", "x.jpg.json.json", "x.jpg.JSON", ".json", "x.jpg.json_"].map { name in
            tool.fake.put(name, "PHOTO \(name)", ["favourite": .bool(name != "x.jpg.json")])
        }
        _ = try await tool.run("album", "create", "Trip")
        _ = try await tool.run(["album", "add", "Trip"] + ids)
        for id in [ids[0], ids[2]] { _ = try await tool.run("edit", id, try tool.write("e.jpg", "PHOTO edited \(id)")) }
        return tool
    }

    @Test func `names that end like those of facts keep their facts, and others' names too`() async throws {
        let tool = try await alike()
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 0)
        let files = tool.files(in: "out")
        #expect(files.filter { $0.lowercased().hasSuffix(".json") }.count == 7, "\(files)")
        let other = try await LibraryTool()
        let imported = try await other.run("import", tool.path("out"))
        #expect(imported.code == 0 && imported.messages.contains("6 files imported\n"), "\(imported.messages)")
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    @Test func `what an export of before left a name like that of facts comes with its own`() async throws {
        let tool = try await alike()
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 0)
        // The files have the names of the assets then.
        let folder = tool.path("out/2023/11/")
        for (now, before) in [("x.jpg.json.json_", "x.jpg.json.json"), (".json_", ".json")] {
            let facts = try tool.read("out/2023/11/\(now).json")
            let ending = now.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
            let original = String(now.dropLast(ending.count + 1)) + ".original." + ending
            try tool.write("out/2023/11/\(before).json", facts.replacing("\"\(now)\"", with: "\"\(before)\""))
            try FileManager.default.removeItem(atPath: folder + now + ".json")
            try FileManager.default.moveItem(atPath: folder + now, toPath: folder + before)
            #expect(now == ".json_" || FileManager.default.fileExists(atPath: folder + original))
        }
        let other = try await LibraryTool()
        let imported = try await other.run("import", tool.path("out"))
        #expect(imported.code == 0 && imported.messages.contains("6 files imported\n"), "\(imported.messages)")
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    /// A library with assets in two albums whose order is neither that of names nor that of times.
    private func ordered() async throws -> LibraryTool {
        let tool = try await LibraryTool()
        let ids = ["p.jpg", "s.jpg", "v.jpg"].map { tool.fake.put($0, "PHOTO \($0)") }
        for name in ["Forth", "Back"] { _ = try await tool.run("album", "create", name) }
        _ = try await tool.run(["album", "add", "Forth"] + [ids[2], ids[1], ids[0]])
        _ = try await tool.run(["album", "add", "Back"] + [ids[1], ids[0], ids[2]])
        _ = try await tool.run("export", "--all", tool.path("out"))
        return tool
    }

    @Test func `albums keep their order`() async throws {
        let tool = try await ordered()
        let other = try await LibraryTool()
        #expect(try await other.run("import", tool.path("out")).code == 0)
        #expect(other.fake.names(inAlbum: "Forth") == ["v.jpg", "s.jpg", "p.jpg"])
        #expect(other.fake.names(inAlbum: "Back") == ["s.jpg", "p.jpg", "v.jpg"])
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    @Test func `albums of an import that was broken off have their order after the next`() async throws {
        let tool = try await ordered()
        let fake = FakeLibrary()
        let left = Mutex(2)
        let other = try await LibraryTool(
            fake,
            replacing: [
                "Import": { daemon, call throws(CaptureError) in
                    let mayGoOn = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    guard mayGoOn, let add = fake.answers["Import"] else {
                        throw CaptureError(.overQuota, "the library is full")
                    }
                    return try await add(daemon, call)
                }
            ]
        )
        let broken = try await other.run("import", tool.path("out"))
        #expect(broken.code != 0 && broken.messages.contains("2 files imported"), "\(broken.messages)")
        #expect(broken.messages.contains("import again"))
        left.withLock { $0 = 10 }
        let again = try await other.run("import", tool.path("out"))
        #expect(again.code == 0 && again.messages.contains("1 file imported, 2 already there"), "\(again.messages)")
        #expect(other.fake.names(inAlbum: "Forth") == ["v.jpg", "s.jpg", "p.jpg"])
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    @Test func `an album that cannot be filled is told, and the next import fills it`() async throws {
        let tool = try await ordered()
        let fake = FakeLibrary()
        let isBroken = Mutex(true)
        let lost = Mutex<String?>(nil)
        let other = try await LibraryTool(
            fake,
            replacing: [
                "CreateAlbum": { daemon, call throws(CaptureError) in
                    guard !isBroken.withLock({ $0 }) || call.arguments[0].text != "Back" else {
                        throw CaptureError(.overQuota, "there are too many albums")
                    }
                    return try await fake.answers["CreateAlbum"]?(daemon, call) ?? []
                },
                "AddToAlbum": { daemon, call throws(CaptureError) in
                    let ids = call.arguments[1].texts ?? []
                    let gone = lost.withLock { lost in
                        lost = lost ?? ids.first
                        return lost
                    }
                    if isBroken.withLock({ $0 }), let gone, ids.contains(gone) {
                        throw CaptureError(.noSuchAsset, "there is no asset \(gone)")
                    }
                    return try await fake.answers["AddToAlbum"]?(daemon, call) ?? []
                },
            ]
        )
        let said = try await other.run("import", tool.path("out"), "--json")
        #expect(said.code == 65 && said.messages.contains("3 files imported, 2 albums not filled"), "\(said.messages)")
        #expect(said.messages.contains("1 of 3 assets are not in it"))
        let failed = (try said.json() as? [String: Any])?["failed"] as? [[String: String]]
        #expect(failed?.compactMap { $0["album"] }.sorted() == ["Back", "Forth"])
        #expect(fake.names(inAlbum: "Forth") == ["s.jpg", "p.jpg"])
        isBroken.withLock { $0 = false }
        #expect(try await other.run("import", tool.path("out")).code == 0)
        #expect(fake.names(inAlbum: "Back") == ["s.jpg", "p.jpg", "v.jpg"])
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    @Test func `an album of more than can be added at a time is filled in its order`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO")
        _ = try await tool.run("album", "create", "Trip")
        _ = try await tool.run("album", "add", "Trip", id)
        _ = try await tool.run("export", "--all", tool.path("out"))
        let facts = try tool.read("out/2023/11/a.jpg.json")
        for number in 0..<1001 {
            try tool.write("in/\(number).jpg", "PHOTO")
            try tool.write(
                "in/\(number).jpg.json",
                facts.replacing("\"a.jpg\"", with: "\"\(number).jpg\"")
                    .replacing("\"\(id)\"", with: "\"\(number)\"")
                    .replacing("\"position\" : 0", with: "\"position\" : \(1000 - number)")
            )
        }
        let other = try await LibraryTool()
        let said = try await other.run("import", tool.path("in"))
        #expect(said.code == 0 && said.messages.contains("1001 files imported\n"), "\(said)")
        #expect(other.fake.names(inAlbum: "Trip") == (0..<1001).reversed().map { "\($0).jpg" })
    }

    @Test func `of an asset that was exported again after a change the latest alone is imported`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("p1.jpg", "PHOTO 1")
        tool.fake.put("p2.jpg", "PHOTO 2")
        _ = try await tool.run("edit", id, try tool.write("e.jpg", "PHOTO edited"))
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 0)
        _ = try await tool.run("revert", id)
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 0)
        let names = ["p1 (2).jpg", "p1 (2).jpg.json", "p1.jpg", "p1.jpg.json", "p1.original.jpg"]
        #expect(tool.files(in: "out/2023/11").prefix(5) == names[...])
        let other = try await LibraryTool()
        let said = try await other.run("import", tool.path("out"))
        #expect(said.code == 0 && said.messages.contains("2 files imported, 1 left out"), "\(said.messages)")
        #expect(said.messages.contains("/p1.jpg, an older version of "))
        #expect(other.fake.inventory == tool.fake.inventory)
        // Whichever of them has the plain name.
        _ = try await tool.run("edit", id, try tool.write("f.jpg", "PHOTO edited again"))
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 0)
        let third = try await LibraryTool()
        #expect(try await third.run("import", tool.path("out")).messages.contains("2 files imported, 2 left out"))
        #expect(third.fake.inventory == tool.fake.inventory)
    }

    @Test func `of an asset whose edit is missing the original is exported, and that is a failure`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO 1", ["favourite": .bool(true)])
        tool.fake.put("b.jpg", "PHOTO 2")
        _ = try await tool.run("edit", id, try tool.write("e.jpg", "PHOTO edited"))
        tool.fake.loseEdit(of: id)
        for counts in ["2 assets exported", "0 assets exported, 2 already there"] {
            let said = try await tool.run("export", "--all", tool.path("out"))
            #expect(said.code == 74 && said.messages.contains(counts + ", 1 without the edit"), "\(said.messages)")
            #expect(said.messages.contains("a.jpg: its edit cannot be read, so only the original is exported"))
            #expect(said.messages.contains("1 asset exported without the edit"))
        }
        let files = ["2023/11/a.jpg", "2023/11/a.jpg.json", "2023/11/b.jpg", "2023/11/b.jpg.json", "albums.json"]
        #expect(tool.files(in: "out") == files)
        let facts = try JSONSerialization.jsonObject(with: Data(try tool.read("out/2023/11/a.jpg.json").utf8))
        #expect((facts as? [String: Any])?["size"] as? Int == 7 && (facts as? [String: Any])?["original"] == nil)
        let other = try await LibraryTool()
        #expect(try await other.run("import", tool.path("out")).code == 0)
        // A library without an edit is as one that has lost it.
        _ = try await tool.run("edit", id, tool.path("e.jpg"))
        _ = try await tool.run("revert", id)
        #expect(other.fake.inventory == tool.fake.inventory)
    }

    @Test func `what is damaged in the library is not exported as if it were whole`() async throws {
        let tool = try await LibraryTool()
        let hashes = (try Checksum.sha256("PHOTO 1".utf8), try Checksum.sha256("PHOTO edited".utf8))
        let wrong = BusValue.string(String(repeating: "0", count: 64))
        tool.fake.put("whole.jpg", "PHOTO 1", ["sha256": .string(hashes.0)])
        tool.fake.put("damaged.jpg", "PHOTO 1", ["sha256": wrong])
        let said = try await tool.run("export", "--all", tool.path("out"))
        #expect(said.code == 65 && said.messages.contains("1 asset exported, 1 failed"), "\(said.messages)")
        #expect(said.messages.contains("damaged.jpg: its file in the library is damaged"))
        #expect(tool.files(in: "out") == ["2023/11/whole.jpg", "2023/11/whole.jpg.json", "albums.json"])
        // Of an edit and its original the one that is whole.
        for (place, facts, content, words) in [
            ("edit", ["sha256": wrong, "original-sha256": .string(hashes.0)], "PHOTO 1", "without the edit"),
            (
                "original", ["sha256": .string(hashes.1), "original-sha256": wrong], "PHOTO edited",
                "without the original"
            ),
        ] {
            let other = try await LibraryTool()
            let id = other.fake.put("a.jpg", "PHOTO 1", facts)
            _ = try await other.run("edit", id, try other.write("e.jpg", "PHOTO edited"))
            for counts in ["1 asset exported", "0 assets exported, 1 already there"] {
                let said = try await other.run("export", "--all", other.path(place))
                #expect(said.code == 65 && said.messages.contains("\(counts), 1 \(words)"), "\(said.messages)")
            }
            #expect(other.files(in: place) == ["2023/11/a.jpg", "2023/11/a.jpg.json", "albums.json"])
            #expect(try other.read("\(place)/2023/11/a.jpg") == content)
        }
    }

    @Test func `an edit that an export before saved is imported, though it is missing now`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO 1")
        _ = try await tool.run("edit", id, try tool.write("e.jpg", "PHOTO edited"))
        let inventory = tool.fake.inventory
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 0)
        tool.fake.loseEdit(of: id)
        #expect(try await tool.run("export", "--all", tool.path("out")).code == 74)
        let other = try await LibraryTool()
        #expect(try await other.run("import", tool.path("out")).code == 0)
        #expect(other.fake.inventory == inventory)
    }
}
