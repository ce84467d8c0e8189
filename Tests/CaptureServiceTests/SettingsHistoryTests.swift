import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10))) struct `The history of settings` {
    @Test func `has who set and reset an answer and turned a switch`() async throws {
        let bus = try PrivateBus()
        let folder = NSTemporaryDirectory() + "settings-history-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let scene = try await ConsentScene(on: bus, state: folder)
        let client = try await BusConnection.open(bus.kind)
        func call(_ member: String, _ signature: String, _ arguments: [BusValue]) async throws -> [BusValue] {
            try await client.call(
                CaptureNames.service,
                CaptureNames.root,
                CaptureNames.authorization,
                member,
                signature: signature,
                arguments
            )
        }
        let own = try #require(try await call("WhoAmI", "", []).first?.properties)
        let program = BusValue.string("flatpak:org.example.Calls")
        let denial: [BusValue] = [.string(""), program, .string("camera"), .string("denied"), .properties([:])]
        _ = try await call("Set", "ssssa{sv}", denial)
        _ = try await call("Reset", "sss", [.string(""), program, .string("")])
        _ = try await call("SetSwitch", "sb", [.string("camera"), .bool(false)])
        let rows = try await call("GetHistory", "a{sv}", [.properties([:])]).first?.elements?.compactMap(\.properties)
        let settings = try #require(rows)
        #expect(settings.map { $0["status"]?.text } == ["restricted", "notDetermined", "denied"])
        for row in settings {
            #expect(row["kind"] == .string("setting"))
            #expect(row["author-program"] == own["program"])
            #expect(row["author-user"] == own["user"])
        }
        await scene.stop()
    }
}
