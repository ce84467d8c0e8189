/// How much an identity is worth: who could have forged it. Stored with every answer and shown in every prompt.
public enum Tier: String, Hashable, Sendable, CaseIterable {
    /// A sandbox's id; the sandbox's owner could forge it.
    case sandboxed
    /// A system unit with the unit's uid; only root could forge it.
    case service
    /// A uid of the program's own, which nobody logs in to; only root could forge it.
    case user
    /// The user's own unit, scope or executable; any program of the same user could forge it.
    case claimed

    /// Whether its answers are the machine's, stored under user 0, rather than those of the user who runs it.
    ///
    /// A service is asked of whoever sits at the active seat, its uid may be made up at each start (`DynamicUser=`),
    /// and root settles it on a machine without a seat: so its answer cannot hang on one user.
    public var belongsToMachine: Bool {
        self == .service || self == .user
    }
}
