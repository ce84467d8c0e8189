extension AuthorizationGate {
    /// A turn of the gate, by which it proves that it works: one that waits for its store takes none.
    public func takeTurn() {}
}
