import CaptureBus
import CaptureCore
import Synchronization

/// Hears what came of a connection's requests to the library: one listener for all of them, however many there are.
/// Thread-safe.
final class LibraryHub: Sendable {
    typealias Outcome = Result<[String: BusValue], CaptureError>

    private struct State {
        var waiting: [UInt32: AsyncStream<Outcome>.Continuation] = [:]
        /// What was told before its request's number was known.
        var early: [UInt32: Outcome] = [:]
        /// Which daemon it is, counted: with one that goes, everything that it was asked for goes.
        var life: UInt64 = 0
        var subscriptions: [BusSubscription] = []
    }

    private let state = Mutex(State())

    private static let lost = CaptureError(.unreachable, "the capture daemon went away before that was done")

    /// Listens on a daemon's connection.
    static func listening(to daemon: CaptureDaemon) async throws(CaptureError) -> LibraryHub {
        let hub = LibraryHub()
        let match = BusMatch(
            sender: CaptureNames.service,
            path: CaptureNames.root,
            interface: CaptureNames.library,
            member: "Finished"
        )
        let signals = try await daemon.connection.subscribe(match) { [weak hub] in hub?.hear($0.arguments) }
        let name = try await daemon.connection.watchName(CaptureNames.service) { [weak hub] owner in
            if owner == nil { hub?.lose() }
        }
        daemon.connection.onClose { [weak hub] _ in hub?.lose() }
        hub.state.withLock { $0.subscriptions = [signals, name] }
        return hub
    }

    /// What to give to `outcome(of:since:)`, taken before the request is made.
    var life: UInt64 { state.withLock { $0.life } }

    /// Waits for what comes of a request.
    ///
    /// - Parameter life: As it was before the request was made.
    func outcome(of number: UInt32, since life: UInt64) -> Task<Outcome, Never> {
        let (stream, continuation) = AsyncStream<Outcome>.makeStream()
        state.withLock { state in
            if let outcome = state.early.removeValue(forKey: number) {
                continuation.yield(outcome)
            } else if state.life != life {
                continuation.yield(.failure(LibraryHub.lost))
            } else {
                state.waiting[number] = continuation
            }
        }
        return Task {
            // The hub is kept while somebody waits.
            defer { withExtendedLifetime(self) {} }
            for await outcome in stream { return outcome }
            return .failure(LibraryHub.lost)
        }
    }

    private func hear(_ values: [BusValue]) {
        guard values.count == 4, let number = values[0].integer.flatMap({ UInt32(exactly: $0) }) else { return }
        let code = values[1].text ?? ""
        let outcome: Outcome =
            code.isEmpty
            ? .success(values[3].properties ?? [:])
            : .failure(CaptureError(.init(rawValue: code), values[2].text ?? ""))
        state.withLock { state in
            if let waiting = state.waiting.removeValue(forKey: number) {
                waiting.yield(outcome)
            } else {
                state.early[number] = outcome
            }
        }
    }

    private func lose() {
        state.withLock { state in
            for waiting in state.waiting.values { waiting.yield(.failure(LibraryHub.lost)) }
            state.waiting = [:]
            state.early = [:]
            state.life += 1
        }
    }
}

extension CaptureDaemon {
    /// What hears of this connection's requests to the library.
    func libraryHub() async throws(CaptureError) -> LibraryHub {
        if let hub = library.withLock({ $0 }) { return hub }
        let hub = try await LibraryHub.listening(to: self)
        // Of two that were made at once, the first is kept.
        return library.withLock {
            if let first = $0 { return first }
            $0 = hub
            return hub
        }
    }
}
