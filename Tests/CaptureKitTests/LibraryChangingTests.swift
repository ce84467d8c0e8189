import BusSupport
import CaptureBus
import CaptureKit
import CaptureSystem
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LibraryChangingTests {
    private func file(_ content: String) throws -> Descriptor {
        let file = try OutputFile.scratch().descriptor
        let bytes = Array(content.utf8)
        unsafe try bytes.withUnsafeBytes { unsafe try file.write(all: $0) }
        return file
    }

    @Test func `a file is added with its facts, and a reader gets its id`() async throws {
        let fake = FakeLibrary()
        let (daemon, library) = try await fake.open()
        var facts = AssetFacts(name: "b.jpg")
        facts.created = 5
        facts.place = MediaPlace(latitude: 1, longitude: 2)
        facts.isFavourite = true
        let id = try #require(try await library.add(try file("PHOTO 2"), facts))
        let asset = try await library.asset(id)
        #expect(asset.name == "b.jpg" && asset.created == 5 && asset.isFavourite)
        #expect(asset.place == MediaPlace(latitude: 1, longitude: 2))
        withExtendedLifetime(daemon) {}
    }

    @Test func `who may only add is asked for that alone, and gets no id`() async throws {
        let fake = FakeLibrary(
            [.addOnly: .notDetermined, .readWrite: .denied],
            answers: [.addOnly: .authorized]
        )
        let (daemon, library) = try await fake.open()
        #expect(try await library.add(try file("PHOTO")) == nil)
        #expect(fake.asked == [.addOnly])
        #expect(fake.inventory.count == 1)
        withExtendedLifetime(daemon) {}
    }

    @Test func `into an album each level is asked for once`() async throws {
        let undecided: FakeDaemon.Answer = { _, _ throws(CaptureError) in
            throw CaptureError(.undecided, "the person is being asked")
        }
        let fake = FakeLibrary(answers: [.addOnly: .authorized, .readWrite: .authorized])
        let (daemon, library) = try await fake.open(replacing: ["Import": undecided])
        var facts = AssetFacts()
        facts.album = "a"
        #expect(await code { try await library.add(try file("PHOTO"), facts) } == .undecided)
        #expect(fake.asked == [.readWrite, .addOnly])
        #expect(daemon.calls("Import").count == 3)
    }

    @Test func `what is no media is told, and adds nothing`() async throws {
        let fake = FakeLibrary()
        let (daemon, library) = try await fake.open()
        #expect(await code { try await library.add(try file("text")) } == .badData)
        #expect(fake.inventory.isEmpty)
        withExtendedLifetime(daemon) {}
    }

    @Test func `an import tells how much was read, and is cancelled`() async throws {
        let fake = FakeLibrary()
        fake.holdsImports(true)
        let (daemon, library) = try await fake.open()
        let adding = try await library.beginAdding(try file("PHOTO"))
        // The daemon has read the same open file to its end.
        #expect(adding.progress == 1)
        try await adding.cancel()
        let error = await #expect(throws: CaptureError.self) { try await adding.outcome() }
        #expect(error?.code == .dismissed)
        // What is over already is not cancelled again, which is no error.
        try await adding.cancel()
        #expect(fake.inventory.isEmpty)
        withExtendedLifetime(daemon) {}
    }

    @Test func `a task that is cancelled takes its import along`() async throws {
        let fake = FakeLibrary()
        fake.holdsImports(true)
        let (daemon, library) = try await fake.open()
        let adding = try await library.beginAdding(try file("PHOTO"))
        let task = Task { try await adding.outcome() }
        task.cancel()
        #expect(await code { try await task.value } == .dismissed)
        #expect(daemon.calls("Cancel").count == 1)
    }

    @Test func `a daemon that goes away ends what is under way`() async throws {
        let fake = FakeLibrary()
        fake.holdsImports(true)
        let (daemon, library) = try await fake.open()
        let adding = try await library.beginAdding(try file("PHOTO"))
        await daemon.connection.close()
        #expect(await code { try await adding.outcome() } == .unreachable)
    }

    @Test func `facts are changed, edits made and reverted`() async throws {
        let fake = FakeLibrary()
        let id = fake.put("a.jpg", "PHOTO 1")
        let (daemon, library) = try await fake.open()
        var changes = AssetChanges()
        changes.name = "c.jpg"
        changes.isFavourite = true
        try await library.change(id, changes)
        try await library.edit(id, with: try file("PHOTO edited"))
        var asset = try await library.asset(id)
        #expect(asset.name == "c.jpg" && asset.isFavourite && asset.isEdited && asset.size == 12)
        try await library.revert(id)
        try await library.setFavourite(id, false)
        asset = try await library.asset(id)
        #expect(!asset.isEdited && !asset.isFavourite)
        withExtendedLifetime(daemon) {}
    }

    @Test func `what is confirmed goes into the bin and comes back, the rest stays`() async throws {
        let fake = FakeLibrary()
        let ids = [fake.put("a.jpg", "PHOTO 1"), fake.put("b.jpg", "PHOTO 2")]
        let (daemon, library) = try await fake.open()
        fake.confirms(false)
        #expect(await code { try await library.delete(ids) } == .denied)
        #expect(try await library.count() == 2)
        fake.confirms(true)
        #expect(try await library.delete(ids) == 2)
        #expect(try await library.count() == 0)
        var bin = AssetFetchOptions()
        bin.isBinned = true
        #expect(try await library.fetch(bin).assets.first?.binned == 1_700_000_200_000)
        try await library.restore(ids)
        #expect(try await library.count() == 2)
        withExtendedLifetime(daemon) {}
    }

    @Test func `albums are made, filled, renamed and taken away`() async throws {
        let fake = FakeLibrary()
        let ids = [fake.put("a.jpg", "PHOTO 1"), fake.put("b.jpg", "PHOTO 2")]
        let (daemon, library) = try await fake.open()
        let album = try await library.createAlbum("Trip")
        try await library.add(ids, toAlbum: album)
        try await library.remove([ids[0]], fromAlbum: album)
        try await library.renameAlbum(album, to: "Journey")
        #expect(try await library.albums().map { "\($0.name) \($0.count)" } == ["Journey 1"])
        var options = AssetFetchOptions()
        options.album = album
        #expect(try await library.fetch(options).assets.map(\.id) == [ids[1]])
        try await library.deleteAlbum(album)
        #expect(await code { try await library.fetch(options) } == .noSuchAlbum)
        #expect(try await library.count() == 2)
        withExtendedLifetime(daemon) {}
    }

    @Test func `a client that was away catches up in pieces`() async throws {
        let fake = FakeLibrary()
        let first = fake.put("a.jpg", "PHOTO 1")
        let (daemon, library) = try await fake.open()
        let token = try await library.currentToken()
        let second = fake.put("b.jpg", "PHOTO 2")
        try await library.setFavourite(first, true)
        let album = try await library.createAlbum("Trip")
        try await library.delete([second])
        let piece = try await library.changes(since: token, limit: 2)
        #expect(piece.inserted.map(\.id) == [second] && piece.changed.map(\.id) == [first] && !piece.isComplete)
        let rest = try await library.changes(since: piece.token)
        #expect(rest.insertedAlbums.map(\.id) == [album] && rest.removed == [second] && rest.isComplete)
        #expect(try await library.changes(since: rest.token).isEmpty)
        let old = LibraryChangeToken(rawValue: "rubbish")
        #expect(await code { try await library.changes(since: old) } == .staleToken)
        withExtendedLifetime(daemon) {}
    }

    @Test func `a change is noticed, and one of a daemon that came anew is not missed`() async throws {
        let fake = FakeLibrary()
        let id = fake.put("a.jpg", "PHOTO 1")
        let (daemon, library) = try await fake.open()
        let notices = try await library.changeNotices()
        var iterator = notices.makeAsyncIterator()
        try await library.setFavourite(id, true)
        #expect(await iterator.next() != nil)
        await daemon.connection.close()
        let next = try await FakeDaemon(fake, on: daemon.bus)
        #expect(await iterator.next() != nil)
        withExtendedLifetime(next) {}
    }

    @Test func `whoever waits is told when the connection is closed`() async throws {
        let fake = FakeLibrary([.readWrite: .authorized])
        let silence: [String: FakeDaemon.Answer] = [
            "Pick": { _, _ in [.uint32(7)] }, "Delete": { _, _ in [.uint32(8)] }, "Import": { _, _ in [.uint32(9)] },
            "RequestAccess": { _, _ in [.uint32(7)] },
        ]
        let daemon = try await FakeDaemon(fake, replacing: silence)
        let client = try await daemon.client()
        let library = MediaLibrary(on: client)
        let notices = try await library.changeNotices()
        let events = try await client.events()
        let waiting: [Task<Void, any Error>] = [
            Task { _ = try await library.pick() },
            Task { _ = try await library.delete(["a"]) },
            Task { _ = try await CaptureDevice.requestAccess(for: [.video], on: client) },
            Task { _ = try await library.add(try FakeLibrary.file(Array("PHOTO".utf8))) },
        ]
        for member in silence.keys { await daemon.called(member) }
        await client.close()
        for task in waiting {
            #expect(await code { try await task.value } == .unreachable)
        }
        for await _ in notices {}
        for await _ in events {}
    }

    @Test(arguments: ["Delete", "EmptyBin", "Check", "SaveKept", "RequestAccess"])
    func `a task that is cancelled takes its question back`(member: String) async throws {
        let fake = FakeLibrary([.readWrite: member == "RequestAccess" ? .notDetermined : .authorized])
        let isAccess = member == "RequestAccess"
        let begun: FakeDaemon.Answer = { _, _ in [.uint32(7)] }
        let cancelled: FakeDaemon.Answer = { daemon, call throws(CaptureError) in
            try daemon.connection.emit(
                CaptureNames.root,
                isAccess ? CaptureNames.authorization : CaptureNames.library,
                isAccess ? "AccessDecided" : "Finished",
                signature: isAccess ? "ussa{su}" : "ussa{sv}",
                [
                    call.arguments[0], .string("Dismissed"), .string("taken back"),
                    isAccess ? .dictionary("su", []) : .properties([:]),
                ],
                to: call.sender
            )
            return []
        }
        let back = isAccess ? "CancelAccess" : "Cancel"
        let (daemon, library) = try await fake.open(replacing: [member: begun, back: cancelled])
        let task = Task {
            switch member {
            case "Delete": _ = try await library.delete(["a"])
            case "EmptyBin": _ = try await library.emptyBin()
            case "Check": _ = try await library.check()
            case "SaveKept": _ = try await library.saveKept(["a"])
            default: _ = try await library.requestAuthorization(for: .readWrite)
            }
        }
        await daemon.called(member)
        task.cancel()
        #expect(await code { try await task.value } == .dismissed)
        #expect(daemon.calls(back).map { $0.arguments[0].unsigned } == [7])
    }

    @Test func `nothing is asked for no assets, and a place of no numbers is none`() async throws {
        let fake = FakeLibrary()
        let id = fake.put("a.jpg", "PHOTO", ["place": .structure([.double(1), .double(2)])])
        let (daemon, library) = try await fake.open()
        #expect(try await library.delete([]) == 0)
        #expect(try await library.restore([]) == 0)
        let album = try await library.createAlbum("Trip")
        try await library.add([], toAlbum: album)
        try await library.move([], inAlbum: album, before: nil)
        try await library.remove([], fromAlbum: album)
        for member in ["Delete", "Restore", "AddToAlbum", "MoveInAlbum", "RemoveFromAlbum"] {
            #expect(daemon.calls(member).isEmpty, "\(member)")
        }
        var changes = AssetChanges()
        changes.place = MediaPlace(latitude: .nan, longitude: .nan)
        #expect(await code { try await library.change(id, changes) } == .invalidArgument)
        #expect(try await library.asset(id).place == MediaPlace(latitude: 1, longitude: 2))
    }

    @Test func `faults are told with what they are about`() async throws {
        let fake = FakeLibrary()
        var (damaged, orphaned) = (LibraryFault(), LibraryFault())
        (damaged.kind, damaged.asset, damaged.name, damaged.message) = ("damaged", "a", "a.jpg", "bad")
        (orphaned.kind, orphaned.name, orphaned.message) = ("orphaned", "ff", "of no asset")
        fake.setFaults([damaged, orphaned])
        let (daemon, library) = try await fake.open()
        let faults = try await library.check()
        #expect(faults == [damaged, orphaned])
        #expect(try await library.repair() == faults)
        #expect(try await library.check().isEmpty)
        withExtendedLifetime(daemon) {}
    }
}
