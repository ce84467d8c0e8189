import BusSupport
import CaptureBus
import Synchronization

/// polkit, as far as a check goes.
final class FakePolkit: Sendable {
    private struct State {
        var checks: [String] = []
        var messages: [String] = []
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
    /// What the dialogs said.
    var messages: [String] { state.withLock { $0.messages } }

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
            let message = call.arguments[2].properties?["polkit.message"]?.text
            state.messages.append(message ?? "")
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
