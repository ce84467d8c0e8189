/// Whoever knows whether the person that a program belongs to is there.
///
/// Thread-safe. Who tells that something has changed is to call `AuthorizationGate.presenceChanged`.
public protocol Presence: Sendable {
    /// Why a program may not capture now, in words for a person; `nil` when its user is there, or it belongs to nobody.
    ///
    /// What cannot be told is a reason, too.
    func absence(of client: ClientIdentity) async -> String?
}
