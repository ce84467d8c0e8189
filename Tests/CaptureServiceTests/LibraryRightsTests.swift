import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureSystem
import Foundation
import MediaLibrary
import TestSupport
import Testing

@testable import CaptureService

/// What a program may, by its consent, over a real bus with a real library.
@Suite(.timeLimit(.minutes(10)), .serialized)
final class `A program and the media library` {
    let bus: PrivateBus
    let folder = NSTemporaryDirectory() + "library-rights-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A daemon, and a program with the given consent; none for `nil`.
    func start(_ choice: LibraryChoice?) async throws -> (scene: ConsentScene, program: LibraryCaller, id: String) {
        let scene = try await ConsentScene(on: bus, state: folder)
        let program = try await LibraryCaller(on: bus)
        if let choice { try await program.choose(choice) }
        return (scene, program, try await program.program())
    }

    /// Something that another program adds.
    @discardableResult
    func foreign(_ number: UInt8, in scene: ConsentScene) async throws -> MediaAsset {
        let asset = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            let item = try library.imports.begin(AssetDraft(name: "foreign.gif"), program: "exe:/usr/bin/other")
            let bytes = LibraryFixtures.picture(number)
            try LibraryFixtures.append(bytes, to: item)
            close(try item.finish())
            return try item.commit(
                ExaminedMedia(kind: .photo, mediaType: "image/gif", codec: "gif", width: 1, height: 1)
            )
        }
        await scene.changed()
        return asset
    }

    private static let nowhere = String(repeating: "0", count: 32)

    /// Looks for assets by their first digits.
    private func find(_ assets: [MediaAsset], by program: LibraryCaller) async throws -> [String] {
        let beginnings = BusValue.strings(assets.map { String($0.id.prefix(8)) })
        return try await program.call("FindAssets", "asb", [beginnings, .bool(false)])[0].texts ?? []
    }

    /// That an asset is for the program as one that never was: the same words, whichever way it asks.
    private func isUnknown(_ id: String, to program: LibraryCaller) async {
        for (member, signature, rest) in [
            ("GetAsset", "s", []), ("Open", "ss", [BusValue.string("current")]), ("Open", "ss", [.string("original")]),
            ("Thumbnail", "ss", [.string("small")]), ("Thumbnail", "ss", [.string("large")]),
        ] {
            let error = await program.fault(member, signature, [.string(id)] + rest)
            let other = await program.fault(member, signature, [.string(Self.nowhere)] + rest)
            #expect(error?.code == .noSuchAsset, "\(member)")
            #expect(error?.message.replacing(id, with: Self.nowhere) == other?.message, "\(member)")
        }
    }

    @Test(arguments: [LibraryChoice.addOnly, LibraryChoice.none])
    func `that may not read finds nothing by any call, its own included`(_ choice: LibraryChoice) async throws {
        let (scene, program, id) = try await start(.addOnly)
        let added = try await program.add(LibraryFixtures.picture(1), ["name": .string("mine.gif")])
        #expect(added.code.isEmpty, "\(added.message)")
        #expect(added.result.isEmpty)
        let own = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.assets.fetch(AssetFetchOptions(), scope: .all).assets
        }
        #expect(own.map(\.name) == ["mine.gif"])
        #expect(own.map(\.program) == [id])
        let others = try await foreign(2, in: scene)
        if choice == .none { try await program.choose(choice) }

        #expect(try await program.found() == ([], UInt64(AuthorizationStatus.denied.rawValue)))
        #expect(try await program.found(["program": .string(id)]).ids.isEmpty)
        #expect(try await program.count() == 0)
        #expect(try await program.call("ListAlbums")[0].elements?.isEmpty == true)
        for asset in own + [others] { await isUnknown(asset.id, to: program) }
        #expect(try await find(own + [others], by: program).isEmpty)
        let token = try await program.token()
        try await foreign(3, in: scene)
        if choice == .addOnly { #expect(try await program.add(LibraryFixtures.picture(4)).code.isEmpty) }
        let (changes, next) = try await program.changes(since: token)
        #expect(changes.isEmpty)
        #expect(next.utf8.count == token.utf8.count)
        #expect(try await program.notices() == 0)

        let asset = BusValue.string(own[0].id)
        let picture = BusValue.descriptor(try LibraryFixtures.file(LibraryFixtures.picture(9)))
        for (member, signature, arguments) in [
            ("Change", "sa{sv}", [asset, .properties(["favourite": .bool(true)])]), ("Revert", "s", [asset]),
            ("Edit", "sh", [asset, picture]), ("Delete", "as", [.strings([own[0].id])]),
            ("Restore", "as", [.strings([own[0].id])]), ("CreateAlbum", "s", [.string("Album")]),
            ("RenameAlbum", "ss", [.string(Self.nowhere), .string("Album")]),
            ("DeleteAlbum", "s", [.string(Self.nowhere)]),
            ("AddToAlbum", "sas", [.string(Self.nowhere), .strings([own[0].id])]),
            ("RemoveFromAlbum", "sas", [.string(Self.nowhere), .strings([own[0].id])]),
            ("MoveInAlbum", "sass", [.string(Self.nowhere), .strings([own[0].id]), .string("")]), ("Check", "", []),
            ("Repair", "", []),
        ] as [(String, String, [BusValue])] {
            let error = await program.fault(member, signature, arguments)
            #expect(error?.code == .denied, "\(member): \(error.map { "\($0)" } ?? "no error")")
        }
        let intoAlbum = try await program.add(LibraryFixtures.picture(5), ["album": .string(Self.nowhere)])
        #expect(intoAlbum.code == "Denied")
        if choice == .none { #expect(try await program.add(LibraryFixtures.picture(6)).code == "Denied") }
        await scene.stop()
    }

    @Test func `that policy restricts finds nothing, is told so, and changes nothing`() async throws {
        let (scene, program, _) = try await start(.all)
        let own = try #require(try await program.add(LibraryFixtures.picture(1)).result["id"]?.text)
        let token = try await program.token()
        let rule = "[Rule]\nService=library-add library-read-write\nDecision=restrict\n"
        await scene.gate.setPolicy(try Policy(rules: rule))

        #expect(try await program.found() == ([], UInt64(AuthorizationStatus.restricted.rawValue)))
        #expect(try await program.count() == 0)
        #expect(try await program.call("ListAlbums")[0].elements?.isEmpty == true)
        await isUnknown(own, to: program)
        let (changes, _) = try await program.changes(since: try await program.token())
        #expect(changes.isEmpty && !token.isEmpty)
        for (member, signature, arguments) in [
            ("Change", "sa{sv}", [.string(own), .properties(["favourite": .bool(true)])]),
            ("Delete", "as", [.strings([own])]), ("CreateAlbum", "s", [.string("Album")]),
        ] as [(String, String, [BusValue])] {
            let error = await program.fault(member, signature, arguments)
            #expect(
                error?.code == .restricted && error?.message.contains("policy.d/a.conf:1") == true,
                "\(String(describing: error))"
            )
        }
        #expect(try await program.add(LibraryFixtures.picture(2)).code == "Restricted")
        await scene.gate.setPolicy(Policy())
        #expect(try await program.found().ids == [own])
        await scene.stop()
    }

    @Test func `that was given chosen assets sees those and its own, and nothing else by any call`() async throws {
        let (scene, program, id) = try await start(.limited)
        let user = getuid()
        let chosen = try await foreign(1, in: scene)
        let hidden = try await foreign(2, in: scene)
        let albums = try await scene.libraries.use(user) { library throws(CaptureError) in
            let mixed = try library.albums.create("Mixed", program: "exe:/usr/bin/other", scope: .all)
            let secret = try library.albums.create("Secret", program: "exe:/usr/bin/other", scope: .all)
            try library.members.add([chosen.id, hidden.id], toAlbum: mixed.id, scope: .all)
            try library.members.add([hidden.id], toAlbum: secret.id, scope: .all)
            _ = try library.choices.choose(id, [chosen.id])
            return (mixed: mixed.id, secret: secret.id)
        }
        let added = try await program.add(LibraryFixtures.picture(3))
        let own = try #require(added.result["id"]?.text)

        #expect(
            try await program.found(["order": .string("added"), "ascending": .bool(true)]).ids == [chosen.id, own]
        )
        #expect(try await program.found().status == UInt64(AuthorizationStatus.limited.rawValue))
        #expect(try await program.count() == 2)
        #expect(try await program.count(["program": .string("exe:/usr/bin/other")]) == 1)
        await isUnknown(hidden.id, to: program)
        #expect(try await find([hidden, chosen], by: program) == [chosen.id])
        let bin = await program.fault("FindAssets", "asb", [.strings([hidden.id]), .bool(true)])
        #expect(bin?.code == .notPermitted)
        let listed = try await program.call("ListAlbums")[0].elements?.compactMap(\.properties) ?? []
        #expect(listed.map { $0["id"]?.text } == [albums.mixed])
        #expect(listed.map { $0["count"]?.unsigned } == [1])
        #expect(try await program.found(["album": .string(albums.mixed)]).ids == [chosen.id])
        let secret = await program.fault("Fetch", "a{sv}", [.properties(["album": .string(albums.secret)])])
        let none = await program.fault("Fetch", "a{sv}", [.properties(["album": .string(Self.nowhere)])])
        #expect(secret?.code == .noSuchAlbum)
        #expect(secret?.message.replacing(albums.secret, with: Self.nowhere) == none?.message)
        #expect(try await program.bytes("Open", chosen.id, "current") == LibraryFixtures.picture(1))
        #expect(try await program.bytes("Thumbnail", own, "small").starts(with: [0xff, 0xd8, 0xff]))

        // Of what it does not see it is told neither that it came, nor changed, nor went.
        let token = try await program.token()
        let other = try await foreign(4, in: scene)
        try await scene.libraries.use(user) { library throws(CaptureError) in
            _ = try library.assets.change(hidden.id, AssetChanges(isFavourite: true), scope: .all)
            try library.bin.delete([other.id], scope: .all)
            try library.members.remove([hidden.id], fromAlbum: albums.mixed, scope: .all)
            try library.albums.delete(albums.secret, scope: .all)
        }
        await scene.changed()
        #expect(try await program.notices() == 0)
        let silence = try await program.changes(since: token)
        #expect(silence.ids.isEmpty)
        #expect(silence.next.utf8.count == token.utf8.count)

        // And of what it sees, all three.
        try await scene.libraries.use(user) { library throws(CaptureError) in
            _ = try library.assets.change(chosen.id, AssetChanges(isFavourite: true), scope: .all)
        }
        await scene.changed()
        #expect(try await program.notices() == 1)
        #expect(try await program.changes(since: token).ids == ["changed": [chosen.id]])
        try await scene.libraries.use(user) { library throws(CaptureError) in
            try library.choices.unchoose(id, [chosen.id])
            _ = try library.choices.choose(id, [hidden.id])
        }
        await scene.changed()
        let swapped = try await program.changes(since: token)
        #expect(swapped.ids["inserted"] == [hidden.id])
        #expect(swapped.ids["removed"] == [chosen.id])
        await isUnknown(chosen.id, to: program)

        for (member, signature, arguments) in [
            ("CreateAlbum", "s", [.string("Album")]), ("AddToAlbum", "sas", [.string(albums.mixed), .strings([own])]),
            ("Restore", "as", [.strings([own])]), ("Check", "", []), ("Repair", "", []),
        ] as [(String, String, [BusValue])] {
            #expect(await program.fault(member, signature, arguments)?.code == .denied, "\(member)")
        }
        for (member, signature, arguments) in [
            ("Change", "sa{sv}", [.string(chosen.id), .properties(["favourite": .bool(true)])]),
            ("Revert", "s", [.string(chosen.id)]), ("Delete", "as", [.strings([own, chosen.id])]),
        ] as [(String, String, [BusValue])] {
            #expect(await program.fault(member, signature, arguments)?.code == .noSuchAsset, "\(member)")
        }
        await scene.stop()
    }

    @Test func `asks by its first call, once for each level, and goes on with the answer`() async throws {
        let (scene, program, _) = try await start(nil)
        let agent = try await scene.agent(on: bus)
        let number = try await program.begin(try LibraryFixtures.file(LibraryFixtures.picture(1)))
        await agent.wasAsked(1)
        #expect(agent.facts["services"]?.texts == ["library-add"])
        try await agent.answer(["library-add": ["allowed": .bool(true)]])
        #expect(await program.outcome(of: number).code.isEmpty)
        #expect(try await program.add(LibraryFixtures.picture(2)).code.isEmpty)
        #expect(agent.questions.count == 1)

        #expect(await program.fault("Fetch", "a{sv}", [.properties([:])])?.code == .undecided)
        await agent.wasAsked(2)
        #expect(agent.facts["services"]?.texts == ["library-read-write"])
        #expect(await program.fault("Count", "a{sv}", [.properties([:])])?.code == .undecided)
        #expect(agent.questions.count == 2)
        try await agent.answer(["library-read-write": ["allowed": .bool(true)]])
        try await until { await program.fault("Count", "a{sv}", [.properties([:])])?.code != .undecided }
        #expect(try await program.count() == 2)
        #expect(agent.questions.count == 2)
        await scene.stop()
    }

    @Test func `whose consent goes while it adds has added nothing`() async throws {
        let (scene, program, _) = try await start(.addOnly)
        let (reading, writing) = try LibraryFixtures.pipe()
        let number = try await program.begin(reading)
        try unsafe LibraryFixtures.picture(1).withUnsafeBytes { try unsafe writing.write(all: $0) }
        while contents("transit").isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
        try await program.choose(.none)
        // The withdrawal shows with the next bytes, and at the end in any case.
        close(dup(writing.descriptor))
        try? unsafe [UInt8](repeating: 0, count: 10).withUnsafeBytes { try unsafe writing.write(all: $0) }
        let outcome = await program.outcome(of: number)
        #expect(outcome.code == "Revoked")
        #expect(contents("transit").isEmpty)
        #expect(try await everything(scene).isEmpty)
        await scene.stop()
    }

    /// The files of a folder of the user's library; none before there is one.
    func contents(_ name: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/library/\(getuid())/\(name)")) ?? []
    }

    func everything(_ scene: ConsentScene) async throws -> [MediaAsset] {
        try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.assets.fetch(AssetFetchOptions(order: .added, isAscending: true), scope: .all).assets
        }
    }
}
