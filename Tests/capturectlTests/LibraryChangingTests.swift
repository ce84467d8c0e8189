import BusSupport
import CaptureBus
import CaptureKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LibraryChangingTests {
    @Test func `files are added, each is told, and the ids are printed`() async throws {
        let tool = try await LibraryTool()
        let files = [try tool.write("a.jpg", "PHOTO 1"), try tool.write("b.mkv", "MOVIE 2")]
        let said = try await tool.run(["add"] + files)
        #expect(said.code == 0)
        #expect(said.output.split(separator: "\n").map(\.count) == [32, 32])
        #expect(said.messages.contains("a.jpg added") && said.messages.contains("b.mkv added"))
        let rows = try await tool.run("list", "--json", "--order", "name", "--ascending").rows()
        #expect(rows.compactMap { $0["name"] as? String } == ["a.jpg", "b.mkv"])
        #expect(try tool.read("a.jpg") == "PHOTO 1")
    }

    @Test func `a name and an album are given along`() async throws {
        let tool = try await LibraryTool()
        let file = try tool.write("a.jpg", "PHOTO 1")
        let none = try await tool.run("add", file, "--album", "Trip")
        #expect(none.code == 66 && none.messages.contains("no album 'Trip'"))
        #expect(try await tool.run("album", "create", "Trip").code == 0)
        #expect(try await tool.run("add", file, "--album", "Trip", "--name", "c.jpg").code == 0)
        #expect(try await tool.run("list", "--album", "Trip", "--json").rows().first?["name"] as? String == "c.jpg")
    }

    @Test(arguments: [("NoSuchAlbum", 66), ("Denied", 77)] as [(String, Int32)])
    func `what is added and not in its album is told by its id, with that refusal`(code: String, exit: Int32)
        async throws
    {
        let result: [String: BusValue] = [
            "id": .string("a1"), "album-error": .string(code), "remark": .string("it is there, and not in the album"),
        ]
        let fake = FakeLibrary()
        let tool = try await LibraryTool(
            fake,
            replacing: [
                "Import": { daemon, call throws(CaptureError) in
                    try fake.finish(daemon, call.sender, 1, nil, result)
                    return [.uint32(1)]
                }
            ]
        )
        #expect(try await tool.run("album", "create", "Trip").code == 0)
        let said = try await tool.run("add", "--album", "Trip", try tool.write("a.jpg", "PHOTO"))
        #expect(said.code == exit && said.output == "a1\n" && said.messages.contains("not in the album"))
    }

    @Test func `one that is no media does not keep the others out, and is told with exit 65`() async throws {
        let tool = try await LibraryTool()
        let files = [try tool.write("x.txt", "text"), tool.path("none"), try tool.write("b.jpg", "PHOTO")]
        let said = try await tool.run(["add", "--json"] + files)
        #expect(said.code == 65)
        #expect(said.messages.contains("1 of 3 files added") && said.messages.contains("no photo, movie or sound"))
        let rows = try said.rows()
        #expect(rows.map { $0["file"] as? String } == files)
        #expect(rows.map { $0["error"] == nil } == [false, false, true])
        #expect(try await tool.run("add", tool.path("none")).code == 74)
        #expect(try await tool.run("add", tool.folder).messages.contains("is a folder"))
        // A pipe that nobody writes into.
        #expect(unsafe mkfifo(tool.path("pipe"), 0o600) == 0)
        #expect(try await tool.run("add", tool.path("pipe")).code == 65)
    }

    @Test func `who may only add gets no id, and who may not add is refused`() async throws {
        let tool = try await LibraryTool(FakeLibrary([.readWrite: .denied]))
        let file = try tool.write("a.jpg", "PHOTO")
        let said = try await tool.run("add", file)
        #expect(said.code == 0 && said.output.isEmpty && said.messages.contains("a.jpg added"))
        #expect(try await tool.run("add", file, "--album", "Trip").code == 77)
        tool.fake.setStatus(.addOnly, .denied)
        let refused = try await tool.run("add", file, file)
        #expect(refused.code == 77 && tool.calls("Import").count == 2)
    }

    @Test func `who was refused reading changes nothing, with 77`() async throws {
        let tool = try await LibraryTool(FakeLibrary([.readWrite: .denied]))
        let id = tool.fake.put("a.jpg", "PHOTO")
        let file = try tool.write("b.jpg", "PHOTO")
        for arguments in [
            ["delete", id], ["delete", String(id.prefix(6))], ["restore", id], ["favourite", id], ["edit", id, file],
            ["revert", id], ["album", "create", "Trip"], ["album", "rename", "Trip", "x"], ["album", "delete", "Trip"],
            ["album", "add", "Trip", id], ["album", "remove", "Trip", id], ["album", "move", "Trip", id],
            ["export", "--all", tool.path("out")],
            ["check"], ["repair"],
        ] {
            #expect(try await tool.run(arguments).code == 77, "\(arguments)")
        }
        tool.fake.setStatus(.readWrite, .restricted)
        let restricted = try await tool.run("delete", id)
        #expect(restricted.code == 77 && restricted.messages.contains("policy"))
        #expect(tool.fake.inventory.count == 1)
    }

    @Test func `what is confirmed goes into the bin, and is taken out`() async throws {
        let tool = try await LibraryTool()
        let ids = ["a.jpg", "b.jpg"].map { tool.fake.put($0, "PHOTO") }
        tool.fake.confirms(false)
        #expect(try await tool.run("delete", ids[0]).code == 77)
        tool.fake.confirms(true)
        let deleted = try await tool.run("delete", String(ids[0].prefix(8)), ids[1], ids[1])
        #expect(deleted.code == 0 && deleted.messages.contains("2 assets moved to the bin"))
        #expect(try await tool.run("list", "--bin", "--json").rows().count == 2)
        #expect(try await tool.run("list", "--json").rows().isEmpty)
        // Shortened, it is looked for in the bin.
        #expect(try await tool.run("restore", String(ids[0].prefix(8))).code == 0)
        #expect(try await tool.run("list", "--json").rows().count == 1)
        #expect(try await tool.run("restore", "abcdef").code == 66)
        tool.fake.confirms(false)
        #expect(try await tool.run("empty").code == 77)
        tool.fake.confirms(true)
        let emptied = try await tool.run("empty")
        #expect(emptied.code == 0 && emptied.messages.contains("1 asset erased"))
        #expect(try await tool.run("list", "--bin", "--json").rows().isEmpty)
        #expect(try await tool.run("empty").messages.contains("the bin is empty"))
    }

    @Test func `favourites, edits and albums`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO")
        func fact(_ name: String) async throws -> Bool? {
            let shown = try await tool.run("show", id, "--json").json() as? [String: Any]
            return shown?[name] as? Bool
        }
        #expect(try await tool.run("favourite", id).code == 0)
        #expect(try await fact("favourite") == true)
        #expect(try await tool.run("favourite", id, "--off").code == 0)
        #expect(try await fact("favourite") == false)
        #expect(try await tool.run("edit", id, try tool.write("e.jpg", "PHOTO edited")).code == 0)
        #expect(try await fact("edited") == true)
        #expect(try await tool.run("revert", id).code == 0)
        #expect(try await fact("edited") == false)
        #expect(try await tool.run("revert", id).code == 75)
        let album = try await tool.run("album", "create", "Trip").output.trimmingCharacters(in: .newlines)
        #expect(try await tool.run("album", "add", "Trip", id).code == 0)
        #expect(try await tool.run("album", "rename", album, "Journey").code == 0)
        let rows = try await tool.run("album", "list", "--json").rows()
        #expect(rows.map { $0["name"] as? String } == ["Journey"] && rows.first?["count"] as? Int == 1)
        #expect(try await tool.run("album", "list").output.contains("Journey"))
        #expect(try await tool.run("album", "remove", "Journey", id).code == 0)
        #expect(try await tool.run("album", "create", "Journey").code == 0)
        let ambiguous = try await tool.run("album", "delete", "Journey")
        #expect(ambiguous.code == 64 && ambiguous.messages.contains(album))
        #expect(try await tool.run("album", "delete", album).code == 0)
        #expect(try await tool.run("album", "delete", "none").code == 66)
    }

    @Test func `assets are moved within an album`() async throws {
        let tool = try await LibraryTool()
        let ids = (1...3).map { tool.fake.put("\($0).jpg", "PHOTO \($0)") }
        #expect(try await tool.run("album", "create", "Trip").code == 0)
        #expect(try await tool.run(["album", "add", "Trip"] + ids).code == 0)
        func order() async throws -> [String?] {
            try await tool.run("list", "--album", "Trip", "--order", "position", "--ascending", "--json").rows()
                .map { $0["name"] as? String }
        }
        let before = String(ids[0].prefix(12))
        #expect(try await tool.run("album", "move", "Trip", ids[2], ids[1], "--before", before).code == 0)
        #expect(try await order() == ["3.jpg", "2.jpg", "1.jpg"])
        #expect(try await tool.run("album", "move", "Trip", ids[2]).code == 0)
        #expect(try await order() == ["2.jpg", "1.jpg", "3.jpg"])
        #expect(try await tool.run("album", "move", "Trip", ids[2], "--before", "x").code == 64)
        #expect(try await tool.run("album", "move", "None", ids[2]).code == 66)
    }

    @Test func `check tells faults with exit 65, repair mends them`() async throws {
        let tool = try await LibraryTool()
        #expect(try await tool.run("check").messages.contains("nothing is wrong"))
        var fault = LibraryFault()
        fault.kind = "missing"
        fault.asset = "ab"
        fault.name = "a.jpg"
        fault.message = "gone"
        fault.outcome = "1 went to the bin"
        tool.fake.setFaults([fault])
        let checked = try await tool.run("check", "--json")
        #expect(checked.code == 65)
        #expect(try checked.rows().first?["kind"] as? String == "missing")
        let repaired = try await tool.run("repair")
        #expect(
            repaired.code == 0 && repaired.output.contains("gone: 1 went to the bin")
                && repaired.messages.contains("1 fault repaired")
        )
        #expect(try await tool.run("check").code == 0)
    }

    @Test func `Ctrl-C stops what is being added, and nothing is there`() async throws {
        let fake = FakeLibrary()
        fake.holdsImports(true)
        let (begun, feed) = AsyncStream<Void>.makeStream()
        let answer: FakeDaemon.Answer = { daemon, call throws(CaptureError) in
            defer { feed.yield() }
            return try await fake.answers["Import"]?(daemon, call) ?? []
        }
        let tool = try await LibraryTool(fake, replacing: ["Import": answer])
        let file = try tool.write("a.jpg", "PHOTO")
        let process = ProcessHandle()
        async let said = tool.run(["add", file], started: process)
        for await _ in begun { break }
        // The command gets its request's number, then listens for the signal; again until it heard.
        while tool.calls("Cancel").isEmpty {
            process.interrupt()
            try await Task.sleep(for: .milliseconds(20))
        }
        let end = try await said
        #expect(end.code == 75 && fake.inventory.isEmpty)
    }
}
