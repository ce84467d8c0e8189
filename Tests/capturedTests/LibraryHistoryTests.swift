import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import captured

/// What the history tells of programs that use the media library.
@Suite(.timeLimit(.minutes(10)))
final class `The history of the media library` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "library-history-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func set(_ choice: LibraryChoice, _ program: LibraryCaller) async throws {
        let words = ["", try await program.program(), "library", choice.rawValue].map { BusValue.string($0) }
        try await program.call("Set", "ssss", words, on: CaptureNames.authorization)
    }

    private func uses(_ scene: ConsentScene) async throws -> [HistoryEntry] {
        try await scene.history.page(HistoryQuery(limit: 100)).filter { $0.kind == .use }
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
}
