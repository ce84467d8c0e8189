import BusSupport
import CSystemd
import CaptureCore
import CaptureSystem
import Glibc
import Testing

@testable import CaptureBus

/// A program's messages must neither keep other programs waiting nor fill the memory.
@Suite(.timeLimit(.minutes(10)))
struct FloodTests {
    private static let interface = BusInterface(
        "org.capturekit.Test.Flood",
        methods: [
            BusMethod("Wait"), BusMethod("Take", [BusArgument("value", "v")]),
            BusMethod("Many", returns: [BusArgument("bytes", "ay")]),
        ],
        signals: [BusSignalDeclaration("Happened", [BusArgument("what", "s")])]
    )

    /// Yields when `Wait` is called.
    private let begun = Collector<Void>()

    /// Serves `Wait`, which answers once `opening` yields.
    private func serve(_ bus: PrivateBus, _ opening: AsyncStream<Void> = AsyncStream { $0.finish() })
        async throws -> BusConnection
    {
        let connection = try await bus.connect()
        let handlers: [String: BusHandler] = [
            "Wait": { [begun] _ in
                begun.add(())
                for await _ in opening { break }
                return []
            },
            "Take": { _ in [] },
            "Many": { _ in [.array("y", Array(repeating: .byte(1), count: 100_000))] },
        ]
        try await connection.export(
            try BusObject(path: path, [BusImplementation(Self.interface, methods: handlers)])
        )
        return connection
    }

    private func ask(
        _ client: BusConnection,
        _ server: BusConnection,
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = []
    ) async throws(CaptureError) -> [BusValue] {
        try await client.call(
            server.uniqueName,
            path,
            Self.interface.name,
            member,
            signature: signature,
            arguments,
            timeout: 60
        )
    }

    @Test func `an oversized call gets its answer while an earlier call of its sender waits`() async throws {
        let bus = try PrivateBus()
        let (opening, open) = AsyncStream<Void>.makeStream()
        let server = try await serve(bus, opening)
        let client = try await bus.connect()
        async let first = ask(client, server, "Wait")
        _ = await begun.next()
        let long = BusValue.variant(.string(String(repeating: "x", count: 1 << 20)))
        let failure = await #expect(throws: CaptureError.self) { try await ask(client, server, "Take", "v", [long]) }
        #expect(failure?.message == BusErrors.tooMuch.message)
        open.finish()
        _ = try await first
    }

    @Test func `one descriptor does not become many`() async throws {
        let bus = try PrivateBus()
        let server = try await serve(bus)
        let client = try await bus.connect()
        let file = try Descriptor.open("/dev/null", O_RDONLY)
        let many = BusValue.variant(.array("h", Array(repeating: .descriptor(file), count: 8)))
        for value in [many, .variant(.descriptor(file))] {
            let failure = await #expect(throws: CaptureError.self) {
                try await ask(client, server, "Take", "v", [value])
            }
            #expect(failure?.message == BusErrors.tooMuch.message)
        }
        _ = try await ask(client, server, "Take", "v", [.variant(.byte(1))])
    }

    @Test func `a signal in the bus's own name counts only if the bus sent it`() async throws {
        let bus = try PrivateBus()
        let (client, forger) = (try await bus.connect(), try await bus.connect())
        let heard = Collector<String>()
        let match = BusMatch(sender: CaptureNames.bus, interface: CaptureNames.bus, member: "NameOwnerChanged")
        let subscription = try await client.subscribe(match) { heard.add($0.sender) }
        try forger.emit(
            CaptureNames.busPath,
            CaptureNames.bus,
            "NameOwnerChanged",
            signature: "sss",
            [.string(forger.uniqueName), .string(forger.uniqueName), .string("")],
            to: client.uniqueName
        )
        // It arrives after the forged one, over the same connection.
        try await forger.requestName("org.capturekit.Test")
        #expect(await heard.next() == [CaptureNames.bus])
        subscription.cancel()
    }

    @Test func `a connection can watch more names than the bus allows it matches`() async throws {
        let bus = try PrivateBus()
        let watcher = try await bus.connect()
        var client: BusConnection? = try await bus.connect()
        let name = try #require(client?.uniqueName)
        let gone = Collector<Int>()
        var subscriptions: [BusSubscription] = []
        for number in 0..<600 {
            subscriptions.append(try await watcher.whenNameVanishes(name) { gone.add(number) })
        }
        subscriptions.removeFirst(100)
        // It arrives after the ends of those names.
        _ = try await watcher.owner(of: name)
        client = nil
        #expect(Set(await gone.next(500)) == Set(100..<600))
        subscriptions = []
        let again = try await watcher.whenNameVanishes(name) { gone.add(-1) }
        #expect(await gone.next() == [-1])
        again.cancel()
    }

    @Test func `an answer of another program has a limit`() async throws {
        let bus = try PrivateBus()
        let server = try await serve(bus)
        let client = try await bus.connect()
        #expect(await code { try await ask(client, server, "Many") } == .badData)
    }

    @Test func `signals that the bus does not read are bounded`() async throws {
        let bus = try PrivateBus()
        let server = try await serve(bus)
        bus.stop()
        // Far more than a socket holds.
        for number in 0..<80_000 {
            try server.emit(path, Self.interface.name, "Happened", signature: "s", [.string("number \(number)")])
        }
        let unsent: UInt64 = try await server.loop.perform { core throws(CaptureError) in
            var count: UInt64 = 0
            unsafe sd_bus_get_n_queued_write(try core.connected(), &count)
            return count
        }
        #expect(unsent <= 20_000)
        bus.end()
    }
}
