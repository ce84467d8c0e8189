import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import TestSupport
import Testing

@testable import CaptureService

/// Alice (1000) in session 2 at seat0, and from elsewhere in session 5; bob (1001) in session 3 at the same seat.
@Suite(.timeLimit(.minutes(10)))
struct `With StopWhenLocked` {
    private let bus: PrivateBus
    private let gate: AuthorizationGate
    private let watch: LoginWatch
    private let withdrawals: WithdrawalWatch
    private static let logins = LoginSessions(
        user: { ["2": 1000, "5": 1000, "3": 1001][$0] },
        display: { [1000: "2", 1001: "3"][$0] },
        active: { nil }
    )

    init() async throws {
        bus = try PrivateBus()
        let connection = try await BusConnection.open(bus.kind)
        gate = AuthorizationGate(prompter: AgentRegistry(bus: connection, commandLine: .absent, logins: Self.logins))
        withdrawals = WithdrawalWatch(gate)
        watch = LoginWatch(bus: connection, isSystem: true, sessions: Self.logins, gate: gate)
    }

    private func program(in session: String, tier: Tier = .sandboxed) -> ClientIdentity {
        ClientIdentity(
            program: tier == .service ? "unit:doorbell.service" : "flatpak:org.example.Tool",
            tier: tier,
            user: tier == .service ? 990 : 1000,
            name: "tool",
            detail: "a test",
            parts: IdentityParts(session: session)
        )
    }

    private func start(_ client: ClientIdentity) async throws -> Grant {
        try await gate.set(user: client.answerUser, program: client.program, service: .camera, status: .authorized)
        let grants = try await gate.requestAccess([.camera], for: Requester(client: client, session: ":1.1") { client })
        return try #require(grants[.camera])
    }

    /// Waits until a grant is withdrawn.
    private func end(of grant: Grant) async -> String {
        await withdrawals.end(of: grant)
        return grant.withdrawalReason
    }

    @Test func `a session that is locked stops what runs in it, and nothing else`() async throws {
        let logind = try await FakeLogind(bus)
        await watch.setStopping(true)
        let here = try await start(program(in: "2"))
        let service = try await start(program(in: ""))
        let there = try await start(program(in: "5"))
        let doorbell = try await start(program(in: "", tier: .service))
        try logind.lock("2", true)
        #expect(await end(of: here).contains("session 2 of") == true)
        #expect(await end(of: service).contains("is locked") == true)
        #expect(there.isLive)
        #expect(doorbell.isLive)
        #expect(await code { _ = try await start(program(in: "2")) } == .userAway)
        try logind.lock("2", false)
        #expect(try await start(program(in: "2")).isLive)
        withExtendedLifetime(logind) {}
    }

    @Test func `a session that changes all the time keeps nobody from starting`() async throws {
        let logind = try await FakeLogind(bus)
        await watch.setStopping(true)
        let changing = Task {
            var isLocked = false
            while !Task.isCancelled {
                isLocked.toggle()
                try logind.lock("3", isLocked)
                // Often enough that a request is overtaken, and not so often that the fake logind answers nobody.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        for _ in 0..<5 { #expect(try await start(program(in: "2")).isLive) }
        let grant = try await start(program(in: "5"))
        // The looks go on meanwhile.
        let here = try await start(program(in: "2"))
        try logind.lock("2", true)
        #expect(await end(of: here).contains("session 2 of") == true)
        #expect(grant.isLive)
        changing.cancel()
        _ = await changing.result
        withExtendedLifetime(logind) {}
    }

    @Test func `another user at the machine stops it, and an empty seat does not`() async throws {
        let logind = try await FakeLogind(bus)
        await watch.setStopping(true)
        let before = try await start(program(in: "2"))
        try logind.show(nil)
        #expect(try await start(program(in: "2")).isLive)
        #expect(before.isLive)
        try logind.show("3")
        #expect(await end(of: before).contains("sits at seat0 now") == true)
        try logind.show("2")
        #expect(try await start(program(in: "2")).isLive)
        withExtendedLifetime(logind) {}
    }

    @Test func `those who go on when their user is back hear of each look`() async throws {
        let logind = try await FakeLogind(bus)
        let (looks, feed) = AsyncStream<Void>.makeStream()
        let watch = LoginWatch(
            bus: try await BusConnection.open(bus.kind),
            isSystem: true,
            sessions: Self.logins,
            gate: gate,
            looked: { feed.yield() }
        )
        await watch.setStopping(true)
        let client = program(in: "2")
        try logind.lock("2", true)
        for await _ in looks where await gate.absence(of: client) != nil { break }
        try logind.lock("2", false)
        for await _ in looks where await gate.absence(of: client) == nil { break }
        await watch.setStopping(false)
        for await _ in looks { break }
        withExtendedLifetime(logind) {}
    }

    @Test func `it is looked at again when it is switched on and off`() async throws {
        let logind = try await FakeLogind(bus)
        try logind.lock("2", true)
        let grant = try await start(program(in: "2"))
        await watch.setStopping(true)
        #expect(!grant.isLive)
        #expect(grant.withdrawalReason.contains("is locked"))
        await watch.setStopping(false)
        #expect(try await start(program(in: "2")).isLive)
        withExtendedLifetime(logind) {}
    }

    @Test func `who is in a session that nobody can tell anything of is refused, and who is in none is not`()
        async throws
    {
        await watch.setStopping(true)
        let error = await #expect(throws: CaptureError.self) { _ = try await start(program(in: "2")) }
        #expect(error?.code == .userAway)
        #expect(error?.message.contains("cannot tell whether session 2") == true)
        #expect(try await start(program(in: "", tier: .service)).isLive)
    }
}
