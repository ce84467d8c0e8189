import CaptureCore

/// What reads much of a library, of which a user has one at a time, and the pictures that are made when they are wanted, of
/// which a user has some.
actor LibraryCare {
    /// How many pictures of a user's may be waited for.
    static let mostPictures = 32

    private var checked: Set<UInt32> = []
    private var pictures: [UInt32: Int] = [:]

    /// Has a library checked or mended.
    ///
    /// - Throws: `.busy` while that is done already.
    func check<Value: Sendable>(
        of user: UInt32,
        _ work: @Sendable () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        guard checked.insert(user).inserted else {
            throw CaptureError(.busy, "the media library is being checked already; wait for that")
        }
        defer { checked.remove(user) }
        return try await work()
    }

    /// Has a picture made.
    ///
    /// - Throws: `.busy` when as many are waited for as may be.
    func pictures<Value: Sendable>(
        for user: UInt32,
        _ work: @Sendable () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        guard pictures[user, default: 0] < Self.mostPictures else {
            throw CaptureError(.busy, "\(Self.mostPictures) pictures are being made already; wait for those")
        }
        pictures[user, default: 0] += 1
        defer {
            pictures[user, default: 1] -= 1
            if pictures[user] == 0 { pictures[user] = nil }
        }
        return try await work()
    }
}
