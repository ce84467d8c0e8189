extension AuthorizationGate {
    /// Takes a turn of the gate, to prove that the gate works. A gate that waits for its store takes no turns.
    public func takeTurn() {}
}
