import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Synchronization
import Testing

@testable import CaptureService

extension LoginSessions {
    /// Nobody is logged in, and nobody sits at the machine.
    static let none = LoginSessions(user: { _ in nil }, display: { _ in nil }, active: { nil })
}

/// Alice (1000) in session 2 at the seat, and from elsewhere in session 5; bob (1001) in session 3 at the same seat.
@Suite(.timeLimit(.minutes(10)))
struct `A question is put` {
    /// Who sits at the machine.
    private final class Chair: Sendable {
        let audience = Mutex<Audience?>(nil)
    }

    private let bus: PrivateBus
    private let agents: AgentRegistry
    private let chair: Chair
    private let logins: LoginSessions

    init() async throws {
        bus = try PrivateBus()
        let chair = Chair()
        self.chair = chair
        logins = LoginSessions(
            user: { ["2": 1000, "5": 1000, "3": 1001][$0] },
            display: { [1000: "2", 1001: "3"][$0] },
            active: { chair.audience.withLock { $0 } }
        )
        agents = try await AgentRegistry(on: bus, logins: logins)
    }

    private func identity(_ name: String, _ session: String, user: UInt32 = 1000, tier: Tier = .claimed)
        -> ClientIdentity
    {
        ClientIdentity(
            program: tier == .service ? "unit:\(name).service" : "app:\(name)",
            tier: tier,
            user: user,
            name: name,
            detail: "a test",
            parts: IdentityParts(session: session)
        )
    }

    /// Registers an agent that says yes to everything.
    private func agent(_ session: String, user: UInt32 = 1000) async throws -> YesAgent {
        var panel = identity("panel", session, user: user)
        panel.pid = 1
        return try await YesAgent(bus, agents, as: panel)
    }

    /// What asking about a program comes to where no agent is to be asked.
    private func refusal(_ client: ClientIdentity) async -> String {
        let error = await #expect(throws: CaptureError.self) { _ = try await agents.ask(for: client) }
        #expect(error?.code == .nobodyToAsk)
        return error?.message ?? ""
    }

    @Test func `in the session of the program, whichever agent came last`() async throws {
        let here = try await agent("2")
        let there = try await agent("5")
        #expect(try await agents.ask(for: identity("tool", "2")) == [.camera: true])
        #expect([here.timesAsked, there.timesAsked] == [1, 0])
        #expect(try await agents.ask(for: identity("tool", "5")) == [.camera: true])
        #expect([here.timesAsked, there.timesAsked] == [1, 1])
    }

    @Test func `in the user's display session for what is in none, or in another user's`() async throws {
        let alices = try await agent("2")
        let there = try await agent("5")
        let bobs = try await agent("", user: 1001)
        #expect(try await agents.ask(for: identity("managed", "")) == [.camera: true])
        #expect([alices.timesAsked, there.timesAsked, bobs.timesAsked] == [1, 0, 0])
        // As after sudo(8): bob's by user, in alice's session.
        #expect(try await agents.ask(for: identity("tool", "2", user: 1001)) == [.camera: true])
        #expect([alices.timesAsked, there.timesAsked, bobs.timesAsked] == [1, 0, 1])
        // Root is not logged in itself, and alice is not root.
        #expect(
            await refusal(identity("tool", "2", user: 0))
                == "there is nobody to ask: root is not logged in, and no agent but the program's own runs for that user; "
                + "start one with 'capturectl agent'"
        )
    }

    @Test func `by an agent that is itself another user's in a session as one of its own user's`() async throws {
        // bob's agent, started after sudo(8) in alice's session, is in bob's own.
        let bobs = try await agent("2", user: 1001)
        #expect(await refusal(identity("tool", "2")).contains("in session 2 of"))
        #expect(try await agents.ask(for: identity("tool", "3", user: 1001)) == [.camera: true])
        #expect(bobs.timesAsked == 1)
    }

    @Test func `about a service in the session in front, and in no other of the same user`() async throws {
        let doorbell = identity("doorbell", "", user: 990, tier: .service)
        let alices = try await agent("2")
        let there = try await agent("5")
        let bobs = try await agent("3", user: 1001)
        let nobody = await refusal(doorbell)
        #expect(nobody.contains("nobody sits at this machine"))
        #expect(nobody.contains("capturectl auth set 'unit:doorbell.service' camera"))
        chair.audience.withLock { $0 = Audience(user: 1000, session: "2") }
        #expect(try await agents.ask(for: doorbell) == [.camera: true])
        #expect([alices.timesAsked, there.timesAsked, bobs.timesAsked] == [1, 0, 0])
        chair.audience.withLock { $0 = Audience(user: 1001, session: "3") }
        #expect(try await agents.ask(for: doorbell) == [.camera: true])
        #expect([alices.timesAsked, there.timesAsked, bobs.timesAsked] == [1, 0, 1])
        // Another session of alice's at the seat, with no agent in it.
        chair.audience.withLock { $0 = Audience(user: 1000, session: "9") }
        #expect(await refusal(doorbell).contains("in session 9 of \(Users.name(of: 1000)), who sits at this machine"))
        #expect([alices.timesAsked, there.timesAsked] == [1, 0])
    }

    @Test func `nowhere where no agent is, which tells the session that was looked in`() async throws {
        let there = try await agent("5")
        #expect(
            await refusal(identity("tool", "2"))
                == "there is nobody to ask in session 2 of \(Users.name(of: 1000)): no agent but the program's own runs "
                + "there; start one with 'capturectl agent'"
        )
        #expect(there.timesAsked == 0)
    }
}
