import ArgumentParser
import BusSupport
import CaptureBus
import CaptureKit
import Testing

@testable import capturectl

@Suite(.timeLimit(.minutes(10)))
struct LifetimeTests {
    private func command(_ arguments: String...) throws -> AuthSetCommand {
        try AuthSetCommand.parse(["exe:/a", "camera"] + arguments)
    }

    @Test func `a yes may have an end, as a span or a date`() throws {
        let now: Int64 = 1_700_000_000
        #expect(try command("authorized").end(now: now) == nil)
        #expect(try command("authorized", "--until", "8h").end(now: now) == (now + 28_800) * 1000)
        #expect(try command("authorized", "--until", "2100-01-01").end(now: now) ?? 0 > now * 1000)
    }

    @Test(arguments: [
        ["authorized", "--until", "2001-01-01"], ["authorized", "--until", "soon"], ["authorized", "--until", "0s"],
        ["denied", "--until", "8h"],
    ])
    func `an end that is over, no time or a no's is a usage error`(arguments: [String]) throws {
        #expect(code { try AuthSetCommand.parse(["exe:/a", "camera"] + arguments).end(now: 1_700_000_000) } == .usage)
    }

    @Test func `the daemon is told the end, and tells lifetimes`() async throws {
        let rows: [[String: BusValue]] = [
            ["program": .string("exe:/a"), "lifetime": .string("until"), "ends": .int64(4_102_444_800_000)],
            ["program": .string("exe:/b"), "lifetime": .string("connection"), "ends": .int64(0)],
            ["program": .string("exe:/c"), "lifetime": .string("always"), "ends": .int64(4_102_444_800_000)],
            ["program": .string("exe:/d")],
        ]
        let list = BusValue.propertyList(rows)
        let daemon = try await FakeDaemon(["List": { _, _ in [list] }])
        let panel = AuthorizationPanel(on: try await daemon.client())
        try await panel.set("exe:/a", .camera, isAllowed: true, until: 5000)
        #expect(daemon.calls("Set").first?.arguments[4].properties == ["until": .int64(5000)])
        try await panel.set("exe:/a", .camera, isAllowed: true)
        #expect(daemon.calls("Set").count == 2)
        #expect(daemon.calls("Set").last?.arguments[4].properties == [:])
        let lines = AuthPresentation.table(try await panel.entries()).text.split(separator: "\n")
        let day = Clock.Moment(seconds: 4_102_444_800).text
        #expect(lines[1].hasSuffix("until \(day)"))
        #expect(lines[2].hasSuffix("until it is closed"))
        #expect(lines[3].hasSuffix("until \(day) unless used"))
        #expect(lines[4].hasSuffix("always"))
        let json = AuthPresentation.json(try await panel.entries()[1])
        #expect(json["lifetime"] == "connection")
        #expect(json["ends"] == .null)
    }
}
