import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureKit
import CaptureMessages
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10)))
struct `How long an answer holds` {
    private func answers(_ facts: [String: BusValue]) throws(CaptureError) -> [String: PersonsAnswer] {
        try LifetimeCoding.answers(["camera": .properties(facts)], now: 1000)
    }

    @Test func `comes with it, always when it does not say`() throws {
        #expect(try answers(["allowed": .bool(true)]) == ["camera": true])
        #expect(try answers(["allowed": .bool(false)]) == ["camera": false])
        for lifetime in [GrantLifetime.always, .session, .connection] {
            let found = try answers(["allowed": .bool(true), "lifetime": .string(lifetime.word)])
            #expect(found["camera"] == PersonsAnswer(true, lifetime: lifetime))
        }
        let dated = try answers(["allowed": .bool(true), "lifetime": .string("until"), "until": .int64(1001)])
        #expect(dated["camera"]?.lifetime == .until(1001))
        #expect(try answers(["allowed": .bool(false), "lifetime": .string("session")]) == ["camera": false])
    }

    @Test func `is never taken from a table that names a service twice`() {
        let rows = [false, true].map { allowed in
            BusEntry(.string("camera"), .properties(["allowed": .bool(allowed)]))
        }
        let error = #expect(throws: CaptureError.self) { try [.dictionary("sa{sv}", rows)].properties(0) }
        #expect(error?.message == "argument 1 is not a table that names nothing twice")
    }

    @Test func `is told by the name of what it is about when it is malformed`() {
        let error = #expect(throws: CaptureError.self) { try answers([:]) }
        #expect(error?.message == "the answer about camera: an answer lacks 'allowed'")
    }

    @Test func `may be for chosen assets, of reading the library alone`() throws {
        func answers(_ service: String, _ facts: [String: BusValue]) throws(CaptureError) -> [String: PersonsAnswer] {
            try LifetimeCoding.answers([service: .properties(facts)], now: 1000)
        }
        let limited: [String: BusValue] = ["allowed": .bool(true), "limited": .bool(true)]
        let found = try answers("library-read-write", limited.merging(["lifetime": .string("session")]) { $1 })
        #expect(found == ["library-read-write": PersonsAnswer(true, isLimited: true, lifetime: .session)])
        for service in ["camera", "microphone", "library-add"] {
            let error = #expect(throws: CaptureError.self) { try answers(service, limited) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains(service) == true)
            #expect(try answers(service, ["allowed": .bool(true), "limited": .bool(false)]).count == 1)
        }
        for facts: [String: BusValue] in [
            ["allowed": .bool(false), "limited": .bool(true)], ["allowed": .bool(true), "limited": .string("yes")],
        ] {
            #expect(code { try answers("library-read-write", facts) } == .invalidArgument)
        }
    }

    @Test func `is refused when it makes no sense`() {
        for facts: [String: BusValue] in [
            [:], ["allowed": .string("yes")], ["allowed": .bool(true), "lifetime": .string("for ever")],
            ["allowed": .bool(true), "lifetime": .string("until")],
            ["allowed": .bool(true), "lifetime": .string("until"), "until": .int64(1000)],
            ["allowed": .bool(true), "lifetime": .string("always"), "until": .int64(2000)],
            ["allowed": .bool(true), "lifetime": .uint32(1)], ["allowed": .bool(true), "colour": .string("red")],
        ] {
            #expect(code { try answers(facts) } == .invalidArgument)
        }
    }

    @Test func `is not said of a confirmation, which is a yes or a no`() throws {
        func answers(_ facts: [String: BusValue]) throws(CaptureError) -> [String: PersonsAnswer] {
            try LifetimeCoding.answers(["delete": .properties(facts)], now: 1000)
        }
        #expect(try answers(["allowed": .bool(true)]) == ["delete": true])
        for key in ["limited", "lifetime", "until"] {
            #expect(code { try answers(["allowed": .bool(true), key: .string("session")]) } == .invalidArgument)
        }
    }

    @Test func `in settings is a moment and nothing else`() throws {
        #expect(try SetOptions(busValue: .properties([:])).lifetime == .always)
        #expect(try SetOptions(busValue: .properties(["until": .int64(7)])).lifetime == .until(7))
        for options: [String: BusValue] in [["until": .string("tomorrow")], ["lifetime": .string("session")]] {
            #expect(throws: CaptureError.self) { try SetOptions(busValue: .properties(options)) }
        }
    }

    @Test func `of a wrong type is refused by its name, its type and what would be right`() throws {
        for (value, type) in [(BusValue.string("tomorrow"), "s"), (.double(7), "d"), (.bool(true), "b")] {
            let error = #expect(throws: CaptureError.self) {
                try SetOptions(busValue: .properties(["until": value]))
            }
            #expect(error?.code == .invalidArgument)
            #expect(
                error?.message == "'until' of an answer to set is of D-Bus type '\(type)', but must be a whole number "
                    + "from \(Int64.min) to \(Int64.max)"
            )
        }
        let large = #expect(throws: CaptureError.self) {
            try SetOptions(busValue: .properties(["until": .uint64(.max)]))
        }
        #expect(large?.message.hasPrefix("'until' of an answer to set must be a whole number from ") == true)
        for (options, message): ([String: BusValue], String) in [
            (["kind": .int32(1)], "'kind' of an agent is of D-Bus type 'i', but must be a text of at most 255 bytes"),
            (["inline": .string("yes")], "'inline' of an agent is of D-Bus type 's', but must be true or false"),
        ] {
            let error = #expect(throws: CaptureError.self) { try AgentOptions(busValue: .properties(options)) }
            #expect(error?.message == message)
        }
    }
}
