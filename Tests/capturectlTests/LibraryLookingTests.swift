import BusSupport
import CaptureBus
import CaptureKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LibraryLookingTests {
    @Test func `the list aligns, with sizes and durations for people`() async throws {
        let tool = try await LibraryTool()
        let photo = tool.fake.put("a.jpg", "PHOTO" + String(repeating: "x", count: 1531))
        tool.fake.put("a long name.mkv", "MOVIE", ["favourite": .bool(true), "created": .int64(1_700_000_060_000)])
        tool.fake.put("c.flac", "SOUND", ["created": .int64(1_600_000_000_000)])
        let said = try await tool.run("list")
        #expect(said.code == 0)
        let lines = said.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 4)
        #expect(lines[0].hasPrefix("ID            KIND   TAKEN                NAME             "))
        let row = "movie  2023-11-14 22:14:20  a long name.mkv      5 B  00:02.5  640x480  favourite  "
        #expect(lines[1].contains(row))
        #expect(lines[2].hasPrefix(photo.prefix(12) + "  photo  2023-11-14 22:13:20  a.jpg            1.5 KiB "))
        #expect(lines[3].contains("sound  2020-09-13 12:26:40  c.flac  ") && lines[3].hasSuffix("exe:/test"))
    }

    @Test func `in JSON every fact is there under its name`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO", ["place": .structure([.double(1.5), .double(-2)])])
        let row = try #require(try await tool.run("list", "--json").rows().first)
        #expect(row["id"] as? String == id && row["kind"] as? String == "photo" && row["size"] as? Int == 5)
        #expect(row["place"] as? [String: Double] == ["latitude": 1.5, "longitude": -2])
        #expect(row["favourite"] as? Bool == false && row["binned"] == nil)
        let shown = try await tool.run("show", id, "--json")
        #expect(shown.code == 0)
        #expect(try shown.json() as? NSDictionary == row as NSDictionary)
    }

    @Test func `options become conditions, and wrong ones say what is right`() async throws {
        let tool = try await LibraryTool()
        tool.fake.put("a.jpg", "PHOTO")
        tool.fake.put("b.mkv", "MOVIE", ["favourite": .bool(true)])
        tool.fake.put("c.flac", "SOUND", ["program": .string("exe:/other")])
        for (options, names) in [
            (["--kind", "photo", "--kind", "sound"], ["a.jpg", "c.flac"]), (["--favourite"], ["b.mkv"]),
            (["--no-favourite"], ["a.jpg", "c.flac"]), (["--program", "exe:/other"], ["c.flac"]),
            (["--from", "2023-11-14", "--until", "2023-11-15"], ["a.jpg", "b.mkv", "c.flac"]),
            (["--until", "2023-11-14"], []), (["--bin"], []),
        ] {
            let said = try await tool.run(["list", "--json", "--order", "name", "--ascending"] + options)
            #expect(try said.rows().compactMap { $0["name"] as? String } == names, "\(options)")
            let count = try await tool.run(["count"] + options)
            #expect(count.output == "\(names.count)\n", "\(options) \(count.messages)")
        }
    }

    @Test(arguments: [
        ["list", "--kind", "drawing"], ["list", "--limit", "0"], ["list", "--limit", "5", "--all"],
        ["list", "--page", "0"], ["list", "--page", "-1"], ["list", "--page", "two"], ["list", "--page", "2", "--all"],
        ["list", "--from", "soon"], ["list", "--from", "today", "--until", "yesterday"], ["list", "--album", ""],
        ["list", "--program", "cheese"], ["list", "--order", "size"], ["list", "--order", "position"], ["show", "xyz"],
        ["show", "12345"], ["show"],
        ["show", "0123456789abcdef0123456789abcdef0"], ["show", String(repeating: "a", count: 87)],
        ["thumbnail", "123456", "/tmp/x.jpg", "--size", "huge"],
        ["changes", "--since", ""], ["delete"], ["delete", "zz"], ["favourite", "zz"], ["add"], ["add", ""],
        ["add", "--name", "x", "a", "b"], ["add", "--album", "", "a"], ["export"], ["export", "--all"],
        ["export", "123456"], ["export", "--all", "123456", "/tmp"], ["export", "zz", "/tmp"], ["import"],
        ["import", ""], ["album", "create", ""], ["album", "rename", "a", ""], ["album", "add", "a"],
        ["album", "add", "a", "zz"], ["edit", "123456"], ["revert", "1"], ["restore", "1"], ["bogus"],
    ])
    func `a wrong command line exits 64 before anyone is asked`(arguments: [String]) async throws {
        let tool = try await LibraryTool(FakeLibrary([.readWrite: .notDetermined, .addOnly: .notDetermined]))
        let said = try await tool.run(arguments)
        #expect(said.code == 64, "\(said.messages)")
        #expect(!said.messages.isEmpty && said.output.isEmpty)
        #expect(tool.fake.asked.isEmpty)
    }

    @Test func `what is in an album is listed in the album's order`() async throws {
        let tool = try await LibraryTool()
        let ids = ["b.jpg", "c.jpg", "a.jpg"].map { tool.fake.put($0, "PHOTO \($0)") }
        _ = try await tool.run("album", "create", "Trip")
        #expect(try await tool.run(["album", "add", "Trip"] + [ids[2], ids[0], ids[1]]).code == 0)
        let said = try await tool.run("list", "--album", "Trip", "--order", "position", "--ascending", "--json")
        #expect(try said.rows().compactMap { $0["name"] as? String } == ["a.jpg", "b.jpg", "c.jpg"])
        let plain = try await tool.run("list", "--album", "Trip", "--order", "created", "--ascending", "--json")
        #expect(try plain.rows().compactMap { $0["name"] as? String } == ["b.jpg", "c.jpg", "a.jpg"])
    }

    @Test func `a hundred are listed, and that there are more is said`() async throws {
        let tool = try await LibraryTool()
        for number in 0..<1200 { tool.fake.put("\(number).jpg", "PHOTO") }
        let first = try await tool.run("list", "--json")
        #expect(try first.rows().count == 100 && first.messages.contains("--all"))
        #expect(try await tool.run("list", "--json", "--limit", "1100").rows().count == 1100)
        let all = try await tool.run("list", "--json", "--all")
        #expect(try all.rows().count == 1200 && all.messages.isEmpty)
    }

    @Test func `the list goes on page by page`() async throws {
        let tool = try await LibraryTool()
        let names = (0..<1250).map { "\($0).jpg" }
        for name in names { tool.fake.put(name, "PHOTO") }
        for (options, range, next) in [
            ("", 0..<100, "--page 2"), ("--page 1", 0..<100, "--page 2"), ("--page 2", 100..<200, "--page 3"),
            ("--page 12", 1100..<1200, "--page 13"), ("--page 13", 1200..<1250, nil),
            ("--limit 7 --page 170", 1183..<1190, "--limit 7 --page 171"),
            ("--limit 1100 --page 2", 1100..<1250, nil), ("--limit 625 --page 2", 625..<1250, nil),
        ] {
            let words = options.split(separator: " ").map(String.init)
            let said = try await tool.run(["list", "--json", "--ascending"] + words)
            #expect(try said.rows().compactMap { $0["name"] as? String } == Array(names[range]), "\(options)")
            let note = next.map { "there are more: \($0) lists the next ones, --all lists all\n" }
            #expect(said.messages == note ?? "", "\(options)")
        }
        for page in ["14", "\(Int.max)"] {
            let none = try await tool.run("list", "--json", "--page", page)
            #expect(none.code == 0 && none.output == "[]\n")
            #expect(none.messages == "there is nothing on page \(page)\n")
        }
    }

    @Test func `an id is shortened while it is the only one that begins so`() async throws {
        let tool = try await LibraryTool()
        let ids = (0..<3).map { tool.fake.put("\($0).jpg", "PHOTO") }
        tool.fake.put("x.jpg", "PHOTO", ["id": .string(String(ids[0].prefix(8)) + String(repeating: "f", count: 24))])
        #expect(try await tool.run("show", String(ids[1].prefix(6))).output.contains(ids[1]))
        #expect(try await tool.run("show", ids[1].uppercased()).output.contains(ids[1]))
        let ambiguous = try await tool.run("show", String(ids[0].prefix(8)))
        #expect(ambiguous.code == 64 && ambiguous.messages.contains("more digits"))
        #expect(try await tool.run("show", String(ids[0].prefix(9))).code == 0)
        let none = try await tool.run("show", "abcdef123")
        #expect(none.code == 66 && none.messages.contains("abcdef123"))
        #expect(try await tool.run("show", String(repeating: "0", count: 32)).code == 66)
        // Not by a pass over everything.
        #expect(tool.calls("Fetch").isEmpty)
    }

    @Test func `all facts of one are shown in words`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put(
            "a\u{1B}.mkv",
            "MOVIE",
            ["device": .string("Cam"), "place": .structure([.double(1.5), .double(2.5)])]
        )
        let said = try await tool.run("show", id)
        for line in [
            "id         \(id)", "name       a?.mkv", "kind       movie", "type       image/jpeg, mjpeg",
            "size       5 B (5 bytes)", "pixels     640x480", "lasts      00:02.5", "taken      2023-11-14 22:13:20",
            "device     Cam", "place      1.5, 2.5", "favourite  no", "edited     no", "program    exe:/test",
        ] {
            #expect(said.output.contains(line + "\n"), "\(line)")
        }
        #expect(!said.output.contains("in bin"))
    }

    @Test(arguments: [
        ["list"], ["count"], ["album", "list"], ["changes"], ["show", "012345"], ["thumbnail", "012345", "no.jpg"],
    ])
    func `a no to the question that a look puts is a refusal`(arguments: [String]) async throws {
        let tool = try await LibraryTool(FakeLibrary([.readWrite: .notDetermined], answers: [.readWrite: .denied]))
        let said = try await tool.run(arguments)
        #expect(said.code == 77 && said.output.isEmpty && said.messages.contains("denied to this program"))
        #expect(tool.fake.asked == [.readWrite])
    }

    @Test func `who is refused is told why the list is empty, and that is no failure`() async throws {
        let tool = try await LibraryTool(FakeLibrary([.readWrite: .denied]))
        let id = tool.fake.put("a.jpg", "PHOTO")
        for arguments in [["list"], ["count"], ["album", "list"], ["list", "--album", "Trip"], ["changes"]] {
            let said = try await tool.run(arguments)
            #expect(said.code == 0 && said.messages.contains("denied to this program"), "\(arguments)")
        }
        #expect(try await tool.run("list", "--json").output == "[]\n")
        let shown = try await tool.run("show", id)
        #expect(shown.code == 66 && shown.messages.contains("denied to this program"))
        let status = try await tool.run("status")
        #expect(status.output == "add-only       authorized\nread-write     denied\nwithout level  denied\n")
        tool.fake.setStatus(.readWrite, .restricted)
        #expect(try await tool.run("list").messages.contains("restricted by policy"))
        tool.fake.setStatus(.readWrite, .limited)
        let limited = try await tool.run("list")
        #expect(limited.messages.contains("only chosen assets") && limited.output.contains("a.jpg"))
        let words = try await tool.run("status", "--json").json() as? [String: String]
        #expect(words == ["addOnly": "authorized", "readWrite": "limited", "withoutLevel": "authorized"])
    }

    @Test func `what was never decided is asked for once, and a closed question is told`() async throws {
        let asked = try await LibraryTool(FakeLibrary([.readWrite: .notDetermined], answers: [.readWrite: .authorized]))
        asked.fake.put("a.jpg", "PHOTO")
        #expect(try await asked.run("list").output.contains("a.jpg"))
        #expect(asked.fake.asked == [.readWrite])
        let closed = try await LibraryTool(FakeLibrary([.readWrite: .notDetermined]))
        #expect(try await closed.run("list").code == 75)
        #expect(try await closed.run("status").code == 0)
    }

    @Test func `a thumbnail is written, and over nothing`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO")
        #expect(try await tool.run("thumbnail", id, tool.path("t.jpg"), "--size", "medium").code == 0)
        #expect(try tool.read("t.jpg") == "JPEG medium")
        #expect(try await tool.run("thumbnail", id, tool.path("t.jpg")).code == 74)
        #expect(try await tool.run("thumbnail", id, tool.path("t.jpg"), "--overwrite").code == 0)
        #expect(try tool.read("t.jpg") == "JPEG small")
        #expect(try await tool.run("thumbnail", "abcdef", tool.path("u.jpg")).code == 66)
        #expect(tool.files(in: "") == ["t.jpg"])
    }

    @Test func `changes since a token are told, and the token to go on from`() async throws {
        let tool = try await LibraryTool()
        let first = tool.fake.put("a.jpg", "PHOTO")
        let token = try await tool.run("changes").output
        #expect(token == "token    t1\n")
        let second = tool.fake.put("b.jpg", "PHOTO")
        _ = try await tool.run("favourite", first)
        _ = try await tool.run("delete", second)
        let said = try await tool.run("changes", "--since", "t1")
        #expect(
            said.output.split(separator: "\n") == [
                "inserted asset  \(second)  b.jpg", "changed  asset  \(first)  a.jpg", "removed  asset  \(second)",
                "token    t4",
            ]
        )
        let lines = try await tool.run("changes", "--since", "t1", "--json").output.split(separator: "\n")
        let object = try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any]
        #expect(object?["removed"] as? [String] == [second] && object?["token"] as? String == "t4")
        let stale = try await tool.run("changes", "--since", "old")
        #expect(stale.code == 65 && stale.messages.contains("fetch again"))
    }

    @Test func `changes are followed until they are interrupted`() async throws {
        let tool = try await LibraryTool()
        let id = tool.fake.put("a.jpg", "PHOTO")
        let said = try await tool.run(["changes", "--follow"]) { output, interrupt in
            if output == "token    t1\n" { Task { try await tool.run("favourite", id) } }
            if output.hasSuffix("token    t2\n") { interrupt() }
        }
        #expect(said.code == 0)
        #expect(said.output == "token    t1\nchanged  asset  \(id)  a.jpg\ntoken    t2\n")
    }

    @Test func `no daemon exits 69`() async throws {
        let tool = try await LibraryTool()
        await tool.vanish()
        #expect(try await tool.run("list").code == 69)
    }
}

extension LibraryTool {
    /// Takes the daemon off the bus.
    func vanish() async { await daemon.connection.close() }
}
