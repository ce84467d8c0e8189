import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Testing

@testable import CaptureEngine
@testable import CaptureService

@Suite struct `The agents` {
    private let bus: PrivateBus
    private let agents: AgentRegistry

    init() async throws {
        bus = try PrivateBus()
        agents = try await AgentRegistry(on: bus, logins: .none)
    }

    private func register(_ connection: String, user: UInt32 = 1000) async throws(CaptureError) {
        let identity = ClientIdentity(
            program: "exe:/usr/bin/agent",
            tier: .claimed,
            user: user,
            name: "agent",
            detail: "a test"
        )
        try await agents.register(identity, connection: connection, path: "/agent", isInline: false)
    }

    @Test func `a user has only so many, and others have their own`() async throws {
        for number in 1...AgentRegistry.mostAgents { try await register(":1.\(number)") }
        let error = await #expect(throws: CaptureError.self) { try await register(":1.99") }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("\(AgentRegistry.mostAgents) agents") == true)
        try await register(":1.98", user: 1001)
        await agents.unregister(":1.1")
        try await register(":1.99")
    }

    @Test func `a connection that registers again counts once`() async throws {
        for number in 1...AgentRegistry.mostAgents { try await register(":1.\(number)") }
        try await register(":1.1")
        #expect(await agents.count == AgentRegistry.mostAgents)
    }

    @Test func `are shown to their user and to root, the latest first, and to no program in a sandbox`() async throws {
        try await register(":1.1")
        try await register(":1.2")
        try await register(":1.3", user: 1001)
        func seen(_ user: UInt32, _ program: String = "exe:/usr/bin/tool", _ tier: Tier = .claimed) async -> [String] {
            let caller = ClientIdentity(program: program, tier: tier, user: user, name: "a", detail: "a test")
            return await agents.agents(seenBy: caller).map(\.connection)
        }
        #expect(await seen(1000) == [":1.2", ":1.1"])
        #expect(await seen(1001) == [":1.3"])
        #expect(await seen(1002).isEmpty)
        #expect(await seen(0) == [":1.3", ":1.2", ":1.1"])
        #expect(await seen(1000, "flatpak:org.example.A", .sandboxed).isEmpty)
    }
}

@Suite struct `What the daemon tells of itself` {
    @Test func `where recorders come from reads as words, the path last`() {
        #expect("\(RecorderOrigin.socket(path: "/run/a b"))" == "units of systemd, by the socket /run/a b")
        #expect("\(RecorderOrigin.program(path: "/x/y"))" == "child processes of /x/y")
    }

    @Test func `a state is told once, and a change in it as that`() {
        let session = SessionSnapshot(
            id: 3,
            state: .running,
            program: "exe:/a",
            user: 0,
            connection: ":1.1",
            description: SessionDescription(
                inputs: [],
                outputs: [
                    OutputDescription(name: "movie", kind: .movie, format: "mkv"),
                    OutputDescription(name: "shot", kind: .photo, format: "png"),
                ],
                connections: []
            )
        )
        #expect(SessionJournal.sentence(on: session, isNewState: true) == "session 3 of exe:/a is running")
        #expect(
            SessionJournal.sentence(on: session, isNewState: false)
                == "session 3 of exe:/a was changed: it writes movie, shot"
        )
    }

    @Test func `a user without a name is shown by number, and the number of nobody is none`() {
        #expect(Users.name(of: 3_999_999_999) == "3999999999")
        let caller = ClientIdentity(program: "exe:/a", tier: .claimed, user: 0, name: "a", detail: "a test")
        #expect(code { try Users.id(of: "4294967295", caller: caller) } == .invalidArgument)
    }
}
