import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import Synchronization

/// A use of a camera or microphone, as indicators are shown it.
struct LiveUse: Hashable, Sendable {
    /// Where it stands.
    enum Phase: String, Sendable {
        /// It lasts.
        case live
        /// It has ended, and is still listed.
        case ended
        /// It is listed no more.
        case gone
    }

    var key: DeviceUseKey
    var use: DeviceUse
    var phase = Phase.live
    /// In milliseconds since 1970.
    var began: Int64
    /// In milliseconds since 1970; 0 while it lasts.
    var ended: Int64 = 0

    /// As on the bus.
    var properties: [String: BusValue] {
        [
            "id": .uint64(UInt64(clamping: key.value)),
            "state": .string(phase.rawValue),
            "service": .string(use.service.rawValue),
            "device": .string(use.device.rawValue),
            "device-name": .string(use.deviceName),
            "user": .string(Users.name(of: use.client.user)),
            "program": .string(use.client.program),
            "name": .string(use.client.name),
            "tier": .string(use.client.tier.rawValue),
            "session": .uint32(use.session),
            "began": .int64(began),
            "ended": .int64(ended),
        ]
    }
}

/// What uses cameras and microphones now, for indicators.
///
/// Each use is in it from before its first sample and for some seconds after its last, so that nobody misses one, however
/// short it was: neither who draws what was told a moment ago, nor the person who looks. Thread-safe.
final class LiveUses: Sendable {
    private struct State {
        var uses: [DeviceUseKey: LiveUse] = [:]
        var linger: Duration
    }

    private let state: Mutex<State>
    private let wait: @Sendable (Duration) async -> Void
    private let tell: @Sendable (LiveUse) -> Void

    /// - Parameters:
    ///   - linger: How long a use stays listed after its end.
    ///   - wait: Lets that time pass.
    ///   - tell: Told of each use when its phase changes, in order; must neither block nor call back.
    init(
        linger: Duration,
        wait: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        tell: @escaping @Sendable (LiveUse) -> Void
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
        return uses.filter { client.mayControl($0.use.client.program, of: $0.use.client.user) }
            .sorted { $0.key.value < $1.key.value }
    }

    /// Takes in what becomes of uses; returns at once.
    func follow(_ event: UseEvent) {
        switch event {
        case .began(let uses, let time):
            state.withLock { state in
                // Indicators show what watches and listens.
                for (key, use) in uses where !Service.ofLibrary.contains(use.service) {
                    let live = LiveUse(key: key, use: use, began: time)
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
                (use.phase, use.ended) = (.ended, time)
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
                use.phase = .gone
                tell(use)
            }
        }
    }
}
