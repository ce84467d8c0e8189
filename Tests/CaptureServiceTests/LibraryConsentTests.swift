import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import CaptureService

extension LibraryCaller {
    /// Its statuses: without a level, of adding, of reading.
    fileprivate func statuses() async throws -> [AuthorizationStatus?] {
        [try await status(), try await status("library-add"), try await status("library-read-write")]
    }
}

/// The table of the media library, cell by cell, by programs and agents on a real bus.
@Suite(.timeLimit(.minutes(10)), .serialized)
final class `The media library's consent on the bus` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "library-consent-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func start() async throws -> (scene: ConsentScene, agent: CountingAgent, program: LibraryCaller) {
        let scene = try await ConsentScene(on: bus, state: folder)
        let agent = try await scene.agent(on: bus, picks: false)
        return (scene, agent, try await LibraryCaller(on: bus))
    }

    private static func facts(_ answers: [Service: PersonsAnswer]) -> [String: [String: BusValue]] {
        var facts: [String: [String: BusValue]] = [:]
        for (service, answer) in answers {
            facts[service.rawValue] = ["allowed": .bool(answer.isAllowed)]
            if answer.isLimited { facts[service.rawValue]?["limited"] = .bool(true) }
        }
        return facts
    }

    /// Puts a row's question, and answers it as the row has it.
    private func ask(_ row: LibraryRow, _ agent: CountingAgent, _ program: LibraryCaller) async throws {
        guard !row.asked.isEmpty else { return }
        let number = try await program.requestAccess(row.asked)
        await agent.wasAsked(1)
        #expect(agent.facts["services"]?.texts == row.asked.sorted().map(\.rawValue))
        let limitable = row.asked.contains(.libraryReadWrite) ? ["library-read-write"] : []
        #expect(agent.facts["limitable"]?.texts == limitable)
        try await agent.answer(Self.facts(row.answers))
        let outcome = await program.decision(of: number)
        let isDenied = row.answers.values.contains { !$0.isAllowed }
        #expect(outcome.code == (isDenied ? "Denied" : ""))
        for service in row.asked {
            let status = service == .libraryAdd ? row.add : row.readWrite
            #expect(outcome.statuses[service.rawValue] == UInt64(status.rawValue))
        }
    }

    /// Whether another request prompts; where it does, the question is closed.
    private func prompts(
        _ service: Service,
        _ agent: CountingAgent,
        _ program: LibraryCaller
    ) async throws -> Bool {
        let before = agent.questions.count
        let number = try await program.requestAccess([service])
        if number == 0 { return false }
        // What is decided needs no question; where there is one, it is decided by closing that.
        async let outcome = program.decision(of: number)
        let isOpen = try await program.status(service.rawValue) == .notDetermined
        if isOpen {
            await agent.wasAsked(before + 1)
            try await agent.dismiss()
        }
        #expect(await (outcome.code == "Dismissed") == isOpen)
        #expect(agent.questions.count == before + (isOpen ? 1 : 0))
        return isOpen
    }

    @Test(arguments: LibraryRow.table)
    func `follows the table, before and after a restart`(_ row: LibraryRow) async throws {
        let (scene, agent, program) = try await start()
        try await ask(row, agent, program)
        #expect(agent.questions.count == (row.asked.isEmpty ? 0 : 1))
        let expected: [AuthorizationStatus?] = [row.withoutLevel, row.add, row.readWrite]
        #expect(try await program.statuses() == expected)
        await scene.stop()

        let (next, other, again) = try await start()
        #expect(try await again.statuses() == expected)
        #expect(try await prompts(.libraryAdd, other, again) == row.addPrompts)
        #expect(try await prompts(.libraryReadWrite, other, again) == row.readWritePrompts)
        #expect(try await again.statuses() == expected)
        await next.stop()
    }

    @Test(arguments: LibraryRow.table)
    func `follows what the user chooses later in settings`(_ row: LibraryRow) async throws {
        let (scene, agent, program) = try await start()
        try await ask(row, agent, program)
        let asked = agent.questions.count
        let expected: [LibraryChoice: [AuthorizationStatus?]] = [
            .none: [.denied, .denied, .denied], .addOnly: [.denied, .authorized, .denied],
            .limited: [.authorized, .limited, .limited], .all: [.authorized, .authorized, .authorized],
        ]
        for choice in [LibraryChoice.addOnly, .all, .none, .limited, .addOnly] {
            try await program.choose(choice)
            #expect(try await program.statuses() == expected[choice])
            #expect(try await !prompts(.libraryAdd, agent, program))
            #expect(try await !prompts(.libraryReadWrite, agent, program))
        }
        #expect(agent.questions.count == asked)
        await scene.stop()
    }

    @Test func `is among the services that a refusal of an unknown one lists`() async throws {
        let (scene, _, program) = try await start()
        let calls: [(String, String, [BusValue])] = [
            ("GetStatus", "s", [.string("lamp")]),
            ("Set", "ssssa{sv}", ["", "exe:/a", "lamp", "denied"].map { .string($0) } + [.properties([:])]),
            ("Reset", "sss", ["", "exe:/a", "lamp"].map { .string($0) }),
        ]
        for (member, signature, arguments) in calls {
            let error = await #expect(throws: CaptureError.self) {
                try await program.connection.callDaemon(member, signature, arguments)
            }
            #expect(error?.code == .invalidArgument)
            let listed = "camera, microphone, library-add, library-read-write, library"
            #expect(error?.message == "unknown service 'lamp', expected one of \(listed)")
        }
        // The others take a level alone.
        let request = await #expect(throws: CaptureError.self) {
            try await program.connection.callDaemon("RequestAccess", "as", [.strings(["library"])])
        }
        #expect(request?.message.hasSuffix("library-add, library-read-write") == true)
        await scene.stop()
    }

    @Test func `takes a limited answer about reading alone, and the question stands on after another`() async throws {
        let (scene, agent, program) = try await start()
        let number = try await program.requestAccess([.libraryAdd, .libraryReadWrite])
        await agent.wasAsked(1)
        let limited: [String: BusValue] = ["allowed": .bool(true), "limited": .bool(true)]
        for wrong: [String: [String: BusValue]] in [
            ["library-add": limited], ["library-read-write": ["allowed": .bool(false), "limited": .bool(true)]],
        ] {
            #expect(await code { try await agent.answer(wrong) } == .invalidArgument)
        }
        try await agent.answer(["library-read-write": limited])
        let outcome = await program.decision(of: number)
        #expect(outcome.code.isEmpty)
        #expect(outcome.statuses == ["library-add": 4, "library-read-write": 4])
        // It is told each time that what it has is limited.
        let again = try await program.requestAccess([.libraryReadWrite])
        #expect(again != 0)
        #expect(await program.decision(of: again).statuses == ["library-read-write": 4])
        await scene.stop()
    }

    @Test func `shows what follows, and refuses a no to adding that would have no effect`() async throws {
        let (scene, _, program) = try await start()
        let album = BusValue.string("flatpak:org.example.Album")
        func set(_ service: String, _ answer: String) async throws {
            let arguments: [BusValue] = [.string(""), album, .string(service), .string(answer)]
            try await program.connection.callDaemon("Set", "ssssa{sv}", arguments + [.properties([:])])
        }
        try await set("library-add", "denied")
        try await set("library-read-write", "limited")
        let rows = try await program.connection.callDaemon("List").first?.elements?.compactMap(\.properties)
        #expect(rows?.map { $0["stored"]?.text } == ["denied", "limited"])
        #expect(rows?.map { $0["status"]?.text } == ["limited", "limited"])
        #expect(rows?.map { $0["follows"]?.text } == ["library-read-write", ""])
        let explained = try await program.connection.callDaemon(
            "Explain",
            "ssas",
            [.string(""), album, .strings(["library-add", "library-read-write"])]
        ).first?.elements?.compactMap(\.properties)
        #expect(explained?.map { $0["follows"]?.text } == ["library-read-write", ""])
        #expect(explained?.map { $0["start"]?.text } == ["starts", "starts"])
        #expect(explained?.first?["message"]?.text == "it may add to the media library without a question")
        let useless = await #expect(throws: CaptureError.self) { try await set("library-add", "denied") }
        #expect(useless?.code == .invalidArgument)
        #expect(useless?.message.contains("auth set 'flatpak:org.example.Album' library none") == true)
        for (service, answer) in [("library", "authorized"), ("camera", "limited"), ("library-add", "all")] {
            #expect(await code { try await set(service, answer) } == .invalidArgument, "\(service) \(answer)")
        }
        #expect(
            try await program.connection.callDaemon("Reset", "sss", [.string(""), album, .string("library")]).first?
                .unsigned == 2
        )
        try await set("library", "none")
        try await set("library-add", "authorized")
        let statuses = try await program.connection.callDaemon("GetProgramStatus", "ss", [.string(""), album]).first?
            .properties
        #expect(statuses?["library-add"]?.unsigned == 3)
        #expect(statuses?["library-read-write"]?.unsigned == 2)
        await scene.stop()
    }
}
