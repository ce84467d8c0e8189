import Authorization
import CaptureCore
import CaptureEngine
import Synchronization

/// A use with the program that it is shown to.
struct ListedUse: Sendable {
    let client: ClientIdentity
    var use: LiveUse

    init(_ key: DeviceUseKey, _ use: DeviceUse, began: Int64) {
        client = use.client
        self.use = LiveUse()
        self.use.id = UInt64(clamping: key.value)
        self.use.service = use.service.rawValue
        self.use.device = use.device.rawValue
        self.use.deviceName = use.deviceName
        self.use.program = client.program
        self.use.name = client.name
        self.use.tier = client.tier.rawValue
        self.use.session = use.session
        self.use.began = began
    }

    /// With the name of its user, as far as it is known now.
    var shown: LiveUse {
        var shown = use
        shown.user = Users.name(of: client.user)
        return shown
    }
}

/// What uses cameras and microphones now, for indicators.
///
/// Each use is in it from before its first sample and for some seconds after its last, so that nobody misses one, however
/// short it was: neither who draws what was told a moment ago, nor the person who looks. Thread-safe.
final class LiveUses: Sendable {
    private struct State {
        var uses: [DeviceUseKey: ListedUse] = [:]
        var linger: Duration
    }

    private let state: Mutex<State>
    private let wait: @Sendable (Duration) async -> Void
    private let tell: @Sendable (ListedUse) -> Void

    /// - Parameters:
    ///   - linger: How long a use stays listed after its end.
    ///   - wait: Lets that time pass.
    ///   - tell: Told of each use when its phase changes, in order; must neither block nor call back.
    init(
        linger: Duration,
        wait: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        tell: @escaping @Sendable (ListedUse) -> Void
    ) {
        state = Mutex(State(linger: linger))
        self.wait = wait
        self.tell = tell
    }

    /// Changes how long uses stay listed that end from now on.
    func setLinger(_ linger: Duration) {
        state.withLock { $0.linger = linger }
    }

    /// What the caller may see, the oldest first: its user's uses, to root all, to a program in a sandbox its own.
    func list(for client: ClientIdentity) -> [LiveUse] {
        let uses = state.withLock { Array($0.uses.values) }
        return uses.filter { client.mayControl($0.client.program, of: $0.client.user) }.map(\.shown)
            .sorted { $0.id < $1.id }
    }

    /// Takes in what becomes of uses; returns at once.
    func follow(_ event: UseEvent) {
        switch event {
        case .began(let uses, let time):
            state.withLock { state in
                // Indicators show what watches and listens.
                for (key, use) in uses where !Service.ofLibrary.contains(use.service) {
                    let live = ListedUse(key, use, began: time)
                    state.uses[key] = live
                    tell(live)
                }
            }
        case .ended(let keys, let time): end(keys, time)
        }
    }

    private func end(_ keys: [DeviceUseKey], _ time: Int64) {
        let linger = state.withLock { state in
            for key in keys {
                guard var use = state.uses[key] else { continue }
                (use.use.phase, use.use.ended) = (.ended, time)
                state.uses[key] = use
                tell(use)
            }
            return state.linger
        }
        if linger <= .zero { return forget(keys) }
        Task {
            await wait(linger)
            forget(keys)
        }
    }

    private func forget(_ keys: [DeviceUseKey]) {
        state.withLock { state in
            for key in keys {
                guard var use = state.uses.removeValue(forKey: key) else { continue }
                use.use.phase = .gone
                tell(use)
            }
        }
    }
}
