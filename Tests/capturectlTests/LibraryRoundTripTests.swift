import BusSupport
import CaptureBus
import Foundation
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
}
