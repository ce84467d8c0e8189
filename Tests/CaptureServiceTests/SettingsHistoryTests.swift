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
        let own = try #require(try await client.callDaemon("WhoAmI").first?.properties)
        let program = BusValue.string("flatpak:org.example.Calls")
        let denial: [BusValue] = [.string(""), program, .string("camera"), .string("denied"), .properties([:])]
        try await client.callDaemon("Set", "ssssa{sv}", denial)
        try await client.callDaemon("Reset", "sss", [.string(""), program, .string("")])
        try await client.callDaemon("SetSwitch", "sb", [.string("camera"), .bool(false)])
        let rows = try await client.callDaemon("GetHistory", "a{sv}", [.properties([:])]).first?.elements?.compactMap(
            \.properties
        )
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
