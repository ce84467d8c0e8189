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
    /// One round of each part; returns false if the part did not answer.
    struct Rounds: Sendable {
        /// A call to the message bus and its answer.
        var bus: @Sendable () async -> Bool
        /// A turn of the gate.
        var gate: @Sendable () async -> Bool
        /// A turn of the engine.
        var engine: @Sendable () async -> Bool
    }

    private struct State {
        var rounds: Rounds?
        var streaming: Set<ObjectIdentifier> = []
        var beat: Task<Void, Never>?
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
            state.beat = Task { await self.beat(rounds) }
        }
    }

    /// Notes that a device has stopped streaming. Does nothing for one that did not stream.
    func ended(_ source: any MediaSource) {
        state.withLock { state in
            guard state.streaming.remove(ObjectIdentifier(source)) != nil, state.streaming.isEmpty else { return }
            state.beat?.cancel()
            state.beat = nil
            proof.end()
            watchdog.turnOff()
            rest?.streamsNoMore()
        }
    }

    /// Starts a round of each part every interval, until nothing streams. All parts share one timer, because each timer
    /// wakes several threads.
    private func beat(_ rounds: Rounds) async {
        while !Task.isCancelled {
            begin(.bus, rounds.bus)
            begin(.gate, rounds.gate)
            begin(.engine, rounds.engine)
            do {
                try await Task.sleep(for: .nanoseconds(Heartbeat.interval))
            } catch {
                // Cancelled: nothing streams any more.
                return
            }
        }
    }

    /// Lets a part prove itself, unless its last round still goes on. Each round has its own task, so that a part that
    /// hangs does not hide another.
    private func begin(_ part: ProofOfLife.Part, _ round: @escaping @Sendable () async -> Bool) {
        guard state.withLock({ $0.underWay.insert(part).inserted }) else { return }
        Task {
            var begun: Timestamp
            repeat {
                begun = .now
                if await round() {
                    proof.prove(part, since: begun)
                    // Only the gate and the engine feed the watchdog: a restart does not mend the bus.
                    if part == .engine, proof.isProven(.gate) { watchdog.feed() }
                }
                // After one that took long, the next proof must not wait for the timer as well.
            } while Timestamp.now - begun >= Heartbeat.interval && state.withLock { !$0.streaming.isEmpty }
            state.withLock { _ = $0.underWay.remove(part) }
        }
    }
}

extension Heartbeat.Rounds {
    /// The rounds of a daemon. In its round, the engine shows sessions as suspended while devices stand still.
    init(_ connection: BusConnection, _ gate: AuthorizationGate, _ engine: CaptureEngine, _ proof: ProofOfLife) {
        bus = {
            do throws(CaptureError) {
                _ = try await connection.askBus("GetId")
                return true
            } catch {
                // Devices stop and the engine tells why.
                return false
            }
        }
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
