import CaptureCore
import Testing

@testable import CaptureService

struct BusyLimitTests {
    @Test func `one user's work leaves room for other users', and all have a limit`() throws {
        let limit = BusyLimit(mostOfUser: 4, most: 64, "too much")
        for _ in 0..<4 { try limit.begin(for: 1000) }
        let failure = #expect(throws: CaptureError.self) { try limit.begin(for: 1000) }
        #expect(failure?.code == .busy)
        limit.end(for: 1000)
        try limit.begin(for: 1000)
        for user in 0..<UInt32(15) {
            for _ in 0..<4 { try limit.begin(for: 2000 + user) }
        }
        #expect(throws: CaptureError.self) { try limit.begin(for: 3000) }
        limit.end(for: 2000)
        try limit.begin(for: 3000)
    }
}
