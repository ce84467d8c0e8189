import BusSupport
import CaptureBus
import CaptureKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HistoryTests {
    private func row(_ id: UInt64) -> [String: BusValue] {
        [
            "id": .uint64(id), "kind": .string("use"), "user": .string("alice"), "program": .string("exe:/a"),
            "status": .string("authorized"), "began": .int64(1000), "ended": .int64(0), "duration": .int64(500),
            "author-user": .string("root"), "author-program": .string("exe:/b"),
        ]
    }

    @Test func `all pages are fetched with the same conditions`() async throws {
        let rows = [row(9), row(7)].map { BusValue.properties($0) }
        let last = [BusValue.properties(row(3))]
        let daemon = try await FakeDaemon([
            "GetHistory": { _, call throws(CaptureError) in
                call.arguments[0].properties?["before"] == nil
                    ? [.array("a{sv}", rows), .uint64(7)] : [.array("a{sv}", last), .uint64(0)]
            }
        ])
        var filter = HistoryFilter()
        filter.program = "exe:/a"
        filter.since = 5
        let events = try await CaptureHistory(of: try await daemon.client()).events(filter)
        #expect(events.map(\.id) == [9, 7, 3])
        #expect(events.allSatisfy { $0.ended == nil && $0.duration == 500 && $0.status == .authorized })
        #expect(events.allSatisfy { $0.authorUser == "root" && $0.authorProgram == "exe:/b" })
        let asked = daemon.calls("GetHistory").compactMap { $0.arguments[0].properties }
        #expect(asked.count == 2)
        #expect(asked.allSatisfy { $0["program"] == .string("exe:/a") && $0["since"] == .int64(5) })
        #expect(asked.last?["before"] == .uint64(7))
    }

    @Test func `pages that lead back are no endless history`() async throws {
        let rows = [BusValue.properties(row(9))]
        let daemon = try await FakeDaemon(["GetHistory": { _, _ in [.array("a{sv}", rows), .uint64(50)] }])
        let history = CaptureHistory(of: try await daemon.client())
        #expect(await code { try await history.events() } == .badData)
        #expect(daemon.calls("GetHistory").count == 1)
    }
}
