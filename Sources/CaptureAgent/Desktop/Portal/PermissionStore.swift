public import CaptureCore
public import CaptureBus

/// The desktop's store of permissions: `org.freedesktop.impl.portal.PermissionStore` of the person's session.
///
/// Any program of the person may write to it. Thread-safe.
public struct PermissionStore: Sendable {
    private static let interface = "org.freedesktop.impl.portal.PermissionStore"
    private static let path = "/org/freedesktop/impl/portal/PermissionStore"

    private let bus: BusConnection

    /// The store on the bus of the person's session.
    public init(on bus: BusConnection) {
        self.bus = bus
    }

    /// The permissions of a resource, by application; none when there is no such table or resource.
    ///
    /// - Throws: `.unreachable` when the desktop has no such store.
    public func permissions(table: String, id: String) async throws(CaptureError) -> [String: [String]] {
        do throws(CaptureError) {
            let answer = try await call("Lookup", "ss", [.string(table), .string(id)])
            return (answer.first?.properties ?? [:]).compactMapValues(\.texts)
        } catch  where error.code == BusErrors.notFound {
            return [:]
        }
    }

    /// Writes an application's permissions for a resource.
    ///
    /// - Throws: `.unreachable` when the desktop has no such store.
    public func set(table: String, id: String, application: String, _ permissions: [String]) async throws(CaptureError)
    {
        try await call(
            "SetPermission",
            "sbssas",
            [.string(table), .bool(true), .string(id), .string(application), .strings(permissions)]
        )
    }

    /// Removes an application's permissions for a resource, if there are any.
    ///
    /// - Throws: `.unreachable` when the desktop has no such store.
    public func remove(table: String, id: String, application: String) async throws(CaptureError) {
        do throws(CaptureError) {
            try await call("DeletePermission", "sss", [.string(table), .string(id), .string(application)])
        } catch  where error.code == BusErrors.notFound {
            return
        }
    }

    @discardableResult
    private func call(
        _ member: String,
        _ signature: String,
        _ arguments: [BusValue]
    ) async throws(CaptureError) -> [BusValue] {
        try await bus.call(
            PermissionStore.interface,
            PermissionStore.path,
            PermissionStore.interface,
            member,
            signature: signature,
            arguments,
            timeout: 10
        )
    }
}
