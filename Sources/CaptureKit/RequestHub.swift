import CaptureBus
import CaptureCore
import CaptureMessages
import Synchronization

/// Hears what came of a connection's long requests of one kind: one listener for all of them, however many there are.
/// Thread-safe.
final class RequestHub: Sendable {
    /// What differs between the interfaces that have such requests.
    struct Kind: Sendable {
        let interface: String
        /// The signal that ends a request, and the method that cancels one.
        let end: String
        let cancel: String
        /// What a request comes to if the daemon goes away.
        let lost: CaptureError
    }

    /// What came of a request. It may have a result with a fault, too.
    struct Outcome: Sendable {
        var fault: CaptureError?
        var result: [String: BusValue] = [:]
    }

    private struct State {
        var waiting: [UInt32: AsyncStream<Outcome>.Continuation] = [:]
        /// How many calls that begin a request have no answer yet.
        var beginning = 0
        /// What ended before its number was known, and in which life. Empty unless a call has no answer yet.
        var early: [UInt32: (life: UInt64, outcome: Outcome)] = [:]
        /// Which daemon it is, counted: with one that goes, everything that it was asked for goes.
        var life: UInt64 = 0
        var subscriptions: [BusSubscription] = []
    }

    let kind: Kind
    private let state = Mutex(State())

    private init(_ kind: Kind) { self.kind = kind }

    deinit { lose() }

    /// Listens on a daemon's connection.
    static func listening(to daemon: CaptureDaemon, for kind: Kind) async throws(CaptureError) -> RequestHub {
        let hub = RequestHub(kind)
        let match = BusMatch(
            sender: CaptureNames.service,
            path: CaptureNames.root,
            interface: kind.interface,
            member: kind.end
        )
        let signals = try await daemon.connection.subscribe(match) { [weak hub] in hub?.hear($0.arguments) }
        let name = try await daemon.connection.watchName(CaptureNames.service) { [weak hub] in
            if $0 == nil { hub?.lose() }
        }
        let closed = try await daemon.connection.watchClose { [weak hub] _ in hub?.lose() }
        hub.state.withLock { $0.subscriptions = [signals, name, closed] }
        return hub
    }

    /// Makes the call that begins a request.
    ///
    /// - Parameter call: Calls `member` of the daemon, which returns the request's number.
    /// - Returns: The request; `nil` if the daemon began none because nothing is left to do.
    func begin(
        _ member: String,
        of daemon: CaptureDaemon,
        _ call: () async throws(CaptureError) -> [BusValue]
    ) async throws(CaptureError) -> LongRequest? {
        let life = state.withLock { state in
            state.beginning += 1
            return state.life
        }
        defer {
            state.withLock { state in
                state.beginning -= 1
                if state.beginning == 0 { state.early = [:] }
            }
        }
        guard let number = try await call().first?.integer(as: UInt32.self) else {
            throw CaptureDaemon.malformed(member)
        }
        if number == 0 { return nil }
        let (stream, continuation) = AsyncStream<Outcome>.makeStream()
        state.withLock { state in
            if let early = state.early.removeValue(forKey: number), early.life == life {
                continuation.yield(early.outcome)
            } else if state.life != life {
                continuation.yield(Outcome(fault: kind.lost))
            } else {
                state.waiting[number] = continuation
            }
        }
        let ending = Task { [kind] in await stream.first { _ in true } ?? Outcome(fault: kind.lost) }
        return LongRequest(number: number, daemon: daemon, hub: self, ending: ending)
    }

    private func hear(_ values: [BusValue]) {
        guard values.count == 4, let number = values[0].integer(as: UInt32.self) else { return }
        let code = values[1].text ?? ""
        let fault = code.isEmpty ? nil : CaptureError(.init(rawValue: code), values[2].text ?? "")
        let outcome = Outcome(fault: fault, result: values[3].properties ?? [:])
        state.withLock { state in
            if let waiting = state.waiting.removeValue(forKey: number) {
                waiting.yield(outcome)
            } else if state.beginning > 0 {
                state.early[number] = (state.life, outcome)
            }
        }
    }

    /// Stops waiting for a request that could not be cancelled, for the given reason.
    func giveUp(_ number: UInt32, _ error: CaptureError) {
        let fault = CaptureError(error.code, "it could not be cancelled, and may still be done: \(error.message)")
        state.withLock { _ = $0.waiting.removeValue(forKey: number)?.yield(Outcome(fault: fault)) }
    }

    private func lose() {
        state.withLock { state in
            for waiting in state.waiting.values { waiting.yield(Outcome(fault: kind.lost)) }
            state.waiting = [:]
            state.life += 1
        }
    }
}

extension CaptureDaemon {
    /// What hears of this connection's requests of a kind.
    func hub(for kind: RequestHub.Kind) async throws(CaptureError) -> RequestHub {
        if let hub = hubs.withLock({ $0[kind.interface] }) { return hub }
        let hub = try await RequestHub.listening(to: self, for: kind)
        // Of two that were made at once, the first is kept.
        return hubs.withLock { hubs in
            let first = hubs[kind.interface] ?? hub
            hubs[kind.interface] = first
            return first
        }
    }
}
