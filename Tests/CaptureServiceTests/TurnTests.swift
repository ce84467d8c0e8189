import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import Synchronization
import Testing

@testable import CaptureService

/// A call that waits for a person, or for a service that asks one, lets its sender's next call begin.
@Suite(.timeLimit(.minutes(10)))
struct `While a call waits` {
    private static let path = "/org/capturekit/Test"
    private static let interface = BusInterface(
        "org.capturekit.Test.Turn",
        methods: [BusMethod("Wait"), BusMethod("Ping")]
    )

    /// Serves `Ping`, and `Wait` with the given closure.
    private func serve(_ bus: PrivateBus, _ wait: @escaping BusHandler) async throws -> BusConnection {
        let server = try await BusConnection.open(bus.kind)
        let handlers: [String: BusHandler] = ["Wait": wait, "Ping": { _ in [] }]
        try await server.export(BusObject(path: Self.path, [BusImplementation(Self.interface, methods: handlers)]))
        return server
    }

    private func ask(_ client: BusConnection, _ server: BusConnection, _ member: String)
        async throws(CaptureError)
    {
        _ = try await client.call(server.uniqueName, Self.path, Self.interface.name, member, timeout: 60)
    }

    @Test func `for polkit, its sender's next call is answered`() async throws {
        let bus = try PrivateBus()
        let polkit = try await FakePolkit(bus, nil)
        let asking = Polkit(bus: try await BusConnection.open(bus.kind))
        let server = try await serve(bus) { call throws(CaptureError) in
            _ = try await asking.allows("org.example.act", to: call.sender, timeout: 120)
            return []
        }
        let client = try await BusConnection.open(bus.kind)
        async let first: Void = ask(client, server, "Wait")
        await polkit.wasAsked()
        await #expect(throws: Never.self) { try await ask(client, server, "Ping") }
        polkit.answersNo()
        try await first
    }

    @Test func `for logind, its sender's next call is answered`() async throws {
        let bus = try PrivateBus()
        let (opening, open) = AsyncStream<Void>.makeStream()
        let (asked, tell) = AsyncStream<Void>.makeStream()
        let manager = BusInterface(
            "org.freedesktop.login1.Manager",
            methods: [
                BusMethod("GetSession", [BusArgument("session_id", "s")], returns: [BusArgument("object_path", "o")])
            ]
        )
        let getSession: BusHandler = { _ throws(CaptureError) in
            tell.yield()
            for await _ in opening { break }
            throw CaptureError(.busy, "it answers nothing")
        }
        let login = try await BusConnection.open(bus.kind)
        try await login.export(
            BusObject(
                path: "/org/freedesktop/login1",
                [BusImplementation(manager, methods: ["GetSession": getSession])]
            )
        )
        try await login.requestName(Logind.name)
        let logind = Logind(bus: try await BusConnection.open(bus.kind))
        let hasWaited = Mutex(false)
        let server = try await serve(bus) { _ throws(CaptureError) in
            _ = try? await logind.session("2")
            hasWaited.withLock { $0 = true }
            return []
        }
        let client = try await BusConnection.open(bus.kind)
        async let first: Void = ask(client, server, "Wait")
        for await _ in asked { break }
        // The daemon gives up on logind after ten seconds.
        try await ask(client, server, "Ping")
        #expect(!hasWaited.withLock { $0 })
        open.finish()
        try await first
    }
}
