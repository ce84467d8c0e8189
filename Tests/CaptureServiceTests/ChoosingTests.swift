import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import MediaLibrary
import TestSupport
import Testing

@testable import CaptureService

/// Usage descriptions of programs that want no offers.
struct QuietUsageDescriptions: UsageDescriptions {
    func description(of: ClientIdentity, for services: [Service]) throws(CaptureError) -> UsageDescription {
        UsageDescription(reasons: Dictionary(uniqueKeysWithValues: services.map { ($0, "to sort") }))
    }

    func preventsLibraryAlert(_: ClientIdentity) -> Bool { true }
}

/// What a person chooses for a program that may read chosen assets alone, by programs and agents on a real bus.
@Suite(.timeLimit(.minutes(10)))
final class `Choosing what a limited program may read` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "library-choosing-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// - Parameter commandLine: The program that passes for the one that ships with the daemon.
    private func start(
        _ usage: any UsageDescriptions = QuietUsageDescriptions(),
        commandLine: String? = nil
    ) async throws -> (scene: ConsentScene, agent: CountingAgent, program: LibraryCaller) {
        let scene = try await ConsentScene(on: bus, state: folder, usage: usage, commandLine: commandLine)
        let agent = try await scene.agent(on: bus)
        return (scene, agent, try await LibraryCaller(on: bus))
    }

    private func set(_ choice: LibraryChoice, _ program: LibraryCaller) async throws {
        let words = ["", try await program.program(), "library", choice.rawValue].map { BusValue.string($0) }
        try await program.call("Set", "ssssa{sv}", words + [.properties([:])], on: CaptureNames.authorization)
    }

    @Test func `begins with the answer that limits it, which is decided once something was chosen`() async throws {
        let (scene, agent, program) = try await start()
        let assets = [try await scene.add("one", "1.jpg"), try await scene.add("two", "2.jpg")]
        let numbers = [try await program.requestAccess(), try await program.requestAccess()]
        await agent.wasAsked(1)
        try await agent.answer(["library-read-write": ["allowed": .bool(true), "limited": .bool(true)]])
        await agent.wasAsked(2)
        #expect(agent.facts["purpose"] == .string("extend"))
        #expect(try await agent.browse() == ["1.jpg": false, "2.jpg": false])
        #expect(!program.isDecided(numbers[0]) && !program.isDecided(numbers[1]))
        try await agent.pick([assets[1].id])
        for number in numbers { #expect(await program.decision(of: number).code.isEmpty) }
        #expect(try await program.fetch() == [assets[1].id])
        #expect(agent.questions.count == 2)
        await scene.stop()
    }

    @Test(arguments: [true, false])
    func `does not outlive the answer that it was for`(isAsked: Bool) async throws {
        let (scene, agent, program) = try await start()
        let asset = try await scene.add("one", "1.jpg")
        let name = try await program.program()
        // As it is when an answer has run out, or another file lies where the program was.
        _ = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.choices.choose(name, [asset.id])
        }
        if isAsked {
            let number = try await program.requestAccess()
            await agent.wasAsked(1)
            try await agent.answer(["library-read-write": ["allowed": .bool(true), "limited": .bool(true)]])
            await agent.wasAsked(2)
            #expect(try await agent.browse() == ["1.jpg": false])
            try await agent.dismiss()
            #expect(await program.decision(of: number).code.isEmpty)
        } else {
            try await set(.limited, program)
        }
        #expect(try await program.fetch().isEmpty)
        // Once it is limited, setting the same again changes nothing.
        _ = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.choices.choose(name, [asset.id])
        }
        try await set(.limited, program)
        #expect(try await program.fetch() == [asset.id])
        await scene.stop()
    }

    @Test func `is not come to by a request that the program takes back`() async throws {
        let (scene, agent, program) = try await start()
        let number = try await program.requestAccess()
        await agent.wasAsked(1)
        let taken: [BusValue] = [.uint32(UInt32(number))]
        try await program.call("CancelAccess", "u", taken, on: CaptureNames.authorization)
        #expect(await program.decision(of: number).code == "Dismissed")
        await #expect(throws: CaptureError.self) {
            try await agent.answer(["library-read-write": ["allowed": .bool(true)]])
        }
        let over = await code { try await program.call("CancelAccess", "u", taken, on: CaptureNames.authorization) }
        #expect(over == .invalidArgument)
        #expect(try await program.status() == .notDetermined)
        await scene.stop()
    }

    @Test func `leaves a program limited to its own where the person chooses nothing`() async throws {
        let (scene, agent, program) = try await start()
        try await scene.add("one", "1.jpg")
        let own = try await scene.add("own", "2.jpg", program: try await program.program())
        let number = try await program.requestAccess()
        await agent.wasAsked(1)
        try await agent.answer(["library-read-write": ["allowed": .bool(true), "limited": .bool(true)]])
        await agent.wasAsked(2)
        #expect(try await agent.browse() == ["1.jpg": false, "2.jpg": true])
        try await agent.dismiss()
        #expect(await program.decision(of: number).code.isEmpty)
        #expect(try await program.fetch() == [own.id])
        await scene.stop()
    }

    @Test func `is extended when the program asks, which is told what is new alone`() async throws {
        let (scene, agent, program) = try await start()
        let assets = [try await scene.add("one", "1.jpg"), try await scene.add("two", "2.jpg")]
        try await set(.limited, program)
        for (count, asset) in assets.enumerated() {
            let number = try await program.begin("ExtendChoice")
            await agent.wasAsked(count + 1)
            #expect(try await agent.browse() == ["1.jpg": count == 1, "2.jpg": false])
            // What is chosen already is no news.
            try await agent.pick(count == 0 ? [asset.id] : [assets[0].id, asset.id])
            #expect(await program.outcome(of: number).result["ids"]?.texts == [asset.id])
        }
        #expect(try await program.fetch() == Set(assets.map(\.id)))
        await scene.stop()
    }

    @Test(arguments: [(LibraryChoice.all, CaptureError.Code.wrongState), (.none, .denied), (.addOnly, .denied)])
    func `is for limited programs alone`(choice: LibraryChoice, expected: CaptureError.Code) async throws {
        let (scene, agent, program) = try await start()
        try await set(choice, program)
        #expect(await code { _ = try await program.begin("ExtendChoice") } == expected)
        #expect(agent.questions.isEmpty)
        await scene.stop()
    }

    @Test func `comes to nothing where the person takes the consent away meanwhile`() async throws {
        let (scene, agent, program) = try await start()
        let asset = try await scene.add("one", "1.jpg")
        try await set(.limited, program)
        let number = try await program.begin("ExtendChoice")
        await agent.wasAsked(1)
        try await set(.none, program)
        try await agent.pick([asset.id])
        #expect(await program.outcome(of: number).code == "Revoked")
        try await set(.limited, program)
        #expect(try await program.fetch().isEmpty)
        await scene.stop()
    }

    @Test(arguments: [false, true])
    func `is forgotten with the answer that it was for`(isReset: Bool) async throws {
        let (scene, agent, program) = try await start()
        let asset = try await scene.add("one", "1.jpg")
        try await set(.limited, program)
        let number = try await program.begin("ExtendChoice")
        await agent.wasAsked(1)
        try await agent.pick([asset.id])
        #expect(await program.outcome(of: number).code.isEmpty)
        if isReset {
            let words = ["", try await program.program(), "library"].map { BusValue.string($0) }
            try await program.call("Reset", "sss", words, on: CaptureNames.authorization)
        } else {
            try await set(.none, program)
        }
        try await set(.limited, program)
        #expect(try await program.fetch().isEmpty)
        await scene.stop()
    }

    @Test func `is offered beside what the program asks for itself, which takes its place`() async throws {
        let (scene, agent, program) = try await start(FixedUsageDescriptions("to sort"))
        try await scene.add("one", "1.jpg")
        try await set(.limited, program)
        _ = try await program.fetch()
        await agent.wasAsked(1)
        #expect(agent.facts["purpose"] == .string("offer"))
        let offer = agent.questions[0]
        let number = try await program.pick()
        await agent.wasAsked(2)
        #expect(agent.facts["purpose"] == .string("pick") && agent.withdrawn == [offer])
        try await agent.dismiss()
        #expect(await program.outcome(of: number).code == "Dismissed")
        await scene.stop()
    }

    @Test func `is offered in vain without a bearing on what the program asks for`() async throws {
        let (scene, agent, program) = try await start(FixedUsageDescriptions("to sort"))
        await scene.gate.setPromptLimits(PromptLimits(burst: 1, interval: 3_600_000))
        try await scene.add("one", "1.jpg")
        try await set(.limited, program)
        _ = try await program.fetch()
        await agent.wasAsked(1)
        try await agent.dismiss()
        let number = try await program.pick()
        await agent.wasAsked(2)
        try await agent.dismiss()
        #expect(await program.outcome(of: number).code == "Dismissed")
        #expect(await program.outcome(of: try await program.pick()).code == "AskedTooOften")
        await scene.stop()
    }

    @Test func `is offered once in a run, by the first read, which does not wait for it`() async throws {
        let (scene, agent, program) = try await start(FixedUsageDescriptions("to sort"))
        let asset = try await scene.add("one", "1.jpg")
        try await set(.limited, program)
        #expect(try await program.fetch().isEmpty)
        await agent.wasAsked(1)
        #expect(agent.facts["purpose"] == .string("offer"))
        try await agent.pick([asset.id])
        // Of this there is no signal: another question of the program's is put once the first is over.
        while await code({ _ = try await agent.browse() }) != .notPermitted {}
        var seen: Set<String> = []
        while seen.isEmpty { seen = try await program.fetch() }
        #expect(seen == [asset.id])
        let other = try await LibraryCaller(on: bus)
        #expect(try await other.fetch() == [asset.id])
        let number = try await program.pick()
        await agent.wasAsked(2)
        #expect(agent.facts["purpose"] == .string("pick"))
        try await agent.dismiss()
        _ = await program.outcome(of: number)
        await scene.stop()
    }

    @Test func `is offered by the first save, too, which does not wait for it`() async throws {
        let (scene, agent, program) = try await start(FixedUsageDescriptions("to sort"))
        try await set(.limited, program)
        let added = try await program.add(LibraryFixtures.picture(1))
        #expect(added.code.isEmpty, "\(added.message)")
        await agent.wasAsked(1)
        #expect(agent.facts["purpose"] == .string("offer"))
        try await agent.dismiss()
        await scene.stop()
    }

    @Test(arguments: [true, false])
    func `does not pass to another file at the program's place`(isReplaced: Bool) async throws {
        let (scene, _, panel) = try await start()
        let asset = try await scene.add("one", "1.jpg")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = folder + "/album-program"
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: file)
        let words = ["", "exe:\(file)", "library", "limited"].map { BusValue.string($0) }
        try await panel.call("Set", "ssssa{sv}", words + [.properties([:])], on: CaptureNames.authorization)
        _ = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.choices.choose("exe:\(file)", [asset.id])
        }
        if isReplaced {
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.copyItem(atPath: "/bin/false", toPath: file)
        }
        try await panel.call("Set", "ssssa{sv}", words + [.properties([:])], on: CaptureNames.authorization)
        let chosen = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.choices.chosen("exe:\(file)")
        }
        #expect(chosen == (isReplaced ? [] : [asset.id]))
        await scene.stop()
    }

    @Test func `is taken back with the program that it was offered for`() async throws {
        let (scene, agent, program) = try await start(FixedUsageDescriptions("to sort"))
        try await set(.limited, program)
        _ = try await program.fetch()
        await agent.wasAsked(1)
        await program.die()
        await agent.wasWithdrawn()
        await scene.stop()
    }

    @Test func `is not offered where the program's metadata says so`() async throws {
        let (scene, agent, program) = try await start()
        try await set(.limited, program)
        _ = try await program.fetch()
        let number = try await program.pick()
        await agent.wasAsked(1)
        // The first question is the one that the program asked for.
        #expect(agent.facts["purpose"] == .string("pick"))
        try await agent.dismiss()
        _ = await program.outcome(of: number)
        await scene.stop()
    }

    @Test func `in settings shows what is chosen, adds and takes away`() async throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let (scene, agent, panel) = try await start(commandLine: own)
        let album = "exe:/usr/bin/cat"
        let assets = [
            try await scene.add("one", "1.jpg"), try await scene.add("two", "2.jpg"),
            try await scene.add("own", "3.jpg", program: album),
        ]
        #expect(await code { _ = try await panel.begin("Choose", "s", [.string(album)]) } == .wrongState)
        try await panel.choose(.limited, for: album)
        var number = try await panel.begin("Choose", "s", [.string(album)])
        await agent.wasAsked(1)
        #expect(agent.facts["purpose"] == .string("choose") && agent.facts["subject"] == .string(album))
        #expect(try await agent.browse() == ["1.jpg": false, "2.jpg": false, "3.jpg": true])
        try await agent.pick([assets[0].id])
        #expect(await panel.outcome(of: number).result == ["chosen": .uint32(1), "dropped": .uint32(0)])
        number = try await panel.begin("Choose", "s", [.string(album)])
        await agent.wasAsked(2)
        #expect(try await agent.browse() == ["1.jpg": true, "2.jpg": false, "3.jpg": true])
        try await agent.pick([assets[1].id], dropping: [assets[0].id, assets[2].id])
        // What it made itself it goes on seeing.
        #expect(await panel.outcome(of: number).result == ["chosen": .uint32(1), "dropped": .uint32(1)])
        let chosen = try await scene.libraries.use(getuid()) { library throws(CaptureError) in
            try library.choices.chosen(album)
        }
        #expect(chosen == [assets[1].id])
        await scene.stop()
    }

    @Test func `in settings is for the command line that ships with the daemon alone`() async throws {
        let (scene, agent, program) = try await start()
        #expect(await code { _ = try await program.begin("Choose", "s", [.string("exe:/a")]) } == .notPermitted)
        #expect(agent.questions.isEmpty)
        await scene.stop()
    }
}
