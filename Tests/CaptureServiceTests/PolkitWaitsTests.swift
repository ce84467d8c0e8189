import CaptureCore
import Testing

@testable import CaptureService

struct PolkitWaitsTests {
    @Test func `one user's password dialogs leave room for other users', and all have a limit`() throws {
        let waits = PolkitWaits()
        for _ in 0..<PolkitWaits.mostOfUser { try waits.begin(for: 1000) }
        let failure = #expect(throws: CaptureError.self) { try waits.begin(for: 1000) }
        #expect(failure?.code == .busy)
        waits.end(for: 1000)
        try waits.begin(for: 1000)
        let others = PolkitWaits.most / PolkitWaits.mostOfUser - 1
        for user in 0..<UInt32(others) {
            for _ in 0..<PolkitWaits.mostOfUser { try waits.begin(for: 2000 + user) }
        }
        #expect(throws: CaptureError.self) { try waits.begin(for: 3000) }
        waits.end(for: 2000)
        try waits.begin(for: 3000)
    }
}
