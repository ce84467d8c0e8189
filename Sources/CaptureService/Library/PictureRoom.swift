import CaptureCore

/// How many pictures of a user's are being made, for programs that want them and for the person who picks.
actor PictureRoom {
    /// How many of a user's may be waited for.
    static let most = 32

    private var pictures: [UInt32: Int] = [:]

    /// Has a picture made.
    ///
    /// - Throws: `.busy` when as many are waited for as may be.
    func make<Value: Sendable>(
        for user: UInt32,
        _ work: @Sendable () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        guard pictures[user, default: 0] < Self.most else {
            throw CaptureError(.busy, "\(Self.most) pictures are already being made; wait for those")
        }
        pictures[user, default: 0] += 1
        defer {
            pictures[user, default: 1] -= 1
            if pictures[user] == 0 { pictures[user] = nil }
        }
        return try await work()
    }
}
