import Authorization
import CaptureCore
import Synchronization

/// The reasons for capturing that people's own programs stated by a call, by connection, and the bridges that they came
/// through. Of programs that capture through the connection of a bridge, the bridge alone is known. Thread-safe.
final class StatedReasons: Sendable {
    private let stated = Mutex<[String: UsageDescription]>([:])
    /// By the bridge's connection and the process that captures.
    private let bridged = Mutex<[String: [Int32: Bridge]]>([:])

    /// Stores what a program says, and replaces what it said before.
    ///
    /// - Throws: `notPermitted` for a program in a sandbox, a service or a program with a user of its own, whose reasons
    ///   must be in metadata.
    func state(
        _ reasons: [Service: String],
        bridge: Bridge? = nil,
        by client: ClientIdentity,
        on connection: String
    ) throws(CaptureError) {
        guard client.tier == .claimed else {
            throw CaptureError(
                .notPermitted,
                "\(client.program) cannot give its reason by a call, because its tier is \(client.tier.rawValue): "
                    + "put it into its metadata"
            )
        }
        let shown = reasons.mapValues { UsageDescription.shown($0) }.filter { !$0.value.isEmpty }
        let usage = UsageDescription(reasons: shown, bridge: bridge)
        stated.withLock { $0[connection] = shown.isEmpty && bridge == nil ? nil : usage }
    }

    /// What a program said on a connection.
    func usage(on connection: String) -> UsageDescription {
        stated.withLock { $0[connection] ?? UsageDescription(reasons: [:]) }
    }

    /// What is known of a program on a connection, which may be a bridge's.
    func usage(of client: ClientIdentity, on connection: String) -> UsageDescription {
        guard let bridge = bridged.withLock({ $0[connection]?[client.pid] }) else { return usage(on: connection) }
        return UsageDescription(reasons: [:], bridge: bridge)
    }

    /// Stores how a process came that captures through a bridge's connection.
    func state(_ bridge: Bridge, of client: ClientIdentity, on connection: String) {
        bridged.withLock { $0[connection, default: [:]][client.pid] = bridge }
    }

    func processGone(_ process: Int32, on connection: String) {
        bridged.withLock { _ = $0[connection]?.removeValue(forKey: process) }
    }

    func clientGone(_ connection: String) {
        stated.withLock { _ = $0.removeValue(forKey: connection) }
        bridged.withLock { _ = $0.removeValue(forKey: connection) }
    }
}
