import Authorization
import CaptureCore
import Synchronization

/// The reasons for capturing that people's own programs stated by a call, by connection. Thread-safe.
final class StatedReasons: Sendable {
    private let stated = Mutex<[String: [Service: String]]>([:])

    /// Stores what a program says, and replaces what it said before.
    ///
    /// - Throws: `notPermitted` for a program in a sandbox, a service or a program with a user of its own, whose reasons
    ///   must be in metadata.
    func state(_ reasons: [Service: String], by client: ClientIdentity, on connection: String) throws(CaptureError) {
        guard client.tier == .claimed else {
            throw CaptureError(
                .notPermitted,
                "\(client.program) cannot give its reason by a call, because its tier is \(client.tier.rawValue): "
                    + "put it into its metadata"
            )
        }
        let shown = reasons.mapValues { UsageDescription.shown($0) }.filter { !$0.value.isEmpty }
        stated.withLock { $0[connection] = shown.isEmpty ? nil : shown }
    }

    /// What a program said on a connection.
    func reasons(on connection: String) -> [Service: String] {
        stated.withLock { $0[connection] ?? [:] }
    }

    func clientGone(_ connection: String) {
        stated.withLock { _ = $0.removeValue(forKey: connection) }
    }
}
