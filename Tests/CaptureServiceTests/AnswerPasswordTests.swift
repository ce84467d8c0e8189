import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Testing

@testable import CaptureService

/// A yes for a claimed identity, where it takes a password.
@Suite(.timeLimit(.minutes(10)))
struct `With PasswordForClaimed` {
    private let bus: PrivateBus
    private let agents: AgentRegistry

    init() async throws {
        bus = try PrivateBus()
        agents = try await AgentRegistry(on: bus, logins: Self.logins(1000))
        await agents.setPasswords(PasswordNeeds(claimed: true))
    }

    /// Nobody is logged in but who sits at the machine.
    private static func logins(_ user: UInt32) -> LoginSessions {
        LoginSessions(user: { _ in nil }, display: { _ in nil }, active: { Audience(user: user, session: nil) })
    }

    private func identity(_ name: String, _ tier: Tier, pid: Int32) -> ClientIdentity {
        ClientIdentity(program: "app:\(name)", tier: tier, user: 1000, name: name, detail: "a test", pid: pid)
    }

    private func agent(_ answers: [Service: PersonsAnswer] = [.camera: true]) async throws -> YesAgent {
        try await YesAgent(bus, agents, as: identity("agent", .claimed, pid: 11), answers)
    }

    private func ask(_ tier: Tier = .claimed, for time: Duration = .seconds(20)) async throws(CaptureError)
        -> [Service: PersonsAnswer]
    {
        try await agents.ask(for: identity("tool", tier, pid: 10), within: time)
    }

    @Test func `it counts when the person who answered has typed it`() async throws {
        let polkit = try await FakePolkit(bus) { true }
        let agent = try await agent()
        #expect(try await ask() == [.camera: true])
        #expect(polkit.checks == ["org.capturekit.capture1.allow-claimed of \(agent.bus.uniqueName)"])
        #expect(
            polkit.messages == [
                "Authentication is required to let tool (app:tool), which is not verified, use the camera"
            ]
        )
    }

    @Test(arguments: [Tier.service, .user])
    func `and PasswordForServices, a yes for the machine's takes one, too, named as such`(tier: Tier) async throws {
        await agents.setPasswords(PasswordNeeds(services: true))
        let polkit = try await FakePolkit(bus) { true }
        let agent = try await agent()
        #expect(try await ask(tier) == [.camera: true])
        #expect(polkit.checks == ["org.capturekit.capture1.allow-machine of \(agent.bus.uniqueName)"])
        #expect(polkit.messages.first?.contains("which counts for everybody on this machine, use the camera") == true)
        #expect(try await ask(.claimed) == [.camera: true])
        #expect(polkit.checks.count == 1)
    }

    @Test(arguments: [Tier.service, .user])
    func `and PasswordForServices, nothing comes of a yes without one`(tier: Tier) async throws {
        await agents.setPasswords(PasswordNeeds(services: true))
        let agent = try await agent()
        #expect(await code { _ = try await ask(tier) } == .nobodyToAsk)
        let polkit = try await FakePolkit(bus) { false }
        let refusal = await #expect(throws: CaptureError.self) { _ = try await ask(tier) }
        #expect(refusal?.code == .dismissed)
        #expect(refusal?.message.contains("PasswordForServices=") == true)
        #expect(polkit.checks.count == 1)
        #expect(agent.timesAsked == 2)
    }

    @Test func `root's agent needs none for the machine's`() async throws {
        let agents = try await AgentRegistry(on: bus, logins: Self.logins(0))
        await agents.setPasswords(PasswordNeeds(services: true))
        var root = identity("agent", .claimed, pid: 11)
        root.user = 0
        let agent = try await YesAgent(bus, agents, as: root)
        #expect(try await agents.ask(for: identity("tool", .service, pid: 10)) == [.camera: true])
        withExtendedLifetime(agent) {}
    }

    @Test func `it does not count without, and no other agent is asked`() async throws {
        let polkit = try await FakePolkit(bus) { false }
        let first = try await agent()
        let second = try await agent()
        let error = await #expect(throws: CaptureError.self) { _ = try await ask() }
        #expect(error?.code == .dismissed)
        #expect(error?.message.contains("takes your password") == true)
        #expect(polkit.checks.count == 1)
        #expect([first.timesAsked, second.timesAsked] == [0, 1])
    }

    @Test func `it does not count where there is no polkit`() async throws {
        let agent = try await agent()
        let error = await #expect(throws: CaptureError.self) { _ = try await ask() }
        #expect(error?.code == .nobodyToAsk)
        #expect(error?.message.contains("polkit could not ask") == true)
        #expect(agent.timesAsked == 1)
    }

    @Test func `a no takes none, nor does a yes for whom nobody else can pass for`() async throws {
        let polkit = try await FakePolkit(bus) { false }
        let strict = try await agent([.camera: false])
        #expect(try await ask() == [.camera: false])
        let kind = try await agent()
        #expect(try await ask(.sandboxed) == [.camera: true])
        await agents.setPasswords(PasswordNeeds())
        #expect(try await ask() == [.camera: true])
        #expect(polkit.checks.isEmpty)
        #expect([strict.timesAsked, kind.timesAsked] == [1, 2])
    }

    @Test func `the dialog is taken away when nobody waits for it any more`() async throws {
        let polkit = try await FakePolkit(bus, nil)
        let agent = try await agent()
        let asking = Task { try await ask() }
        await polkit.wasAsked()
        asking.cancel()
        polkit.answersNo()
        #expect(await code { _ = try await asking.value } == .dismissed)
        await polkit.wasCancelled()
        #expect(agent.timesAsked == 1)
    }
}
