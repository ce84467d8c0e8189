import CaptureCore

/// What reads much of a library, of which a user has one at a time.
actor LibraryCare {
    private var checked: Set<UInt32> = []

    /// Has a library checked or mended.
    ///
    /// - Throws: `.busy` while that is done already.
    func check<Value: Sendable>(
        of user: UInt32,
        _ work: @Sendable () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        guard checked.insert(user).inserted else {
            throw CaptureError(.busy, "the media library is already being checked; wait for that")
        }
        defer { checked.remove(user) }
        return try await work()
    }
}
