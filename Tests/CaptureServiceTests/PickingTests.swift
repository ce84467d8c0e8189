import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import MediaLibrary
import Testing

@testable import CaptureService

/// What a person picks for a program, by programs and agents on a real bus.
@Suite(.timeLimit(.minutes(10)))
final class `Picking from the media library` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "library-picking-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func start() async throws -> (scene: ConsentScene, agent: CountingAgent, program: LibraryCaller) {
        let scene = try await ConsentScene(on: bus, state: folder)
        let agent = try await scene.agent(on: bus)
        return (scene, agent, try await LibraryCaller(on: bus))
    }

    @Test func `hands a program without any consent the contents that were picked, and nothing else`() async throws {
        let (scene, agent, program) = try await start()
        let assets = [
            try await scene.add("one", "1.jpg"), try await scene.add("two", "2.jpg"),
            try await scene.add("three", "3.jpg"),
        ]
        let number = try await program.pick(["limit": .uint32(2)])
        await agent.wasAsked(1)
        #expect(agent.facts["purpose"] == .string("pick") && agent.facts["limit"] == .uint32(2))
        #expect(agent.facts["program"]?.text == (try await program.program()))
        #expect(try await agent.browse() == ["1.jpg": false, "2.jpg": false, "3.jpg": false])
        try await agent.pick([assets[2].id, assets[0].id])
        let outcome = await program.outcome(of: number)
        #expect(outcome.code.isEmpty && outcome.result["count"] == .uint32(2))
        #expect(outcome.result["names"]?.texts == ["3.jpg", "1.jpg"])
        #expect(outcome.result["kinds"]?.texts == ["photo", "photo"])
        #expect(outcome.result["sizes"]?.elements == [.uint64(5), .uint64(3)])
        let request = BusValue.uint32(UInt32(number))
        #expect(try await program.text("OpenPicked", "uu", [request, .uint32(0)]) == "three")
        #expect(try await program.text("OpenPicked", "uu", [request, .uint32(1)]) == "one")
        #expect(await code { try await program.call("OpenPicked", "uu", [request, .uint32(2)]) } == .invalidArgument)
        // What it may read is as it was.
        #expect(try await program.status("library-read-write") == .notDetermined)
        let other = try await LibraryCaller(on: bus)
        #expect(await code { try await other.call("OpenPicked", "uu", [request, .uint32(0)]) } == .invalidArgument)
        await scene.stop()
    }

    @Test func `is shown by the command line that ships with the daemon alone`() async throws {
        let scene = try await ConsentScene(on: bus, state: folder)
        let other = try await scene.agent(on: bus, isShipped: false)
        let program = try await LibraryCaller(on: bus)
        try await scene.add("one", "1.jpg")
        #expect(await program.outcome(of: try await program.pick()).code == "NobodyToAsk")
        let agent = try await scene.agent(on: bus)
        let later = try await scene.agent(on: bus, isShipped: false)
        let number = try await program.pick()
        await agent.wasAsked(1)
        try await agent.dismiss()
        #expect(await program.outcome(of: number).code == "Dismissed")
        #expect(other.questions.isEmpty && later.questions.isEmpty)
        await scene.stop()
    }

    @Test func `keeps what was picked until the next time`() async throws {
        let (scene, agent, program) = try await start()
        let assets = [try await scene.add("one", "1.jpg"), try await scene.add("two", "2.jpg")]
        var numbers: [UInt64] = []
        for (index, asset) in assets.enumerated() {
            numbers.append(try await program.pick())
            await agent.wasAsked(index + 1)
            try await agent.pick([asset.id])
            #expect(await program.outcome(of: numbers[index]).code.isEmpty)
        }
        let first = BusValue.uint32(UInt32(numbers[0]))
        let second = BusValue.uint32(UInt32(numbers[1]))
        #expect(await code { try await program.call("OpenPicked", "uu", [first, .uint32(0)]) } == .invalidArgument)
        #expect(try await program.text("OpenPicked", "uu", [second, .uint32(0)]) == "two")
        // One that is closed changes nothing of it.
        let third = try await program.pick()
        await agent.wasAsked(3)
        try await agent.dismiss()
        #expect(await program.outcome(of: third).code == "Dismissed")
        #expect(try await program.text("OpenPicked", "uu", [second, .uint32(0)]) == "two")
        _ = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.bin.delete([assets[1].id], scope: .all)
        }
        #expect(await code { try await program.call("OpenPicked", "uu", [second, .uint32(0)]) } == .noSuchAsset)
        await scene.stop()
    }

    @Test func `shows an agent the library while its own question stands alone`() async throws {
        let (scene, agent, program) = try await start()
        let asset = try await scene.add("one", "1.jpg")
        try await scene.add("two", "2.flac")
        let stranger = try await CountingAgent(on: bus)
        #expect(await code { _ = try await agent.browse() } == .notPermitted)
        let number = try await program.pick(["kinds": .strings(["photo"]), "limit": .uint32(1)])
        await agent.wasAsked(1)
        let cookie = BusValue.string(agent.questions.last ?? "")
        #expect(try await agent.browse() == ["1.jpg": false])
        #expect(try await agent.browse(["kinds": .strings(["sound"])]) == [:])
        #expect(await code { _ = try await agent.browse(["binned": .bool(true)]) } == .invalidArgument)
        let arguments = [cookie, .properties([:])]
        #expect(await code { try await stranger.call("BrowseFor", "sa{sv}", arguments) } == .notPermitted)
        let picture = [cookie, .string(asset.id), .string("small")]
        #expect(await code { try await stranger.call("ThumbnailFor", "sss", picture) } == .notPermitted)
        // Answers that cannot be leave the question open.
        #expect(await code { try await agent.pick([]) } == .invalidArgument)
        #expect(await code { try await agent.pick(["x"]) } == .invalidArgument)
        #expect(await code { try await agent.pick([asset.id, asset.id]) } == .invalidArgument)
        #expect(await code { try await agent.pick([asset.id], dropping: [String(repeating: "a", count: 32)]) } != nil)
        let two = [asset.id, String(repeating: "b", count: 32)]
        #expect(await code { try await agent.pick(two) } == .invalidArgument)
        #expect(await code { try await agent.answer(true) } == .invalidArgument)
        try await agent.pick([asset.id])
        #expect(await program.outcome(of: number).code.isEmpty)
        #expect(await code { _ = try await agent.browse() } == .notPermitted)
        await scene.stop()
    }

    @Test func `is taken back when the program leaves or does not want it any more`() async throws {
        let (scene, agent, program) = try await start()
        try await scene.add("one", "1.jpg")
        let number = try await program.pick()
        await agent.wasAsked(1)
        // One question at a time.
        let second = try await program.pick()
        #expect(await program.outcome(of: second).code == "Busy")
        try await program.call("Cancel", "u", [.uint32(UInt32(number))])
        #expect(await !program.outcome(of: number).code.isEmpty)
        await agent.wasWithdrawn()
        #expect(await code { _ = try await agent.browse() } == .notPermitted)
        let other = try await LibraryCaller(on: bus)
        _ = try await other.pick()
        await agent.wasAsked(2)
        await other.die()
        await agent.wasWithdrawn()
        #expect(await code { _ = try await agent.browse() } == .notPermitted)
        await scene.stop()
    }

    @Test func `is taken back from an agent that had still to say that it shows it`() async throws {
        let (scene, _, program) = try await start()
        try await scene.add("one", "1.jpg")
        // The latest is asked.
        let agent = try await scene.agent(on: bus, holds: true)
        let number = try await program.pick()
        await agent.wasAsked(1)
        try await program.call("Cancel", "u", [.uint32(UInt32(number))])
        agent.letGo()
        await agent.wasWithdrawn()
        #expect(await !program.outcome(of: number).code.isEmpty)
        await scene.stop()
    }

    @Test func `is refused who asks too often, and where nobody is there`() async throws {
        let (scene, agent, program) = try await start()
        try await scene.add("one", "1.jpg")
        await scene.gate.setPromptLimits(PromptLimits(burst: 2, interval: 600_000))
        for count in 1...2 {
            let number = try await program.pick()
            await agent.wasAsked(count)
            try await agent.dismiss()
            #expect(await program.outcome(of: number).code == "Dismissed")
        }
        let third = try await program.pick()
        #expect(await program.outcome(of: third).code == "AskedTooOften")
        await scene.gate.setPromptLimits(PromptLimits(burst: 10, interval: 600_000))
        try await agent.call("UnregisterAgent", "o", [.objectPath(CountingAgent.path)])
        let fourth = try await program.pick()
        #expect(await program.outcome(of: fourth).code == "NobodyToAsk")
        await scene.stop()
    }

    @Test(arguments: [
        ["limit": BusValue.uint32(0)], ["limit": .uint32(1001)], ["kinds": .strings(["text"])], ["more": .bool(true)],
    ])
    func `refuses options that cannot be`(options: [String: BusValue]) async throws {
        let (scene, _, program) = try await start()
        #expect(await code { _ = try await program.pick(options) } == .invalidArgument)
        await scene.stop()
    }
}
