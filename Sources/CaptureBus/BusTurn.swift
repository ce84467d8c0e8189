/// The turn of a call among those of its sender, of which one runs after the other.
public struct BusTurn: Sendable {
    /// The turn of the call that the present task answers.
    @TaskLocal static var current: BusTurn?

    let finish: @Sendable () -> Void

    /// Lets the sender's next call begin, where the present task answers one: for what waits for a person, or for a service
    /// that may ask one. The call still counts in its user's budget. Idempotent; does nothing outside of a handler.
    public static func end() { current?.finish() }
}
