import BusSupport
import CaptureBus
import Testing

@testable import CaptureKit
@testable import capturectl

@Suite(.timeLimit(.minutes(10)))
struct LibraryPickTests {
    @Test func `what is picked is copied into a folder, and nothing that is there is replaced`() async throws {
        let tool = try await LibraryTool(FakeLibrary([.readWrite: .denied]))
        let ids = [tool.fake.put("a.jpg", "PHOTO one"), tool.fake.put("a.jpg", "PHOTO two")]
        tool.fake.picks(ids)
        let said = try await tool.run("pick", "--to", tool.path("new/picked"), "--kind", "photo", "--limit", "2")
        #expect(said.code == 0 && said.messages.isEmpty)
        #expect(said.output == "\(tool.path("new/picked"))/a.jpg\n\(tool.path("new/picked"))/a (2).jpg\n")
        #expect(try tool.read("new/picked/a.jpg") == "PHOTO one")
        #expect(try tool.read("new/picked/a (2).jpg") == "PHOTO two")
        let rows = try await tool.run("pick", "--to", tool.path("new/picked"), "--json").rows()
        #expect(rows.map { $0["file"] as? String } == [3, 4].map { tool.path("new/picked/a (\($0)).jpg") })
        #expect(rows.first?["kind"] as? String == "photo")
    }

    @Test(arguments: [AuthorizationStatus.denied, .limited, .authorized])
    func `the id of what was picked finds it, as far as the program may read`(status: AuthorizationStatus) async throws
    {
        let tool = try await LibraryTool(FakeLibrary([.readWrite: status]))
        let other: [String: BusValue] = ["program": .string("exe:/other")]
        tool.fake.picks([tool.fake.put("a.jpg", "PHOTO one", other)])
        let rows = try await tool.run("pick", "--to", tool.path("picked"), "--json").rows()
        let id = try #require(rows.first?["id"] as? String)
        let said = try await tool.run("show", id, "--json")
        #expect(said.code == (status == .authorized ? 0 : 66), "\(said.messages)")
        if status == .authorized {
            #expect((try said.json() as? [String: Any])?["name"] as? String == "a.jpg")
        } else {
            #expect(said.messages.contains("there is no asset \(id)"), "\(said.messages)")
        }
    }

    @Test func `picking nothing is 75, and leaves no folder`() async throws {
        let tool = try await LibraryTool()
        let said = try await tool.run("pick", "--to", tool.path("none"))
        #expect(said.code == 75 && said.messages.contains("closed"))
        #expect(tool.files(in: ".").isEmpty && MediaFolder.kind(of: tool.path("none")) == nil)
    }

    @Test func `nobody picks for a place where nothing can be put`() async throws {
        let tool = try await LibraryTool()
        let file = try tool.write("file", "text")
        for place in [file, file + "/a/b"] {
            let said = try await tool.run("pick", "--to", place)
            #expect(said.code == 74 && said.messages.contains("file is not a folder"), "\(said.messages)")
        }
        #expect(tool.calls("Pick").isEmpty)
    }

    @Test(arguments: [["--limit", "0"], ["--limit", "1001"], ["--to", ""], ["--kind", "text"]])
    func `options that cannot be are usage errors`(options: [String]) async throws {
        let tool = try await LibraryTool()
        #expect(try await tool.run(["pick"] + options).code == 64)
        #expect(tool.calls("Pick").isEmpty)
    }

    @Test func `settings say how many more and fewer`() async throws {
        let tool = try await LibraryTool()
        tool.fake.picks(["a"])
        let said = try await tool.run("choose", "exe:/usr/bin/album")
        #expect(said.code == 0 && said.messages.contains("exe:/usr/bin/album may read 1 asset more and 0 assets fewer"))
        #expect(tool.calls("Choose").first?.arguments[0].text == "exe:/usr/bin/album")
        #expect(try await tool.run("choose", "album").code == 64)
    }

    @Test func `a name becomes one that a file can have`() {
        let names = ["a/b.jpg", "..", "", String(repeating: "x", count: 300) + ".jpg"].map { PickedFile.name($0, 2) }
        #expect(names[0] == "a_b (2).jpg" && names[1] == "picked (2)" && names[2] == "picked (2)")
        #expect(names[3].utf8.count == 255 && names[3].hasSuffix("x (2).jpg"))
    }
}
