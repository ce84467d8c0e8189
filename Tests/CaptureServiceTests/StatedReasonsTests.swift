import Authorization
import BusSupport
import CaptureCore
import Testing

@testable import CaptureService

@Suite struct `What programs say of themselves` {
    private let stated = StatedReasons()

    private func client(_ tier: Tier) -> ClientIdentity {
        ClientIdentity(program: "exe:/home/a/tool", tier: tier, user: 1000, name: "tool", detail: "a test")
    }

    @Test func `counts for its connection, until that leaves`() throws {
        try stated.state([.camera: "Reads a gauge"], by: client(.claimed), on: ":1.1")
        #expect(stated.usage(on: ":1.1").reasons == [.camera: "Reads a gauge"])
        #expect(stated.usage(on: ":1.2").reasons.isEmpty)
        try stated.state([.microphone: "Listens"], by: client(.claimed), on: ":1.1")
        #expect(stated.usage(on: ":1.1").reasons == [.microphone: "Listens"])
        stated.clientGone(":1.1")
        #expect(stated.usage(on: ":1.1").reasons.isEmpty)
    }

    @Test func `is made harmless and cut, and an empty text is no reason`() throws {
        let long = "a\u{1B}[2J" + String(repeating: "x", count: 100_000)
        try stated.state([.camera: long, .microphone: " \n"], by: client(.claimed), on: ":1.1")
        let found = stated.usage(on: ":1.1").reasons
        #expect(found[.microphone] == nil)
        #expect(found[.camera].map { $0.count <= 301 && !$0.contains("\u{1B}") } == true)
    }

    @Test(arguments: Bridge.allCases) func `can be how they came, without a reason`(bridge: Bridge) throws {
        try stated.state([:], bridge: bridge, by: client(.claimed), on: ":1.1")
        #expect(stated.usage(on: ":1.1") == UsageDescription(reasons: [:], bridge: bridge))
        try stated.state([:], by: client(.claimed), on: ":1.1")
        #expect(stated.usage(on: ":1.1").bridge == nil)
    }

    @Test func `are the bridge alone for who captures through a bridge's connection`() throws {
        var (one, other) = (client(.claimed), client(.claimed))
        (one.pid, other.pid) = (7, 8)
        try stated.state([.camera: "The bridge's own"], by: client(.claimed), on: ":1.1")
        stated.state(.pulse, of: one, on: ":1.1")
        #expect(stated.usage(of: one, on: ":1.1") == UsageDescription(reasons: [:], bridge: .pulse))
        #expect(stated.usage(of: other, on: ":1.1").bridge == nil)
        #expect(stated.usage(of: one, on: ":1.2").bridge == nil)
        stated.processGone(7, on: ":1.1")
        #expect(stated.usage(of: one, on: ":1.1").bridge == nil)
        stated.state(.pipewire, of: one, on: ":1.1")
        stated.clientGone(":1.1")
        #expect(stated.usage(of: one, on: ":1.1") == UsageDescription(reasons: [:]))
    }

    @Test(arguments: [Tier.sandboxed, .service, .user]) func `is not taken from who has metadata`(tier: Tier) {
        #expect(code { try stated.state([.camera: "x"], bridge: .v4l2, by: client(tier), on: ":1.1") } == .notPermitted)
        #expect(stated.usage(on: ":1.1").reasons.isEmpty)
    }
}
