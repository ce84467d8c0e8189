import CaptureCore
import Synchronization

/// How much of a kind may be under way at a time, of each user and of all together; more is refused. Thread-safe.
final class BusyLimit: Sendable {
    private let mostOfUser: Int
    private let most: Int
    private let refusal: String
    private let underWay = Mutex<[UInt32: Int]>([:])

    /// - Parameter refusal: What a caller beyond the limit is told.
    init(mostOfUser: Int, most: Int = .max, _ refusal: String) {
        self.mostOfUser = mostOfUser
        self.most = most
        self.refusal = refusal
    }

    /// Begins something of a user's.
    ///
    /// - Throws: `.busy` beyond the limit.
    func begin(for user: UInt32) throws(CaptureError) {
        try underWay.withLock { underWay throws(CaptureError) in
            guard underWay[user, default: 0] < mostOfUser, underWay.values.reduce(0, +) < most else {
                throw CaptureError(.busy, refusal)
            }
            underWay[user, default: 0] += 1
        }
    }

    func end(for user: UInt32) {
        underWay.withLock { underWay in
            let left = (underWay[user] ?? 1) - 1
            underWay[user] = left > 0 ? left : nil
        }
    }

    /// Does something of a user's.
    ///
    /// - Throws: `.busy` beyond the limit, and what the work throws.
    func run<Value>(
        for user: UInt32,
        _ work: () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        try begin(for: user)
        defer { end(for: user) }
        return try await work()
    }
}
