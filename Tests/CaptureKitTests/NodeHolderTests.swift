import BusSupport
import CaptureBus
import CaptureKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NodeHolderTests {
    private func holders(_ facts: [String: BusValue]) async throws -> [NodeHolder] {
        let daemon = try await FakeDaemon(["ListHolders": { _, _ in [.propertyList([facts])] }])
        defer { withExtendedLifetime(daemon) {} }
        return try await daemon.client().holders()
    }

    @Test func `who holds a node is told with process, user and program`() async throws {
        let found = try await holders([
            "node": .string("/dev/video0"), "pid": .uint32(812), "uid": .uint32(1000), "user": .string("alice"),
            "name": .string("cheese"), "program": .string("/usr/bin/cheese"),
        ])
        var cheese = NodeHolder(
            node: "/dev/video0",
            process: 812,
            user: 1000,
            name: "cheese",
            program: "/usr/bin/cheese"
        )
        cheese.userName = "alice"
        #expect(found == [cheese])
    }

    @Test func `a holder without a process is no answer`() async throws {
        #expect(await code { try await holders(["node": .string("/dev/video0")]) } == .badData)
    }
}
