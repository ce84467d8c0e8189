import BusSupport
import CaptureCore
import Testing

@testable import CaptureBus

/// Calls that are answered by an error are told of.
@Suite(.timeLimit(.minutes(10)))
struct FailureTests {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    private struct Failure: Sendable {
        var call: BusCall
        var error: CaptureError
    }

    @Test func `a failure is told of with its caller, before that hears of it`() async throws {
        let (server, client) = try await serveClient(bus)
        let told = Counter()
        let failures = Collector<Failure>()
        server.onFailure { call, error in
            _ = await told.next()
            failures.add(Failure(call: call, error: error))
        }
        _ = try await client.ask(server, "Echo", "v", [.variant(.byte(7))])
        await #expect(throws: CaptureError.self) { try await client.ask(server, "Fail", "s", [.string("Denied")]) }
        #expect(await told.next() == 2)
        let failure = try #require(await failures.next().first)
        #expect(failure.call.sender == client.uniqueName)
        #expect(failure.call.member == "Fail")
        #expect(failure.error.code == .denied)
    }

    @Test func `what is too long is told of without its values, in its turn`() async throws {
        let (server, client) = try await serveClient(bus)
        let failures = Collector<Failure>()
        server.onFailure { failures.add(Failure(call: $0, error: $1)) }
        let long = BusValue.string(String(repeating: "x", count: 100_000))
        await #expect(throws: CaptureError.self) { try await client.ask(server, "Echo", "v", [.variant(long)]) }
        let failure = try #require(await failures.next().first)
        #expect(failure.error == BusErrors.tooMuch)
        #expect(failure.call.arguments.isEmpty)
        #expect(failure.call.sender == client.uniqueName)
    }

    @Test func `an oversized call is reported before its sender gets an answer and may leave`() async throws {
        let (server, client) = try await serveClient(bus)
        let events = Collector<String>()
        server.onFailure { _, _ in
            // An answer that was sent earlier has arrived by now.
            _ = try? await client.ask(server, "Echo", "v", [.variant(.byte(7))])
            events.add("told")
        }
        let long = BusValue.string(String(repeating: "x", count: 100_000))
        await #expect(throws: CaptureError.self) { try await client.ask(server, "Echo", "v", [.variant(long)]) }
        events.add("answered")
        #expect(await events.next(2) == ["told", "answered"])
    }
}
