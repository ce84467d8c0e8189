/// The turn of a call. Calls of one sender run one after the other.
public struct BusTurn: Sendable {
    /// The turn of the call that the present task answers.
    @TaskLocal static var current: BusTurn?

    let finish: @Sendable () -> Void

    /// Lets the sender's next call begin. A handler calls this before it waits for a person, or for a service that may
    /// ask one. The call still counts in its user's budget. Idempotent; does nothing outside a handler.
    public static func end() { current?.finish() }
}
