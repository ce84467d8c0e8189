import CaptureBus
public import CaptureCore
import CaptureMessages
import Synchronization

/// Something that happened on the machine.
public enum DaemonEvent: Sendable {
    /// A device is there now.
    case deviceAdded(DeviceDescription)
    /// A device is gone.
    case deviceRemoved(DeviceID)
    /// A session was made.
    case sessionAdded(UInt32)
    /// A session stands elsewhere now.
    case sessionChanged(UInt32, SessionStatus)
    /// An output of a session is at its end.
    case outputFinished(UInt32, OutputResult)
    /// A session is no longer listed.
    case sessionRemoved(UInt32)
    /// A camera or microphone began to be used, ended to be, or is listed so no more.
    case useChanged(LiveUse)
    /// How a program stands changed.
    case consentChanged(user: String, program: String, service: String, status: AuthorizationStatus?)
    /// The daemon came on the bus.
    case daemonAppeared
    /// The daemon left the bus.
    case daemonVanished
}

extension CaptureDaemon {
    /// The events from now on, in order, until the listening task ends. A program gets the events of its own user's
    /// sessions and answers, root those of every user.
    ///
    /// The stream continues when the daemon restarts. It ends if the bus is lost, the connection is closed, or a new
    /// daemon refuses this program.
    ///
    /// - Throws: `CaptureError.Code.unreachable` if the bus is not there; the daemon's refusal, if it refuses this
    ///   program.
    public func events() async throws(CaptureError) -> AsyncStream<DaemonEvent> {
        let (stream, continuation) = AsyncStream<DaemonEvent>.makeStream()
        let states = Mutex<[UInt32: [String: BusValue]]>([:])
        let signals = BusMatch(sender: CaptureNames.service, pathNamespace: CaptureNames.root)
        let heard = try await connection.subscribe(signals) { signal in
            let event = states.withLock { CaptureDaemon.event(signal, &$0) }
            if let event { continuation.yield(event) }
        }
        let presence = DaemonPresence(continuation)
        let name = try await connection.watchName(CaptureNames.service) { [self] owner in
            // Another daemon counts its sessions anew.
            states.withLock { $0 = [:] }
            guard owner != nil else { return presence.vanished() }
            let turn = presence.appeared()
            Task {
                do throws(CaptureError) {
                    try await self.askToBeTold()
                    presence.isTold(turn)
                } catch {
                    continuation.finish()
                }
            }
        }
        try await askToBeTold()
        let closed = try await connection.watchClose { _ in continuation.finish() }
        continuation.onTermination = { _ in withExtendedLifetime((heard, name, closed)) {} }
        return stream
    }

    /// Has the daemon tell this connection of the sessions and answers that the program may see; it broadcasts none.
    ///
    /// Does nothing where there is no daemon, nor brings one up: whoever waits for one asks again when it is there.
    func askToBeTold() async throws(CaptureError) {
        do throws(CaptureError) {
            _ = try await connection.call(
                CaptureNames.service,
                CaptureNames.root,
                CaptureNames.manager,
                "Subscribe",
                timeout: CaptureDaemon.timeout,
                startsService: false
            )
        } catch  where error.code == .unreachable {
            return
        }
    }

    private static func event(_ signal: BusSignal, _ states: inout [UInt32: [String: BusValue]]) -> DaemonEvent? {
        let values = signal.arguments
        switch (signal.interface, signal.member) {
        case (CaptureNames.manager, "DeviceAdded"):
            return values.first.flatMap { try? DeviceDescription(busValue: $0) }.map { .deviceAdded($0) }
        case (CaptureNames.manager, "DeviceRemoved"):
            return values.first?.text.map { .deviceRemoved(DeviceID(rawValue: $0)) }
        case (CaptureNames.manager, "SessionAdded"):
            guard let id = values.first?.text.flatMap(CaptureNames.sessionNumber) else { return nil }
            states[id] = nil
            return .sessionAdded(id)
        case (CaptureNames.manager, "SessionRemoved"):
            guard let id = values.first?.text.flatMap(CaptureNames.sessionNumber) else { return nil }
            states[id] = nil
            return .sessionRemoved(id)
        case (CaptureNames.manager, "UseChanged"):
            return values.first.flatMap(LiveUse.init).map { .useChanged($0) }
        case (CaptureNames.session, "OutputFinished"):
            guard let id = CaptureNames.sessionNumber(signal.path), let result = OutputResult(values)
            else { return nil }
            return .outputFinished(id, result)
        case (CaptureNames.authorization, "Changed"):
            guard values.count == 4, let user = values[0].text, let program = values[1].text,
                let service = values[2].text
            else { return nil }
            let status = values[3].integer(as: UInt32.self).flatMap(AuthorizationStatus.init)
            return .consentChanged(user: user, program: program, service: service, status: status)
        case (CaptureNames.properties, "PropertiesChanged"):
            guard values.count >= 2, values[0].text == CaptureNames.session,
                let id = CaptureNames.sessionNumber(signal.path),
                let changed = values[1].properties
            else { return nil }
            let known = states[id, default: [:]].merging(changed) { $1 }
            states[id] = known
            guard changed["State"] != nil || changed["ReasonCode"] != nil,
                let state = SessionState(rawValue: known["State"]?.text ?? "")
            else { return nil }
            return .sessionChanged(id, SessionStatus(state, SessionStatus.reason(in: known)))
        default: return nil
        }
    }
}

/// The coming and going of daemons, told in order: one that comes when this program is told what happens in it, so that
/// who looks then misses nothing after. Thread-safe.
private final class DaemonPresence: Sendable {
    private let turns = Mutex<UInt64>(0)
    private let continuation: AsyncStream<DaemonEvent>.Continuation

    init(_ continuation: AsyncStream<DaemonEvent>.Continuation) {
        self.continuation = continuation
    }

    /// A daemon came.
    ///
    /// - Returns: Which, for `isTold`.
    func appeared() -> UInt64 {
        turns.withLock { turns in
            turns += 1
            return turns
        }
    }

    func vanished() {
        turns.withLock { turns in
            turns += 1
            continuation.yield(.daemonVanished)
        }
    }

    /// The daemon of that turn tells this program; nothing when it has gone meanwhile.
    func isTold(_ turn: UInt64) {
        turns.withLock { if $0 == turn { continuation.yield(.daemonAppeared) } }
    }
}
