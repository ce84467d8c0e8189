import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureKit
import Foundation
import MediaLibrary
import TestSupport
import Testing

@testable import CaptureService

/// What a program finds by the ids of what was picked for it, over a real bus with a real gate and library.
@Suite(.timeLimit(.minutes(10)), .serialized)
final class `The ids of what was picked` {
    /// The access of a program that comes back with two ids, of the first and second of three assets.
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// What is set for the program, by service.
        var set: [String: String] = [:]
        var isRestricted = false
        /// What the person answers when asked for reading; `nil` if nobody may be asked.
        var answer: [String: BusValue]?
        /// Whether each of the two is found.
        var finds: [Bool]
        var status: AuthorizationStatus
    }

    private static let yes: [String: BusValue] = ["allowed": .bool(true)]
    private static let no: [String: BusValue] = ["allowed": .bool(false)]
    private static let some: [String: BusValue] = ["allowed": .bool(true), "limited": .bool(true)]
    private static let add = ["library-add": "authorized"]

    static let rows = [
        Row(testDescription: "undecided, yes", answer: yes, finds: [true, true], status: .authorized),
        Row(testDescription: "undecided, chosen assets", answer: some, finds: [false, true], status: .limited),
        Row(testDescription: "undecided, no", answer: no, finds: [false, false], status: .denied),
        Row(testDescription: "add-only alone, yes", set: add, answer: yes, finds: [true, true], status: .authorized),
        Row(
            testDescription: "add-only alone, chosen assets",
            set: add,
            answer: some,
            finds: [false, true],
            status: .limited
        ),
        Row(testDescription: "add-only alone, no", set: add, answer: no, finds: [false, false], status: .denied),
        Row(
            testDescription: "restricted",
            set: ["library": "all"],
            isRestricted: true,
            finds: [false, false],
            status: .restricted
        ),
        Row(testDescription: "denied", set: ["library": "none"], finds: [false, false], status: .denied),
        Row(testDescription: "limited", set: ["library": "limited"], finds: [false, true], status: .limited),
        Row(testDescription: "everything", set: ["library": "all"], finds: [true, true], status: .authorized),
    ]

    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "library-picked-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func start() async throws -> (scene: ConsentScene, agent: CountingAgent, library: MediaLibrary) {
        let scene = try await ConsentScene(on: bus, state: folder, usage: QuietUsageDescriptions())
        let agent = try await scene.agent(on: bus)
        return (scene, agent, MediaLibrary(on: try await CaptureDaemon.connect(to: bus.kind)))
    }

    /// Has the person pick some assets: their ids for the program.
    private func pick(
        _ assets: [MediaAsset],
        by library: MediaLibrary,
        _ agent: CountingAgent
    ) async throws -> [String] {
        let count = agent.questions.count
        let picking = Task { try await library.pick(limit: assets.count) }
        await agent.wasAsked(count + 1)
        try await agent.pick(assets.map(\.id))
        return try await picking.value.map { try #require($0.assetID) }
    }

    /// Sets the consents of the program: its id.
    private func set(_ words: [String: String]) async throws -> String {
        let caller = try await LibraryCaller(on: bus)
        let program = try await caller.program()
        for (service, word) in words {
            let words = ["", program, service, word].map { BusValue.string($0) }
            try await caller.call("Set", "ssssa{sv}", words + [.properties([:])], on: CaptureNames.authorization)
        }
        return program
    }

    private func restrict(_ scene: ConsentScene) async throws {
        let rule = "[Rule]\nService=library-read-write\nDecision=restrict\n"
        await scene.gate.setPolicy(try Policy(rules: rule))
    }

    @Test(arguments: rows) func `find what the program may see, and ask while that is undecided`(_ row: Row)
        async throws
    {
        let (scene, agent, library) = try await start()
        var assets: [MediaAsset] = []
        for name in ["1.jpg", "2.jpg", "3.jpg"] { assets.append(try await scene.add(name, name)) }
        let chosen = [assets[1].id, assets[2].id]
        let ids = try await pick(Array(assets.prefix(2)), by: library, agent)
        let program = try await set(row.set)
        if row.isRestricted { try await restrict(scene) }
        if row.set["library"] == "limited" {
            _ = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
                try library.choices.choose(program, chosen)
            }
        }

        let fetching = Task { try await library.fetch(withIDs: ids) }
        var questions = 1
        if let answer = row.answer {
            questions += 1
            await agent.wasAsked(questions)
            #expect(agent.facts["services"]?.texts == ["library-read-write"])
            try await agent.answer(["library-read-write": answer])
            if row.status == .limited {
                questions += 1
                await agent.wasAsked(questions)
                try await agent.pick(chosen)
            }
        }
        let page = try await fetching.value
        #expect(page.assets.map(\.id) == zip(assets, row.finds).filter(\.1).map(\.0.id))
        #expect(page.status == row.status && page.next == nil)
        // Decided, it asks nobody any more.
        #expect(try await library.fetch(withIDs: ids).assets == page.assets)
        #expect(agent.questions.count == questions)
        await scene.stop()
    }

    @Test func `are the same for each pick, valid after a restart, and of no use to another program`() async throws {
        var (scene, agent, library) = try await start()
        let asset = try await scene.add("one", "1.jpg")
        let first = try await pick([asset], by: library, agent)
        #expect(try await pick([asset], by: library, agent) == first)
        #expect(!first[0].contains(asset.id))
        let others = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.picks.ids(of: [asset.id], for: "exe:/usr/bin/other")
        }
        #expect(others != first)
        await scene.stop()

        (scene, agent, library) = try await start()
        _ = try await set(["library": "all"])
        #expect(try await library.fetch(withIDs: others).assets.isEmpty)
        #expect(try await library.fetch(withIDs: others + first).assets.map(\.id) == [asset.id])
        await scene.stop()
    }

    @Test func `may be damaged, but neither too many nor none nor given twice`() async throws {
        let (scene, agent, library) = try await start()
        let id = try await pick([try await scene.add("one", "1.jpg")], by: library, agent)[0]
        for ids in [[], [id, id], (0...1000).map { "\($0)" }] {
            #expect(await code { _ = try await library.fetch(withIDs: ids) } == .invalidArgument)
        }
        #expect(agent.questions.count == 1)
        _ = try await set(["library": "all"])
        let damaged = ["", "x", String(id.dropLast()), id.uppercased(), String(repeating: "a", count: 1000)]
        let page = try await library.fetch(withIDs: damaged + [id])
        #expect(page.assets.map(\.name) == ["1.jpg"] && page.status == .authorized)
        await scene.stop()
    }
}
