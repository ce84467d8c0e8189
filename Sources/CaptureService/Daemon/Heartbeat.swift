import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Synchronization

/// Lets the bus, the gate and the engine prove that they work, while any device streams. If a part fails to, device
/// threads stop their devices, because nobody could withdraw a consent then.
///
/// While nothing streams, nothing here runs or wakes the daemon, and the service manager's watchdog is off.
/// Thread-safe.
final class Heartbeat: Sendable {
    /// The timer, and one round of each part, which tells whether the part answered.
    struct Rounds: Sendable {
        /// Calls the closure now and at every interval, in nanoseconds, until the subscription ends. The closure waits for
        /// nothing.
        var every: @Sendable (_ interval: Int64, _ beat: @escaping @Sendable () -> Void) -> BusSubscription
        /// Calls the message bus, and calls the closure once with the answer, on any thread.
        var bus: @Sendable (_ answered: @escaping @Sendable (Bool) -> Void) -> Void
        /// A turn of the gate.
        var gate: @Sendable () async -> Bool
        /// A turn of the engine.
        var engine: @Sendable () async -> Bool
    }

    private struct State {
        var rounds: Rounds?
        var streaming: Set<ObjectIdentifier> = []
        var beat: BusSubscription?
        /// The parts whose round goes on.
        var underWay: Set<ProofOfLife.Part> = []
    }

    /// How often each part proves itself, in nanoseconds. Often enough that a part which was held up for a second does
    /// not count as dead, and no more often: a round wakes several threads.
    static let interval: Int64 = 500_000_000

    /// The record that device threads look at.
    let proof = ProofOfLife()
    private let watchdog = Watchdog()
    private let rest: MemoryRest?
    private let state = Mutex(State())

    /// - Parameter rest: Gives memory back while nothing streams.
    init(rest: MemoryRest? = nil) { self.rest = rest }

    /// Sets the rounds. Call it once, before anything streams.
    func serve(_ rounds: Rounds) {
        state.withLock { $0.rounds = rounds }
        watchdog.turnOff()
    }

    /// Notes that a device is about to stream.
    func began(_ source: any MediaSource) {
        state.withLock { state in
            let isFirst = state.streaming.isEmpty
            state.streaming.insert(ObjectIdentifier(source))
            guard isFirst, let rounds = state.rounds else { return }
            rest?.streams()
            proof.begin()
            watchdog.turnOn()
            // Weak, because this object owns the timer.
            state.beat = rounds.every(Heartbeat.interval) { [weak self] in self?.beat(rounds) }
        }
    }

    /// Notes that a device has stopped streaming. Does nothing for one that did not stream.
    func ended(_ source: any MediaSource) {
        state.withLock { state in
            guard state.streaming.remove(ObjectIdentifier(source)) != nil, state.streaming.isEmpty else { return }
            state.beat = nil
            proof.end()
            watchdog.turnOff()
            rest?.streamsNoMore()
        }
    }

    /// Starts a round of each part. What wakes a thread costs the most here. So the bus thread keeps the time and proves the
    /// bus, and the gate and the engine take their turns one after the other in one task. A bus thread that hangs proves
    /// no part and feeds no watchdog, so the service manager restarts the daemon.
    private func beat(_ rounds: Rounds) {
        askBus(rounds.bus)
        // The task may hang. At the next beat, another one passes over the part that hangs.
        Task {
            await take(.gate, rounds.gate)
            await take(.engine, rounds.engine)
        }
    }

    /// Lets the bus prove itself, unless its last round still goes on.
    private func askBus(_ round: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> Void) {
        guard begins(.bus) else { return }
        let begun = Timestamp.now
        round { hasAnswered in
            if hasAnswered { self.proof.prove(.bus, since: begun) }
            if self.ended(.bus, begunAt: begun) { self.askBus(round) }
        }
    }

    /// Lets the gate or the engine prove itself, unless its last round still goes on.
    private func take(_ part: ProofOfLife.Part, _ round: @Sendable () async -> Bool) async {
        var begun: Timestamp
        repeat {
            guard begins(part) else { return }
            begun = .now
            if await round() {
                proof.prove(part, since: begun)
                // Only the gate and the engine feed the watchdog: a restart does not mend the bus.
                if part == .engine, proof.isProven(.gate) { watchdog.feed() }
            }
        } while ended(part, begunAt: begun)
    }

    private func begins(_ part: ProofOfLife.Part) -> Bool {
        state.withLock { $0.underWay.insert(part).inserted }
    }

    /// Ends a part's round.
    ///
    /// - Returns: Whether the next one begins at once. After a round that took long, it must not wait for the timer as well.
    private func ended(_ part: ProofOfLife.Part, begunAt begun: Timestamp) -> Bool {
        state.withLock { state in
            state.underWay.remove(part)
            return Timestamp.now - begun >= Heartbeat.interval && !state.streaming.isEmpty
        }
    }
}

extension Heartbeat.Rounds {
    /// The rounds of a daemon. In its round, the engine shows sessions as suspended while devices stand still.
    init(_ connection: BusConnection, _ gate: AuthorizationGate, _ engine: CaptureEngine, _ proof: ProofOfLife) {
        every = { connection.every($0, $1) }
        // When it fails, devices stop and the engine tells why.
        bus = { answered in connection.askBus("GetId") { answered((try? $0.get()) != nil) } }
        self.gate = {
            await gate.takeTurn()
            return true
        }
        self.engine = {
            await engine.takeTurn { proof.fault }
            return true
        }
    }
}

extension ProofOfLife {
    /// Why device threads stand still; `nil` if they do not.
    fileprivate var fault: CaptureError? {
        let now = Timestamp.now
        guard let part = Part.allCases.first(where: { !isProven($0, at: now) }) else { return nil }
        let what =
            switch part {
            case .bus: "the message bus"
            case .gate: "the part that decides about consent"
            case .engine: "the part that runs sessions"
            }
        return CaptureError(
            .timedOut,
            "capture is paused because \(what) does not answer; it goes on by itself when it does"
        )
    }
}

/// The service manager's watchdog, which is on while a device streams. Thread-safe.
private final class Watchdog: Sendable {
    /// How often it must be fed, in nanoseconds; `nil` for never.
    private let interval = ServiceManager.watchdogInterval
    private let fed = Atomic<Int64>(0)

    func turnOff() {
        if interval != nil { ServiceManager.tell(.watchdogInterval(0)) }
    }

    func turnOn() {
        guard let interval else { return }
        fed.store(Timestamp.now.nanoseconds, ordering: .relaxed)
        ServiceManager.turnOnWatchdog(interval)
    }

    /// Feeds four times per interval, so that a daemon on a slow machine does not count as hung.
    func feed() {
        guard let interval else { return }
        let now = Timestamp.now.nanoseconds
        guard now - fed.load(ordering: .relaxed) >= interval / 4 else { return }
        fed.store(now, ordering: .relaxed)
        ServiceManager.tell(.watchdog)
    }
}
