import CaptureBus
import CaptureCore

extension BusConnection {
    /// Calls a method of the daemon's root object, of its authorization unless another interface is named.
    @discardableResult
    func callDaemon(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = [],
        on interface: String = CaptureNames.authorization,
        timeout: Double? = nil
    ) async throws(CaptureError) -> [BusValue] {
        try await call(
            CaptureNames.service,
            CaptureNames.root,
            interface,
            member,
            signature: signature,
            arguments,
            timeout: timeout
        )
    }

    /// Hears a signal of that object, as `subscribe` does.
    func hear(
        _ member: String,
        of interface: String = CaptureNames.authorization,
        _ handler: @escaping @Sendable (BusSignal) -> Void
    ) async throws(CaptureError) -> BusSubscription {
        let match = BusMatch(
            sender: CaptureNames.service,
            path: CaptureNames.root,
            interface: interface,
            member: member
        )
        return try await subscribe(match, handler)
    }
}
