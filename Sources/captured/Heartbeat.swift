import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Synchronization

/// Has the bus, the gate and the engine prove that they work while any device streams. Device threads stop their devices
/// when a part does not, since nobody could withdraw a consent then.
///
/// While nothing streams, nothing runs here and nothing wakes the daemon, and the service manager's watchdog is off.
/// Thread-safe.
final class Heartbeat: Sendable {
    /// One round of each part; false when the part did not answer.
    struct Rounds: Sendable {
        /// To the message bus and back.
        var bus: @Sendable () async -> Bool
        /// A turn of the gate.
        var gate: @Sendable () async -> Bool
        /// A turn of the engine.
        var engine: @Sendable () async -> Bool
    }

    private struct State {
        var rounds: Rounds?
        var streaming: Set<ObjectIdentifier> = []
        var tasks: [Task<Void, Never>] = []
    }

    /// How often each part proves itself, in nanoseconds: often enough that one which was held up for a second is not
    /// taken for dead.
    static let interval: Int64 = 250_000_000

    /// What device threads look at.
    let proof = ProofOfLife()
    private let watchdog = Watchdog()
    private let state = Mutex(State())

    /// Who proves itself from now on: once, before anything streams.
    func serve(_ rounds: Rounds) {
        state.withLock { $0.rounds = rounds }
        watchdog.turnOff()
    }

    /// A device is about to stream.
    func began(_ source: any MediaSource) {
        state.withLock { state in
            let isFirst = state.streaming.isEmpty
            state.streaming.insert(ObjectIdentifier(source))
            guard isFirst, let rounds = state.rounds else { return }
            proof.begin()
            watchdog.turnOn()
            state.tasks = [
                Task { await self.beat(.bus, rounds.bus) },
                Task { await self.beat(.gate, rounds.gate) },
                Task { await self.beat(.engine, rounds.engine) },
            ]
        }
    }

    /// A device streams no more. One that did not is left out.
    func ended(_ source: any MediaSource) {
        state.withLock { state in
            guard state.streaming.remove(ObjectIdentifier(source)) != nil, state.streaming.isEmpty else { return }
            for task in state.tasks { task.cancel() }
            state.tasks = []
            proof.end()
            watchdog.turnOff()
        }
    }

    /// Lets a part prove itself until nothing streams any more. Each by itself: one that hangs hides no other.
    private func beat(_ part: ProofOfLife.Part, _ round: @Sendable () async -> Bool) async {
        while !Task.isCancelled {
            let begun = Timestamp.now
            if await round() {
                proof.prove(part, since: begun)
                // Gate and engine alone: a restart does not mend the bus.
                if part == .engine, proof.isProven(.gate) { watchdog.feed() }
            }
            let rest = Heartbeat.interval - (Timestamp.now - begun)
            if rest <= 0 { continue }
            do {
                try await Task.sleep(for: .nanoseconds(rest))
            } catch {
                // Cancelled: nothing streams any more.
                return
            }
        }
    }
}

extension Heartbeat.Rounds {
    /// Those of a daemon; the engine shows in its round that devices stand still.
    init(_ connection: BusConnection, _ gate: AuthorizationGate, _ engine: CaptureEngine, _ proof: ProofOfLife) {
        bus = {
            do throws(CaptureError) {
                _ = try await connection.call(CaptureNames.bus, CaptureNames.busPath, CaptureNames.bus, "GetId")
                return true
            } catch {
                // That is what the others show.
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
    /// What device threads stand still for; `nil` while they do not.
    fileprivate var fault: CaptureError? {
        let now = Timestamp.now
        guard let part = Part.allCases.first(where: { !isProven($0, at: now) }) else { return nil }
        let what =
            switch part {
            case .bus: "the message bus does"
            case .gate: "the part that decides about consent does"
            case .engine: "the part that runs sessions does"
            }
        return CaptureError(
            .timedOut,
            "capture is paused, since \(what) not answer captured; it goes on by itself when that is over"
        )
    }
}

/// The service manager's watchdog, which counts while a device streams. Thread-safe.
private final class Watchdog: Sendable {
    /// How often it wants to be fed, in nanoseconds; `nil` for never.
    private let interval = ServiceManager.watchdogInterval
    private let fed = Atomic<Int64>(0)

    func turnOff() {
        if interval != nil { ServiceManager.turnOffWatchdog() }
    }

    func turnOn() {
        guard let interval else { return }
        fed.store(Timestamp.now.nanoseconds, ordering: .relaxed)
        ServiceManager.turnOnWatchdog(interval)
    }

    /// Four times over, so that a machine which is held up for long does not pass for a hung daemon.
    func feed() {
        guard let interval else { return }
        let now = Timestamp.now.nanoseconds
        guard now - fed.load(ordering: .relaxed) >= interval / 4 else { return }
        fed.store(now, ordering: .relaxed)
        ServiceManager.watchdog()
    }
}
