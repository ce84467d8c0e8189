import Authorization
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
        #expect(stated.reasons(on: ":1.1") == [.camera: "Reads a gauge"])
        #expect(stated.reasons(on: ":1.2").isEmpty)
        try stated.state([.microphone: "Listens"], by: client(.claimed), on: ":1.1")
        #expect(stated.reasons(on: ":1.1") == [.microphone: "Listens"])
        stated.clientGone(":1.1")
        #expect(stated.reasons(on: ":1.1").isEmpty)
    }

    @Test func `is made harmless and cut, and an empty text is no reason`() throws {
        let long = "a\u{1B}[2J" + String(repeating: "x", count: 100_000)
        try stated.state([.camera: long, .microphone: " \n"], by: client(.claimed), on: ":1.1")
        let found = stated.reasons(on: ":1.1")
        #expect(found[.microphone] == nil)
        #expect(found[.camera].map { $0.count <= 301 && !$0.contains("\u{1B}") } == true)
    }

    @Test(arguments: [Tier.sandboxed, .service, .user]) func `is not taken from who has metadata`(tier: Tier) {
        let error = #expect(throws: CaptureError.self) {
            try stated.state([.camera: "x"], by: client(tier), on: ":1.1")
        }
        #expect(error?.code == .notPermitted)
        #expect(stated.reasons(on: ":1.1").isEmpty)
    }
}
