import CaptureBus
public import CaptureCore
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
    /// How a program stands changed.
    case consentChanged(user: String, program: String, service: String, status: AuthorizationStatus?)
    /// The daemon came on the bus.
    case daemonAppeared
    /// The daemon left the bus.
    case daemonVanished
}

extension CaptureDaemon {
    /// What happens from now on, in order, until the task that listens ends.
    ///
    /// - Throws: `CaptureError.Code.unreachable` when the bus is not there.
    public func events() async throws(CaptureError) -> AsyncStream<DaemonEvent> {
        let (stream, continuation) = AsyncStream<DaemonEvent>.makeStream()
        let states = Mutex<[UInt32: [String: BusValue]]>([:])
        let signals = BusMatch(sender: CaptureNames.service, pathNamespace: CaptureNames.root)
        let heard = try await connection.subscribe(signals) { signal in
            let event = states.withLock { CaptureDaemon.event(signal, &$0) }
            if let event { continuation.yield(event) }
        }
        let name = try await connection.watchName(CaptureNames.service) { owner in
            continuation.yield(owner == nil ? .daemonVanished : .daemonAppeared)
        }
        connection.onDisconnect { _ in continuation.finish() }
        continuation.onTermination = { _ in withExtendedLifetime((heard, name)) {} }
        return stream
    }

    private static func event(_ signal: BusSignal, _ states: inout [UInt32: [String: BusValue]]) -> DaemonEvent? {
        let values = signal.arguments
        switch (signal.interface, signal.member) {
        case (CaptureNames.manager, "DeviceAdded"):
            return values.first.flatMap { try? DeviceDescription(busValue: $0) }.map { .deviceAdded($0) }
        case (CaptureNames.manager, "DeviceRemoved"):
            return values.first?.text.map { .deviceRemoved(DeviceID(rawValue: $0)) }
        case (CaptureNames.manager, "SessionAdded"):
            return values.first?.text.flatMap(CaptureNames.sessionNumber).map { .sessionAdded($0) }
        case (CaptureNames.manager, "SessionRemoved"):
            guard let id = values.first?.text.flatMap(CaptureNames.sessionNumber) else { return nil }
            states[id] = nil
            return .sessionRemoved(id)
        case (CaptureNames.session, "OutputFinished"):
            guard values.count == 4, let id = CaptureNames.sessionNumber(signal.path), let name = values[0].text,
                let code = values[1].text, let message = values[2].text
            else { return nil }
            let error = code.isEmpty ? nil : CaptureError(.init(rawValue: code), message)
            let counters = (try? OutputStatistics(busValue: values[3])) ?? OutputStatistics()
            return .outputFinished(id, OutputResult(name: name, error: error, statistics: counters))
        case (CaptureNames.authorization, "Changed"):
            guard values.count == 4, let user = values[0].text, let program = values[1].text,
                let service = values[2].text
            else { return nil }
            let status = values[3].integer.flatMap { UInt32(exactly: $0) }.flatMap(AuthorizationStatus.init)
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
            let code = known["ReasonCode"]?.text ?? ""
            let reason = code.isEmpty ? nil : CaptureError(.init(rawValue: code), known["Reason"]?.text ?? "")
            return .sessionChanged(id, SessionStatus(state, reason))
        default: return nil
        }
    }
}
