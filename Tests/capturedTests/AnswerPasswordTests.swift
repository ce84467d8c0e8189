import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Synchronization
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

/// polkit, as far as a check goes.
private final class FakePolkit: Sendable {
    private struct State {
        var checks: [String] = []
        var numbers: Set<String> = []
        var isCancelled = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watching: [CheckedContinuation<Void, Never>] = []
    }

    private let connection: BusConnection
    private let state = Mutex(State())
    /// `nil` waits for `answersNo`.
    private let verdict: (@Sendable () -> Bool)?

    var checks: [String] { state.withLock { $0.checks } }

    private static let authority = BusInterface(
        "org.freedesktop.PolicyKit1.Authority",
        methods: [
            BusMethod(
                "CheckAuthorization",
                [
                    BusArgument("subject", "(sa{sv})"), BusArgument("action_id", "s"), BusArgument("details", "a{ss}"),
                    BusArgument("flags", "u"), BusArgument("cancellation_id", "s"),
                ],
                returns: [BusArgument("result", "(bba{ss})")]
            ),
            BusMethod("CancelCheckAuthorization", [BusArgument("cancellation_id", "s")]),
        ]
    )

    init(_ bus: PrivateBus, _ verdict: (@Sendable () -> Bool)?) async throws {
        connection = try await BusConnection.open(bus.kind)
        self.verdict = verdict
        try await connection.export(
            try BusObject(
                path: "/org/freedesktop/PolicyKit1/Authority",
                [
                    BusImplementation(
                        Self.authority,
                        methods: [
                            "CheckAuthorization": { [unowned self] call in await check(call) },
                            "CancelCheckAuthorization": { [unowned self] call in cancel(call) },
                        ]
                    )
                ]
            )
        )
        try await connection.requestName("org.freedesktop.PolicyKit1")
    }

    private func check(_ call: BusCall) async -> [BusValue] {
        let subject = call.arguments[0].elements?[1].properties?["name"]?.text ?? ""
        state.withLock { state in
            state.checks.append("\(call.arguments[1].text ?? "") of \(subject)")
            _ = state.numbers.insert(call.arguments[4].text ?? "")
        }
        guard let verdict else {
            await withCheckedContinuation { continuation in
                let watching = state.withLock { state in
                    state.waiting.append(continuation)
                    defer { state.watching = [] }
                    return state.watching
                }
                for watcher in watching { watcher.resume() }
            }
            return [.structure([.bool(false), .bool(false), .dictionary("ss", [])])]
        }
        return [.structure([.bool(verdict()), .bool(false), .dictionary("ss", [])])]
    }

    private func cancel(_ call: BusCall) -> [BusValue] {
        let watching = state.withLock { state in
            state.isCancelled = state.numbers.contains(call.arguments[0].text ?? "")
            defer { state.watching = [] }
            return state.watching
        }
        for watcher in watching { watcher.resume() }
        return []
    }

    /// Ends the checks that wait. The next call of the same connection is looked at after that alone.
    func answersNo() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Waits until a check was begun.
    func wasAsked() async { await wait { !$0.checks.isEmpty && !$0.waiting.isEmpty } }

    /// Waits until that check was taken back.
    func wasCancelled() async { await wait { $0.isCancelled } }

    private func wait(_ condition: @Sendable (State) -> Bool) async {
        while !state.withLock({ condition($0) }) {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if condition(state) { return true }
                    state.watching.append(continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        }
    }
}
