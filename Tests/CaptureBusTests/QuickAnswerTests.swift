import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct QuickAnswerTests {
    private static let interface = BusInterface(
        "org.capturekit.Test.Quick",
        methods: [BusMethod("Ask", [BusArgument("how", "s")], returns: [BusArgument("answer", "s")])]
    )
    private static let path = "/org/capturekit/Quick"

    /// What was done with calls, in order, as `SENDER WHAT`.
    private let events = Collector<String>()

    /// Serves `Ask`, which is quick where it is asked for `quick`; asked to `wait` it does until `may` yields.
    private func serve(_ bus: PrivateBus, _ may: AsyncStream<Void> = AsyncStream { $0.finish() })
        async throws -> BusConnection
    {
        let connection = try await bus.connect()
        let slow: BusHandler = { [events] call in
            events.add("\(call.sender) begins")
            if call.arguments[0].text == "wait" { for await _ in may { break } }
            events.add("\(call.sender) ends")
            return [.string("slow")]
        }
        let quick: BusQuickHandler = { [events] sender, arguments in
            switch arguments[0].text {
            case "quick":
                events.add("\(sender) quick")
                return [.string("quick")]
            case "wrong": return [.uint32(1)]
            default: return nil
            }
        }
        let implementation = BusImplementation(Self.interface, methods: ["Ask": slow], quick: ["Ask": quick])
        try await connection.export(try BusObject(path: Self.path, [implementation]))
        return connection
    }

    private func ask(_ client: BusConnection, _ server: BusConnection, _ how: String)
        async throws(CaptureError) -> String?
    {
        try await client.call(
            server.uniqueName,
            Self.path,
            Self.interface.name,
            "Ask",
            signature: "s",
            [.string(how)]
        ).first?.text
    }

    @Test func `an answer at hand is given at once`() async throws {
        let bus = try PrivateBus()
        let server = try await serve(bus)
        let client = try await bus.connect()
        #expect(try await ask(client, server, "quick") == "quick")
        #expect(try await ask(client, server, "other") == "slow")
        let name = client.uniqueName
        #expect(await events.next(3) == ["quick", "begins", "ends"].map { "\(name) \($0)" })
    }

    @Test func `it does not overtake an earlier call of the same sender, but those of others`() async throws {
        let bus = try PrivateBus()
        let (may, opening) = AsyncStream<Void>.makeStream()
        let server = try await serve(bus, may)
        let (client, other) = (try await bus.connect(), try await bus.connect())
        async let first = ask(client, server, "wait")
        #expect(await events.next(1) == ["\(client.uniqueName) begins"])
        #expect(try await ask(other, server, "quick") == "quick")
        async let second = ask(client, server, "quick")
        opening.yield()
        opening.finish()
        #expect(try await first == "slow")
        // Which of its handlers answers the second depends on when it came.
        _ = try await second
        #expect(await events.next(2) == ["\(other.uniqueName) quick", "\(client.uniqueName) ends"])
    }

    @Test func `one of another type than declared is an error`() async throws {
        let bus = try PrivateBus()
        let server = try await serve(bus, AsyncStream { $0.finish() })
        let client = try await bus.connect()
        await #expect(throws: CaptureError.self) { try await ask(client, server, "wrong") }
        #expect(try await ask(client, server, "quick") == "quick")
    }

    @Test func `one for what is no method is refused`() {
        let implementation = BusImplementation(
            Self.interface,
            methods: ["Ask": { _ in [] }],
            quick: ["Other": { _, _ in nil }]
        )
        #expect(throws: CaptureError.self) { try BusObject(path: Self.path, [implementation]) }
    }
}
