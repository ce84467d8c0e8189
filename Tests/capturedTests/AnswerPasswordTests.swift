import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Testing

@testable import captured

/// A yes for a claimed identity, where it takes a password.
@Suite(.timeLimit(.minutes(10)))
struct `With PasswordForClaimed` {
    private let bus: PrivateBus
    private let agents: AgentRegistry

    init() async throws {
        bus = try PrivateBus()
        agents = AgentRegistry(
            bus: try await BusConnection.open(bus.kind),
            commandLine: ShippedCommandLine(path: "/nonexistent", root: SystemRoot(ofProcessOne: false)),
            logins: .none
        )
        await agents.setPasswordForClaimed(true)
    }

    private func identity(_ name: String, _ tier: Tier, pid: Int32) -> ClientIdentity {
        ClientIdentity(program: "app:\(name)", tier: tier, user: 1000, name: name, detail: "a test", pid: pid)
    }

    private func agent(_ answers: [Service: PersonsAnswer] = [.camera: true]) async throws -> YesAgent {
        let agent = try await YesAgent(bus, agents, answers)
        let identity = identity("agent", .claimed, pid: 11)
        try await agents.register(identity, connection: agent.bus.uniqueName, path: "/agent", isInline: false)
        return agent
    }

    private func ask(_ tier: Tier = .claimed, for time: Duration = .seconds(20)) async throws(CaptureError)
        -> [Service: PersonsAnswer]
    {
        try await agents.ask(
            PromptRequest(
                client: identity("tool", tier, pid: 10),
                name: "tool",
                services: [.camera],
                reasons: [:],
                session: ":1.4711",
                deadline: .now + time
            )
        )
    }

    @Test func `it counts when the person who answered has typed it`() async throws {
        let polkit = try await FakePolkit(bus) { true }
        let agent = try await agent()
        #expect(try await ask() == [.camera: true])
        #expect(polkit.checks == ["org.capturekit.capture1.allow-claimed of \(agent.bus.uniqueName)"])
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
        await agents.setPasswordForClaimed(false)
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
        let error = await #expect(throws: CaptureError.self) { _ = try await asking.value }
        #expect(error?.code == .dismissed)
        await polkit.wasCancelled()
        #expect(agent.timesAsked == 1)
    }
}
