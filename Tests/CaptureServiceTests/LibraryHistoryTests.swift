import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import MediaLibrary
import TestSupport
import Testing

@testable import CaptureService

/// What the history tells of programs that use the media library.
@Suite(.timeLimit(.minutes(10)))
final class `The history of the media library` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "library-history-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func set(_ choice: LibraryChoice, _ program: LibraryCaller) async throws {
        let words = ["", try await program.program(), "library", choice.rawValue].map { BusValue.string($0) }
        try await program.call("Set", "ssssa{sv}", words + [.properties([:])], on: CaptureNames.authorization)
    }

    private func uses(_ scene: ConsentScene) async throws -> [HistoryEntry] {
        try await scene.history.page(HistoryFilter(limit: 100)).filter { $0.kind == .use }
    }

    @Test func `has who used it, once a connection, and until when`() async throws {
        let scene = try await ConsentScene(on: bus, state: folder)
        let program = try await LibraryCaller(on: bus)
        try await set(.all, program)
        #expect(try await uses(scene).isEmpty)
        for _ in 0..<3 { _ = try await program.fetch() }
        let use = try #require(try await uses(scene).first)
        #expect(try await uses(scene).count == 1)
        #expect(use.service == .libraryReadWrite && use.deviceName == "media library" && use.outcome.isEmpty)
        #expect(use.program == (try await program.program()))
        try await set(.none, program)
        #expect(try await uses(scene).map(\.outcome) == ["revoked"])
        await scene.stop()
    }

    @Test func `has nothing of who finds nothing`() async throws {
        let scene = try await ConsentScene(on: bus, state: folder)
        let program = try await LibraryCaller(on: bus)
        try await set(.addOnly, program)
        #expect(try await program.fetch().isEmpty)
        #expect(try await uses(scene).isEmpty)
        await scene.stop()
    }

    @Test func `has what the person confirmed, what not, and what was picked`() async throws {
        let scene = try await ConsentScene(on: bus, state: folder)
        let agent = try await scene.agent(on: bus)
        let program = try await LibraryCaller(on: bus)
        try await set(.all, program)
        let asset = try await scene.add("one", "1.jpg")
        for (count, isConfirmed) in [(1, false), (2, true)] {
            let number = try #require(try await program.call("Delete", "as", [.strings([asset.id])])[0].unsigned)
            await agent.wasAsked(count)
            try await agent.confirm(isConfirmed)
            _ = await program.outcome(of: number)
        }
        let other = try await scene.add("two", "2.jpg")
        // The same twice is two events, since a person was there for each.
        for count in [3, 4] {
            let number = try await program.pick()
            await agent.wasAsked(count)
            try await agent.pick([other.id])
            _ = await program.outcome(of: number)
        }
        let events = try await scene.history.page(HistoryFilter(limit: 100)).filter { $0.kind == .decision }
        let name = try await program.program()
        #expect(
            events.reversed().map { "\($0.cause) \($0.status.word): \($0.message)" } == [
                "confirmation denied: the person did not let \(name) put 1 item of the media library into the bin: 1.jpg",
                "confirmation authorized: the person let \(name) put 1 item of the media library into the bin: 1.jpg",
                "picked authorized: the person picked 1 item of the media library for \(name), to be handed to it once",
                "picked authorized: the person picked 1 item of the media library for \(name), to be handed to it once",
            ]
        )
        #expect(events.allSatisfy { $0.program == name && $0.service == .libraryReadWrite && $0.times == 1 })
        await scene.stop()
    }
}
