import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import CaptureEngine
import Foundation
import TestSupport
import Testing

@testable import MediaLibrary
@testable import CaptureService

@Suite(.timeLimit(.minutes(10))) struct `Saving from a session` {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    /// What comes of asking for the consent, and what was asked.
    private func outcome(_ scene: SavingScene, mayAsk: Bool = true) async -> CaptureError.Code? {
        do throws(CaptureError) {
            try await scene.saver.authorize(scene.client, mayAsk: mayAsk)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `asks for reading first, then for adding, each once`() async throws {
        let cases: [(answers: [Service: Bool], asked: [Service], code: CaptureError.Code?)] = [
            ([.libraryReadWrite: true], [.libraryReadWrite], nil),
            ([.libraryReadWrite: false, .libraryAdd: true], [.libraryReadWrite, .libraryAdd], nil),
            ([.libraryReadWrite: false, .libraryAdd: false], [.libraryReadWrite, .libraryAdd], .denied),
            ([.libraryAdd: true], [.libraryReadWrite, .libraryAdd], nil),
            ([:], [.libraryReadWrite, .libraryAdd], .dismissed),
        ]
        for (answers, asked, code) in cases {
            let scene = try await SavingScene(try PrivateBus(), answers)
            #expect(await outcome(scene) == code)
            #expect(scene.asked == asked)
            if code == .dismissed { continue }
            // What was answered is not asked again, unless it was only passed over.
            let isOpen = answers[.libraryReadWrite] == nil
            #expect(await outcome(scene) == code)
            #expect(scene.asked.count == asked.count + (isOpen ? 1 : 0))
        }
    }

    @Test func `takes the level that a program states a reason for`() async throws {
        let scene = try await SavingScene(bus, [.libraryAdd: true], reasons: [.libraryAdd])
        #expect(await outcome(scene) == nil)
        #expect(scene.asked == [.libraryAdd])
        let none = try await SavingScene(try PrivateBus(), [.libraryAdd: true], reasons: [])
        #expect(await outcome(none) == .missingUsageDescription)
        #expect(none.asked.isEmpty)
    }

    @Test func `has what may be read chosen once a save was answered with chosen assets`() async throws {
        let scene = try await SavingScene(bus, [.libraryReadWrite: true], isLimiting: true)
        #expect(await outcome(scene) == nil)
        #expect(scene.asked == [.libraryReadWrite])
        #expect(scene.picked == [.extend])
        // Once, and not where all was allowed.
        #expect(await outcome(scene) == nil)
        #expect(scene.picked == [.extend])
        let all = try await SavingScene(try PrivateBus(), [.libraryReadWrite: true])
        #expect(await outcome(all) == nil)
        #expect(all.picked.isEmpty)
    }

    @Test func `asks nobody where that was not to be`() async throws {
        let scene = try await SavingScene(bus, [.libraryReadWrite: true])
        #expect(await outcome(scene, mayAsk: false) == .notPermitted)
        #expect(scene.asked.isEmpty)
    }

    @Test func `puts it into the library and into an album, which is made`() async throws {
        let scene = try await SavingScene(bus)
        try await scene.set(.all)
        let first = try await scene.record(LibraryDestination(name: "a.png", album: "Trip")).recording.save()
        let second = try await scene.record(LibraryDestination(album: "Trip")).recording.save()
        #expect([first.album, second.album] == ["Trip", "Trip"])
        let albums = try await scene.use { library throws(CaptureError) in try library.albums.all(scope: .all) }
        #expect(albums.map(\.name) == ["Trip"])
        #expect(albums.map(\.count) == [2])
        let id = try #require(first.asset)
        let asset = try await scene.use { library throws(CaptureError) in try library.assets.asset(id, scope: .all) }
        #expect(asset.name == "a.png")
        #expect(asset.kind == .photo)
        #expect(asset.device == "A Camera")
        #expect(asset.program == scene.client.identity.program)
        #expect(try await scene.use { library throws(CaptureError) in try library.recordings.kept() }.isEmpty)
    }

    @Test func `by a program that may only add joins no album, and its id is not told`() async throws {
        let scene = try await SavingScene(bus)
        try await scene.set(.addOnly)
        let saved = try await scene.record(LibraryDestination(album: "Trip")).recording.save()
        #expect(saved.asset == nil)
        #expect(saved.album == nil)
        #expect(saved.remark?.contains("added to no album") == true)
        #expect(try await scene.use { library throws(CaptureError) in try library.albums.all(scope: .all) }.isEmpty)
        #expect(
            try await scene.use { library throws(CaptureError) in
                try library.assets.count(AssetFetchOptions(), scope: .all)
            }
                == 1
        )
    }

    @Test func `keeps the recording when the consent is withdrawn, and when it is no picture`() async throws {
        let scene = try await SavingScene(bus)
        try await scene.set(.all)
        let (first, second) = (
            try await scene.record(LibraryDestination(name: "a.png")).recording,
            try await scene.record(LibraryDestination(name: "b.png"), Data("nonsense".utf8)).recording
        )
        #expect(await code { try await second.save() } == .badData)
        try await scene.set(.none)
        let withdrawn = await #expect(throws: CaptureError.self) { try await first.save() }
        #expect(withdrawn?.code == .revoked)
        #expect(
            withdrawn?.message.hasSuffix("the recording is kept, to be saved or discarded: capturectl library kept")
                == true
        )
        let kept = try await scene.use { library throws(CaptureError) in try library.recordings.kept() }
        #expect(Set(kept.map(\.draft.name)) == ["a.png", "b.png"])
        #expect(kept.first { $0.draft.name == "a.png" }?.why.contains("withdrawn") == true)
        #expect(
            try await scene.use { library throws(CaptureError) in
                try library.assets.count(AssetFetchOptions(), scope: .all)
            }
                == 0
        )
    }

    @Test func `waits until nobody can write to the file any more`() async throws {
        let scene = try await SavingScene(bus)
        try await scene.set(.all)
        let (recording, other) = try await held(scene)
        let saving = Task { try await recording.save() }
        // It is looked at before it is waited for.
        let id = try await scene.use { library throws(CaptureError) in try library.recordings.kept(andOpen: true) }
            .first?.id
        let open = try #require(id)
        #expect(try await scene.use { library throws(CaptureError) in try library.recordings.isBeingWritten(open) })
        #expect(
            try await scene.use { library throws(CaptureError) in
                try library.assets.count(AssetFetchOptions(), scope: .all)
            }
                == 0
        )
        close(other)
        #expect(try await saving.value.asset != nil)
    }

    /// A recording and a descriptor that can write to its file.
    private func held(_ scene: SavingScene) async throws -> (any LibraryRecording, Int32) {
        let (file, recording) = try await scene.record(LibraryDestination())
        return (recording, dup(try #require(file as? Descriptor).descriptor))
    }

    @Test func `leaves nothing of what never began, and nothing empty`() async throws {
        let scene = try await SavingScene(bus)
        try await scene.set(.all)
        await (try await scene.record(LibraryDestination())).recording.cancel()
        let empty = try await scene.record(LibraryDestination(), nil).recording
        let error = await #expect(throws: CaptureError.self) { try await empty.save() }
        #expect(error?.message.contains("kept") == false)
        #expect(try await scene.use { library throws(CaptureError) in try library.recordings.kept() }.isEmpty)
    }

    @Test func `leaves what is kept to the person at the command line alone`() async throws {
        let scene = try await SavingScene(bus)
        let program = try await BusConnection.open(bus.kind)
        for (member, arguments) in [("ListKept", nil), ("SaveKept", ["0"]), ("DiscardKept", ["0"]), ("EmptyBin", nil)] {
            #expect(await code { try await call(program, member, arguments) } == .notPermitted, "\(member)")
        }
        withExtendedLifetime(scene) {}
    }

    @Test func `is made up for at the command line, or given up`() async throws {
        let scene = try await SavingScene(bus, isCommandLine: true)
        try await scene.set(.all)
        var recordings: [any LibraryRecording] = []
        for name in ["a.png", "b.png"] {
            recordings.append(try await scene.record(LibraryDestination(name: name, album: "Trip")).recording)
        }
        try await scene.set(.none)
        for recording in recordings { await #expect(throws: CaptureError.self) { try await recording.save() } }

        let person = try await BusConnection.open(bus.kind)
        let (outcomes, feed) = AsyncStream<[BusValue]>.makeStream()
        let match = BusMatch(interface: CaptureNames.library, member: "Finished")
        let heard = try await person.subscribe(match) { feed.yield($0.arguments) }
        var iterator = outcomes.makeAsyncIterator()
        let kept = try await call(person, "ListKept").first?.elements?.compactMap(\.properties) ?? []
        #expect(kept.map { $0["name"]?.text } == ["a.png", "b.png"])
        #expect(kept.first?["album"]?.text == "Trip")
        #expect(kept.first?["program"]?.text == scene.client.identity.program)
        let ids = kept.compactMap { $0["id"]?.text }
        try #require(ids.count == 2)
        // Without the person's word nothing becomes of them, whoever started the command line.
        scene.confirms(false)
        for member in ["SaveKept", "DiscardKept"] {
            try await call(person, member, ids)
            #expect(try #require(await iterator.next())[1].text == "Denied")
        }
        #expect(scene.confirmed == ["save a.png b.png", "discard a.png b.png"])
        #expect(try await call(person, "ListKept").first?.elements?.count == 2)
        scene.confirms(true)
        try await call(person, "SaveKept", [ids[0]])
        let outcome = try #require(await iterator.next())
        #expect(outcome[1].text == "", "\(outcome)")
        let saved = try #require(outcome[3].properties?["saved"]?.elements?.first?.properties)
        #expect(saved["album"]?.text == "Trip")
        #expect(saved["kept"]?.text == ids[0])
        // This program may not read the library.
        #expect(saved["id"] == nil)
        try await call(person, "DiscardKept", [ids[1]])
        #expect(try #require(await iterator.next())[3].properties?["count"] == .uint64(1))
        #expect(try await call(person, "ListKept").first?.elements?.isEmpty == true)
        let assets = try await scene.use { library throws(CaptureError) in
            try library.assets.fetch(AssetFetchOptions(), scope: .all).assets
        }
        #expect(assets.map(\.name) == ["a.png"])
        #expect(await code { try await call(person, "SaveKept", [ids[1]]) } == .noSuchAsset)
        withExtendedLifetime(heard) {}
    }

    @Test func `has the bin emptied at the command line alone, when the person confirms it`() async throws {
        let scene = try await SavingScene(bus, isCommandLine: true)
        try await scene.set(.all)
        for name in ["a.png", "b.png"] { _ = try await scene.record(LibraryDestination(name: name)).recording.save() }
        try await scene.use { library throws(CaptureError) in
            let first = try library.assets.fetch(AssetFetchOptions(), scope: .all).assets.filter { $0.name == "a.png" }
            try library.bin.delete(first.map(\.id), scope: .all)
        }
        let person = try await BusConnection.open(bus.kind)
        let (outcomes, feed) = AsyncStream<[BusValue]>.makeStream()
        let match = BusMatch(interface: CaptureNames.library, member: "Finished")
        let heard = try await person.subscribe(match) { feed.yield($0.arguments) }
        var iterator = outcomes.makeAsyncIterator()
        scene.confirms(false)
        try await call(person, "EmptyBin")
        #expect(try #require(await iterator.next())[1].text == "Denied")
        scene.confirms(true)
        for count in [UInt64(1), 0] {
            try await call(person, "EmptyBin")
            #expect(try #require(await iterator.next())[3].properties?["count"] == .uint64(count))
        }
        // An empty one takes no question.
        #expect(scene.confirmed == ["erase a.png", "erase a.png"])
        let left = try await scene.use { library throws(CaptureError) in
            (
                try library.quotas.usage(of: nil).assets,
                try library.assets.fetch(AssetFetchOptions(), scope: .all).assets.map(\.name)
            )
        }
        #expect(left.0 == 1 && left.1 == ["b.png"])
        withExtendedLifetime(heard) {}
    }

    @discardableResult
    private func call(
        _ connection: BusConnection,
        _ member: String,
        _ ids: [String]? = nil
    ) async throws(CaptureError) -> [BusValue] {
        let arguments = ids.map { [BusValue.strings($0)] } ?? []
        return try await connection.callDaemon(member, ids == nil ? "" : "as", arguments, on: CaptureNames.library)
    }
}
