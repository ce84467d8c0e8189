import BusSupport
import CaptureBus
import CaptureCore
import Testing

@testable import CaptureKit

@Suite(.timeLimit(.minutes(10))) struct `A long request` {
    /// Answers by telling the end of a request before the number.
    private func ending(_ number: UInt32, count: UInt64, then answer: [BusValue]) -> FakeDaemon.Answer {
        { daemon, call throws(CaptureError) in
            try daemon.connection.emit(
                CaptureNames.root,
                CaptureNames.library,
                "Finished",
                signature: "ussa{sv}",
                [.uint32(number), .string(""), .string(""), .properties(["count": .uint64(count)])],
                to: call.sender
            )
            return answer
        }
    }

    @Test func `takes no earlier end for its own, unless that came while it was begun`() async throws {
        let fake = FakeLibrary([.readWrite: .authorized])
        let answers = [
            "EmptyBin": ending(7, count: 1, then: [.uint32(7)]),
            "Count": ending(8, count: 2, then: [.uint64(0), .uint32(3)]),
            "Delete": ending(9, count: 3, then: [.uint32(8)]),
            "Revert": ending(8, count: 4, then: []),
        ]
        let (daemon, library) = try await fake.open(replacing: answers)
        #expect(try await library.emptyBin() == 1)
        _ = try await library.count()
        let deletion = Task { try await library.delete(["a"]) }
        await daemon.called("Delete")
        try await library.revert("a")
        #expect(try await deletion.value == 4)
    }

    @Test func `that cannot be cancelled is waited for no longer`() async throws {
        let fake = FakeLibrary([.readWrite: .authorized])
        let answers: [String: FakeDaemon.Answer] = [
            "Delete": { _, _ in [.uint32(7)] },
            "Cancel": { _, _ throws(CaptureError) in throw CaptureError(.internalFault, "no") },
        ]
        let (daemon, library) = try await fake.open(replacing: answers)
        let deletion = Task { try await library.delete(["a"]) }
        await daemon.called("Delete")
        deletion.cancel()
        let error = await #expect(throws: CaptureError.self) { try await deletion.value }
        #expect(error?.code == .internalFault)
        #expect(error?.message == "it could not be cancelled, and may still be done: no")
    }
}
