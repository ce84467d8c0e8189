import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Foundation
import MediaLibrary
import Testing

@testable import CaptureService

/// What the media library does for a program that may use it, and what it refuses, over a real bus.
@Suite(.timeLimit(.minutes(10)), .serialized)
final class `The media library on the bus` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "library-use-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The files that come in.
    private var transit: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/library/\(getuid())/transit")) ?? []
    }

    private func start(
        _ choice: LibraryChoice = .all,
        promptTimeout: Duration = .seconds(600),
        limits: LibraryLimits = LibraryLimits(),
        turns: LibraryTurns = LibraryTurns()
    ) async throws -> (scene: ConsentScene, program: LibraryCaller) {
        let scene = try await ConsentScene(
            on: bus,
            state: folder,
            promptTimeout: promptTimeout,
            limits: limits,
            turns: turns
        )
        let program = try await LibraryCaller(on: bus)
        try await program.choose(choice)
        return (scene, program)
    }

    private func add(
        _ program: LibraryCaller,
        _ number: UInt8,
        _ facts: [String: BusValue] = [:]
    ) async throws -> String {
        let outcome = try await program.add(LibraryFixtures.picture(number), facts)
        return try #require(outcome.result["id"]?.text, "\(outcome.code): \(outcome.message)")
    }

    private func facts(_ id: String, _ program: LibraryCaller) async throws -> [String: BusValue] {
        try #require(try await program.call("GetAsset", "s", [.string(id)])[0].properties)
    }

    @Test func `keeps what is added with all that is known of it, across a restart`() async throws {
        let (scene, program) = try await start()
        let picture = try await add(
            program,
            1,
            [
                "name": .string("Ostern.gif"), "created": .int64(1_700_000_000_000), "device": .string("Webcam"),
                "place": .structure([.double(48.2), .double(16.4)]), "favourite": .bool(true),
            ]
        )
        let sound = try #require(try await program.add(LibraryFixtures.sound).result["id"]?.text)
        await scene.stop()

        let (next, again) = try await start()
        let known = try await facts(picture, again)
        #expect(known["name"]?.text == "Ostern.gif")
        #expect(known["kind"]?.text == "photo")
        #expect(known["media-type"]?.text == "image/gif")
        #expect(known["created"]?.integer == 1_700_000_000_000)
        #expect(known["device"]?.text == "Webcam")
        #expect(known["place"] == .structure([.double(48.2), .double(16.4)]))
        #expect(known["favourite"]?.boolean == true)
        #expect(known["width"]?.unsigned == 1)
        let heard = try await facts(sound, again)
        #expect(heard["kind"]?.text == "sound")
        #expect(heard["duration"]?.integer == 100_000_000)
        #expect(heard["name"]?.text?.hasPrefix("sound-") == true)
        #expect(try await again.bytes("Open", picture, "current") == LibraryFixtures.picture(1))
        #expect(try await again.bytes("Open", sound, "original") == LibraryFixtures.sound)
        #expect(try await again.count(["kinds": .strings(["sound"])]) == 1)
        #expect(try await again.count(["favourite": .bool(true)]) == 1)
        await next.stop()
    }

    @Test func `keeps edits beside the original, which comes back`() async throws {
        let (scene, program) = try await start()
        let id = try await add(program, 1)
        let file = BusValue.descriptor(try LibraryFixtures.file(LibraryFixtures.picture(2)))
        let number = try #require(try await program.call("Edit", "sh", [.string(id), file])[0].unsigned)
        #expect(await program.outcome(of: number).code.isEmpty)
        #expect(try await program.bytes("Open", id, "current") == LibraryFixtures.picture(2))
        #expect(try await program.bytes("Open", id, "original") == LibraryFixtures.picture(1))
        #expect(try await facts(id, program)["edited"]?.boolean == true)
        let sound = BusValue.descriptor(try LibraryFixtures.file(LibraryFixtures.sound))
        let other = try #require(try await program.call("Edit", "sh", [.string(id), sound])[0].unsigned)
        #expect(await program.outcome(of: other).code == "BadData")
        try await program.call("Revert", "s", [.string(id)])
        #expect(try await program.bytes("Open", id, "current") == LibraryFixtures.picture(1))
        try await program.call(
            "Change",
            "sa{sv}",
            [.string(id), .properties(["place": .structure([.double(1), .double(2)])])]
        )
        #expect(try await facts(id, program)["place"] == .structure([.double(1), .double(2)]))
        try await program.call(
            "Change",
            "sa{sv}",
            [.string(id), .properties(["place": .structure([.double(.nan), .double(.nan)])])]
        )
        #expect(try await facts(id, program)["place"] == nil)
        await scene.stop()
    }

    @Test func `has albums, and tells what is different since a token`() async throws {
        let (scene, program) = try await start()
        let first = try await add(program, 1)
        let token = try await program.token()
        let album = try #require(try await program.call("CreateAlbum", "s", [.string("Best")])[0].text)
        let second = try await add(program, 2, ["album": .string(album)])
        try await program.call("AddToAlbum", "sas", [.string(album), .strings([first])])
        #expect(try await program.found(["album": .string(album)]).ids.sorted() == [first, second].sorted())
        await scene.changed()
        #expect(try await program.notices() > 0)
        var (changes, next) = try await program.changes(since: token)
        #expect(changes["inserted"] == [second])
        #expect(changes["albums-inserted"] == [album])
        try await program.call("RenameAlbum", "ss", [.string(album), .string("Better")])
        try await program.call("RemoveFromAlbum", "sas", [.string(album), .strings([first])])
        (changes, next) = try await program.changes(since: next)
        #expect(changes["albums-changed"] == [album])
        try await program.call("DeleteAlbum", "s", [.string(album)])
        #expect(try await program.changes(since: next).ids == ["albums-removed": [album]])
        #expect(try await program.count() == 2)
        await scene.stop()
    }

    @Test func `moves assets within an album, which is told`() async throws {
        let (scene, program) = try await start()
        let album = try #require(try await program.call("CreateAlbum", "s", [.string("Best")])[0].text)
        var ids: [String] = []
        for number in 1...4 { ids.append(try await add(program, UInt8(number))) }
        try await program.call("AddToAlbum", "sas", [.string(album), .strings(ids)])
        let token = try await program.token()
        func order() async throws -> [Int?] {
            let query: [String: BusValue] = [
                "album": .string(album), "order": .string("position"), "ascending": .bool(true),
            ]
            return try await program.found(query).ids.map { ids.firstIndex(of: $0) }
        }
        try await program.call("MoveInAlbum", "sass", [.string(album), .strings([ids[3], ids[0]]), .string(ids[1])])
        #expect(try await order() == [3, 0, 1, 2])
        #expect(try await program.changes(since: token).ids["moved"]?.sorted() == [ids[3], ids[0]].sorted())
        try await program.call("MoveInAlbum", "sass", [.string(album), .strings([ids[3]]), .string("")])
        #expect(try await order() == [0, 1, 2, 3])
        for (assets, next, expected) in [
            ([ids[0]], ids[0], CaptureError.Code.invalidArgument), ([], ids[0], .invalidArgument),
            ([ids[0]], String(repeating: "0", count: 32), .noSuchAsset), ([ids[0]], "x", .invalidArgument),
        ] {
            let arguments: [BusValue] = [.string(album), .strings(assets), .string(next)]
            #expect(await program.fault("MoveInAlbum", "sass", arguments)?.code == expected)
        }
        #expect(try await order() == [0, 1, 2, 3])
        await scene.stop()
    }

    @Test func `finds ids by their first digits, and says what a content's hash is`() async throws {
        let (scene, program) = try await start()
        let id = try await add(program, 1)
        func find(_ beginnings: [String], binned: Bool = false) async throws -> [String] {
            try await program.call("FindAssets", "asb", [.strings(beginnings), .bool(binned)])[0].texts ?? []
        }
        #expect(try await find([String(id.prefix(6))]) == [id])
        #expect(try await find([id]) == [id])
        #expect(try await find([id], binned: true).isEmpty)
        for beginning in ["", String(id.prefix(5)), "ABCDEF", id + "0", "zzzzzz"] {
            let error = await program.fault("FindAssets", "asb", [.strings([beginning]), .bool(false)])
            #expect(error?.code == .invalidArgument, "\(beginning)")
        }
        let facts = try await program.call("GetAsset", "s", [.string(id)])[0].properties ?? [:]
        let sums = [try Checksum.sha256(LibraryFixtures.picture(1)), try Checksum.sha256(LibraryFixtures.picture(2))]
        #expect(facts["sha256"]?.text == sums[0])
        #expect(facts["original-sha256"] == nil)
        let file = BusValue.descriptor(try LibraryFixtures.file(LibraryFixtures.picture(2)))
        let number = try #require(try await program.call("Edit", "sh", [.string(id), file])[0].unsigned)
        #expect(await program.outcome(of: number).code.isEmpty)
        let edited = try await program.call("GetAsset", "s", [.string(id)])[0].properties ?? [:]
        #expect(edited["sha256"]?.text == sums[1])
        #expect(edited["original-sha256"] == facts["sha256"])
        await scene.stop()
    }

    @Test func `makes a small picture once`() async throws {
        let (scene, program) = try await start()
        let id = try await add(program, 1)
        func inode() async throws -> [UInt64] {
            let answer = try await program.call("Thumbnail", "ss", [.string(id), .string("small")])
            let picture = try #require(answer[0].file)
            var status = stat()
            #expect(unsafe fstat(picture.descriptor, &status) == 0)
            return [UInt64(status.st_ino), UInt64(status.st_mtim.tv_sec), UInt64(status.st_mtim.tv_nsec)]
        }
        let first = try await inode()
        for _ in 1...3 { #expect(try await inode() == first) }
        await scene.stop()
    }

    @Test func `whose index turns out to be damaged is called so by the daemon's health`() async throws {
        let (scene, _) = try await start()
        let damage = CaptureError(.inputOutput, "the index is damaged", errno: EUCLEAN)
        for error in [CaptureError(.inputOutput, "for once", errno: EIO), damage] {
            let found = await code {
                try await scene.libraries.use(getuid()) { _ throws(CaptureError) in throw error }
            }
            #expect(found == .inputOutput)
        }
        #expect(await scene.libraries.faults == [getuid(): damage.message])
        await scene.stop()
    }

    @Test func `deletes what the person confirms, and nothing that was not`() async throws {
        let (scene, program) = try await start()
        let agent = try await scene.agent(on: bus)
        let ids = [try await add(program, 1, ["name": .string("a.gif")]), try await add(program, 2)]
        func delete() async throws -> UInt64 {
            try #require(try await program.call("Delete", "as", [.strings(ids)])[0].unsigned)
        }
        let number = try await delete()
        await agent.wasAsked(1)
        #expect(agent.facts["action"]?.text == "delete")
        #expect(agent.facts["count"]?.unsigned == 2)
        #expect(agent.facts["names"]?.texts?.first == "a.gif")
        let second = try await delete()
        #expect(await program.outcome(of: second).code == "Busy")
        try await agent.confirm(false)
        #expect(await program.outcome(of: number).code == "Denied")
        #expect(try await program.count() == 2)

        let closed = try await delete()
        await agent.wasAsked(2)
        try await agent.dismiss()
        #expect(await program.outcome(of: closed).code == "Dismissed")
        #expect(try await program.count() == 2)

        let done = try await delete()
        await agent.wasAsked(3)
        try await agent.confirm(true)
        let outcome = await program.outcome(of: done)
        #expect(outcome.code.isEmpty)
        #expect(outcome.result["count"]?.unsigned == 2)
        #expect(try await program.count() == 0)
        #expect(try await program.count(["binned": .bool(true)]) == 2)
        try await program.call("Restore", "as", [.strings([ids[1]])])
        #expect(try await program.found().ids == [ids[1]])
        await scene.stop()
    }

    @Test func `is asked for by nobody who does not say why`() async throws {
        let scene = try await ConsentScene(on: bus, state: folder, usage: NoReasons())
        let program = try await LibraryCaller(on: bus)
        for (member, signature, arguments) in [
            ("Fetch", "a{sv}", [BusValue.properties([:])]), ("Count", "a{sv}", [.properties([:])]),
            ("ListAlbums", "", []),
        ] {
            let found = await code { try await program.call(member, signature, arguments) }
            #expect(found == .missingUsageDescription, "\(member)")
        }
        await scene.stop()
    }

    @Test func `has nothing confirmed by an agent that any program may be`() async throws {
        let (scene, program) = try await start()
        let ids = BusValue.strings([try await add(program, 1)])
        let other = try await scene.agent(on: bus, isShipped: false)
        let number = try #require(try await program.call("Delete", "as", [ids])[0].unsigned)
        #expect(await program.outcome(of: number).code == "NobodyToAsk")
        #expect(other.questions.isEmpty)
        #expect(try await program.count() == 1)
        await scene.stop()
    }

    @Test func `does not delete when nobody answers, the agent dies, or the program takes it back`() async throws {
        let (scene, program) = try await start()
        let ids = BusValue.strings([try await add(program, 1)])
        let nobody = try #require(try await program.call("Delete", "as", [ids])[0].unsigned)
        #expect(await program.outcome(of: nobody).code == "NobodyToAsk")
        let agent = try await scene.agent(on: bus)
        // Long enough for the question to reach the agent on a busy machine.
        await scene.gate.setPromptTimeout(.seconds(10))
        let late = try #require(try await program.call("Delete", "as", [ids])[0].unsigned)
        await agent.wasAsked(1)
        #expect(await program.outcome(of: late).code == "TimedOut")
        // An answer that comes too late is none.
        await #expect(throws: CaptureError.self) { try await agent.confirm(true) }
        #expect(try await program.count() == 1)
        await scene.gate.setPromptTimeout(.seconds(600))
        let undone = try #require(try await program.call("Delete", "as", [ids])[0].unsigned)
        await agent.wasAsked(2)
        try await program.call("Cancel", "u", [.uint32(UInt32(undone))])
        #expect(await program.outcome(of: undone).code == "Dismissed")
        let alone = try #require(try await program.call("Delete", "as", [ids])[0].unsigned)
        await agent.wasAsked(3)
        await agent.die()
        #expect(await program.outcome(of: alone).code == "NobodyToAsk")
        #expect(try await program.count() == 1)
        // Four questions came to nothing: it is asked no more.
        let other = try await scene.agent(on: bus)
        let often = try #require(try await program.call("Delete", "as", [ids])[0].unsigned)
        #expect(await program.outcome(of: often).code == "AskedTooOften")
        #expect(other.questions.isEmpty)
        await scene.stop()
    }

    @Test func `says that the daemon stopped, and not that somebody gave up`() async throws {
        let (scene, program) = try await start()
        let id = try await add(program, 1)
        let agent = try await scene.agent(on: bus)
        let deletion = try await program.begin("Delete", "as", [.strings([id])])
        await agent.wasAsked(1)
        let (reading, writing) = try LibraryFixtures.pipe()
        let copy = try await program.begin(reading)
        await scene.endRequests()
        for number in [deletion, copy] { #expect(await program.outcome(of: number).code == "Unreachable") }
        withExtendedLifetime(writing) {}
        #expect(try await program.count() == 1)
        await scene.stop()
    }

    @Test func `counts in whatever order and however many at once`() async throws {
        let (scene, program) = try await start()
        _ = try await add(program, 1)
        let query: [String: BusValue] = ["order": .string("position"), "limit": .uint32(0), "page": .string("none")]
        #expect(try await program.count(query) == 1)
        #expect(
            await program.fault("Count", "a{sv}", [.properties(["kinds": .string("photo")])])?.code == .invalidArgument
        )
        await scene.stop()
    }

    @Test func `adds what is to join an album that goes meanwhile, and says so`() async throws {
        let (scene, program) = try await start()
        let album = try #require(try await program.call("CreateAlbum", "s", [.string("Trip")])[0].text)
        let (reading, writing) = try LibraryFixtures.pipe()
        let number = try await program.begin(reading, ["album": .string(album)])
        let bytes = LibraryFixtures.picture(1)
        try unsafe bytes.prefix(4).withUnsafeBytes { try unsafe writing.write(all: $0) }
        try await until { !transit.isEmpty }
        try await program.call("DeleteAlbum", "s", [.string(album)])
        try unsafe bytes.dropFirst(4).withUnsafeBytes { try unsafe writing.write(all: $0) }
        withExtendedLifetime(consume writing) {}
        let outcome = await program.outcome(of: number)
        #expect(outcome.code.isEmpty && outcome.result["remark"]?.text?.contains("not in the album") == true)
        #expect(outcome.result["album-error"]?.text == "NoSuchAlbum")
        #expect(try await program.found().ids == [outcome.result["id"]?.text])
        await scene.stop()
    }

    @Test func `tells a program when the person lets it see something else`() async throws {
        let (scene, program) = try await start(.none)
        let token = try await program.token()
        _ = try await scene.add("one", "1.jpg")
        await scene.changed()
        #expect(try await program.notices() == 0)
        for (count, choice) in [LibraryChoice.all, .none, .limited].enumerated() {
            try await program.choose(choice)
            #expect(try await program.notices() == count + 1)
        }
        #expect(await program.fault("GetChanges", "su", [.string(token), .uint32(10)])?.code == .staleToken)
        // A program of which nothing was changed is not told.
        let other: [BusValue] = [.string(""), .string("exe:/usr/bin/other"), .string("library"), .string("none")]
        try await program.call("Set", "ssssa{sv}", other + [.properties([:])], on: CaptureNames.authorization)
        #expect(try await program.notices() == 3)
        await scene.stop()
    }

    @Test func `refuses what is no media, and bad facts, queries and ids, and loses nothing`() async throws {
        let (scene, program) = try await start()
        let first = try await add(program, 1)
        for bytes in [Array("hello".utf8), [], Array(LibraryFixtures.sound.prefix(60))] {
            #expect(try await program.add(bytes).code == "BadData")
        }
        let file = BusValue.descriptor(try LibraryFixtures.file(LibraryFixtures.picture(2)))
        for facts: [String: BusValue] in [
            ["name": .string("../a.gif")], ["name": .string("a\u{7}.gif")], ["name": .string("a\u{202E}fig.exe")],
            ["name": .string(".")], ["created": .int64(.max)], ["place": .structure([.double(91), .double(0)])],
            ["place": .structure([.double(.nan), .double(.nan)])], ["album": .string("Best")],
            ["kind": .string("photo")],
            ["device": .string(String(repeating: "x", count: 300))], ["favourite": .string("yes")],
        ] {
            #expect(await program.fault("Import", "ha{sv}", [file, .properties(facts)])?.code == .invalidArgument)
        }
        let nowhere = BusValue.string(String(repeating: "0", count: 32))
        #expect(try await program.add(LibraryFixtures.picture(2), ["album": nowhere]).code == "NoSuchAlbum")
        for query: [String: BusValue] in [
            ["kinds": .strings(["film"])], ["limit": .uint32(0)], ["limit": .uint32(1001)], ["page": .string("x")],
            ["order": .string("size")], ["album": .string("x")], ["unknown": .bool(true)], ["binned": .uint32(1)],
        ] {
            let code = await program.fault("Fetch", "a{sv}", [.properties(query)])?.code
            #expect(code == .invalidArgument || (query["page"] != nil && code == .staleToken), "\(query)")
        }
        for (member, signature, rest): (String, String, [BusValue]) in [
            ("GetAsset", "s", []), ("Revert", "s", []), ("Open", "ss", [.string("current")]),
        ] {
            #expect(await program.fault(member, signature, [.string("../etc")] + rest)?.code == .invalidArgument)
            #expect(await program.fault(member, signature, [nowhere] + rest)?.code == .noSuchAsset)
        }
        #expect(await program.fault("Open", "ss", [.string(first), .string("newest")])?.code == .invalidArgument)
        #expect(await program.fault("Thumbnail", "ss", [.string(first), .string("huge")])?.code == .invalidArgument)
        #expect(await program.fault("Delete", "as", [.strings([])])?.code == .invalidArgument)
        #expect(await program.fault("Delete", "as", [.strings([first, first])])?.code == .invalidArgument)
        #expect(await program.fault("AddToAlbum", "sas", [nowhere, .strings([first])])?.code == .noSuchAlbum)
        #expect(await program.fault("GetChanges", "su", [.string("token"), .uint32(10)])?.code == .staleToken)
        #expect(await program.fault("GetChanges", "su", [.string("token"), .uint32(0)])?.code == .invalidArgument)
        #expect(await program.fault("Cancel", "u", [.uint32(77)])?.code == .invalidArgument)
        #expect(await code { try await program.status("library-write") } == .invalidArgument)
        // Equal files are two assets.
        let twin = try await add(program, 1)
        #expect(twin != first)
        #expect(try await program.count() == 2)
        #expect(transit.isEmpty)
        await scene.stop()
    }

    @Test func `refuses what exceeds a quota, and goes on with what does not`() async throws {
        let (scene, program) = try await start(limits: LibraryLimits(programBytes: 100))
        _ = try await add(program, 1)
        _ = try await add(program, 2)
        let third = try await program.add(LibraryFixtures.picture(3))
        #expect(third.code == "OverQuota", "\(third.message)")
        #expect(try await program.count() == 2)
        await scene.stop()
    }

    @Test func `stops an import that is taken back, or whose program leaves, and leaves nothing of it`() async throws {
        let (scene, program) = try await start()
        let (reading, writing) = try LibraryFixtures.pipe()
        let number = try await program.begin(reading)
        try unsafe LibraryFixtures.picture(1).withUnsafeBytes { try unsafe writing.write(all: $0) }
        try await until { !transit.isEmpty }
        try await program.call("Cancel", "u", [.uint32(UInt32(number))])
        #expect(await program.outcome(of: number).code == "Dismissed")
        #expect(transit.isEmpty)

        let other = try await LibraryCaller(on: bus)
        _ = try await other.begin(reading)
        try await until { !transit.isEmpty }
        await other.connection.close()
        try await until { transit.isEmpty }
        #expect(try await program.count() == 0)
        await scene.stop()
    }

    @Test func `lets no program's endless files keep another's waiting, nor take all that may be under way`()
        async throws
    {
        let (scene, program) = try await start()
        let (reading, writing) = try LibraryFixtures.pipe()
        for _ in 0..<LongRequests.Rules.library.mostOfProgram { _ = try await program.begin(reading) }
        let more = try await LibraryCaller(on: bus)
        let file = BusValue.descriptor(try LibraryFixtures.file(LibraryFixtures.picture(1)))
        #expect(await more.fault("Import", "ha{sv}", [file, .properties([:])])?.code == .busy)
        await program.connection.close()
        try await until { await more.fault("Import", "ha{sv}", [file, .properties([:])])?.code != .busy }
        withExtendedLifetime(writing) {}
        await scene.stop()
    }

    @Test func `that cannot be opened is told of until it can`() async throws {
        let place = "\(folder)/\(getuid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let catalog = LibraryCatalog(directory: folder, limits: LibraryLimits())
        _ = try await catalog.library(of: getuid()).assets.count(AssetFetchOptions(), scope: .all)
        await catalog.close()
        for name in try FileManager.default.contentsOfDirectory(atPath: place) where name.hasPrefix("index") {
            try Data(repeating: 7, count: 65_536).write(to: URL(fileURLWithPath: "\(place)/\(name)"))
        }
        let next = LibraryCatalog(directory: folder, limits: LibraryLimits())
        await #expect(throws: CaptureError.self) { _ = try await next.library(of: getuid()) }
        #expect(await next.faults[getuid()]?.contains("damaged") == true)
        for name in try FileManager.default.contentsOfDirectory(atPath: place) where name.hasPrefix("index") {
            try FileManager.default.removeItem(atPath: "\(place)/\(name)")
        }
        _ = try await next.library(of: getuid())
        #expect(await next.faults.isEmpty)
        await next.close()
    }

    @Test func `takes no file that is still written to, however slowly`() async throws {
        let path = folder + "-growing.gif"
        try Data(LibraryFixtures.picture(1)).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try Descriptor.open(path, O_RDWR)
        lseek(file.descriptor, 0, SEEK_END)
        let growing = Task {
            while true {
                try unsafe [0].withUnsafeBytes { try unsafe file.write(all: $0) }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        let (scene, program) = try await start()
        let outcome = await program.outcome(of: try await program.begin(try Descriptor.open(path, O_RDONLY)))
        growing.cancel()
        await #expect(throws: CancellationError.self) { try await growing.value }
        #expect(outcome.code == "BadData" && outcome.message.contains("while it was imported"), "\(outcome.message)")
        let (small, large) = (FileMark(size: 10, changed: 1), FileMark(size: 12, changed: 2))
        let grown = #expect(throws: CaptureError.self) { try LibraryObject.check(large, is: small) }
        #expect(grown?.message.contains("went from 10 to 12 bytes") == true)
        try LibraryObject.check(small, is: small)
        #expect(try await program.count() == 0)
        await scene.stop()
    }

    @Test func `has what trickles in make way for who waits`() async throws {
        let (scene, program) = try await start(turns: LibraryTurns(patience: .milliseconds(50)))
        let pipes = try [LibraryFixtures.pipe(), LibraryFixtures.pipe()]
        let slow = try await [program.begin(pipes[0].reading), program.begin(pipes[1].reading)]
        try await until { transit.count == 2 }
        // A byte now and then, by which neither comes to an end nor is silent for long.
        let trickling = Task {
            while true {
                for pipe in pipes { try unsafe [0].withUnsafeBytes { try unsafe pipe.writing.write(all: $0) } }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        _ = try await add(program, 1)
        // The other may go on if it had not made way, too.
        for number in slow { _ = await program.fault("Cancel", "u", [.uint32(UInt32(number))]) }
        var codes: Set<String> = []
        for number in slow { codes.insert(await program.outcome(of: number).code) }
        #expect(codes.contains("TimedOut") && codes.isSubset(of: ["TimedOut", "Dismissed"]), "\(codes)")
        trickling.cancel()
        await #expect(throws: CancellationError.self) { try await trickling.value }
        await scene.stop()
    }

    @Test func `tells what is wrong with the files, and mends it`() async throws {
        let (scene, program) = try await start()
        let id = try await add(program, 1)
        _ = try await add(program, 2)
        let contents = "\(folder)/library/\(getuid())/contents"
        let hash = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.check { _, _ throws(CaptureError) in }.count
        }
        #expect(hash == 0)
        func look(_ member: String) async throws -> [[String: BusValue]] {
            let number = try #require(try await program.call(member)[0].unsigned)
            let outcome = await program.outcome(of: number)
            #expect(outcome.code.isEmpty, "\(outcome.message)")
            return outcome.result["faults"]?.elements?.compactMap(\.properties) ?? []
        }
        #expect(try await look("Check").isEmpty)
        let file = try #require(
            FileManager.default.subpaths(atPath: contents)?.first { path in
                (try? Data(contentsOf: URL(fileURLWithPath: "\(contents)/\(path)"))) == Data(LibraryFixtures.picture(1))
            }
        )
        try FileManager.default.removeItem(atPath: "\(contents)/\(file)")
        let faults = try await look("Check")
        #expect(faults.map { $0["kind"]?.text } == ["missing"])
        #expect(faults.map { $0["id"]?.text } == [id])
        #expect(try await look("Repair").count == 1)
        #expect(try await look("Check").isEmpty)
        #expect(try await program.count() == 1)
        await scene.stop()
    }
}

/// Nobody states a reason.
private struct NoReasons: UsageDescriptions {
    func description(of client: ClientIdentity, for wanted: [Service]) throws(CaptureError) -> UsageDescription {
        throw CaptureError(.missingUsageDescription, "no reason is stated")
    }
}
