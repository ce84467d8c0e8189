import CaptureCore
import GRDB

extension Database {
    /// The time that has passed in the library, in milliseconds, by which assets grow old in the bin; within a write.
    ///
    /// It goes on with the wall clock from one look to the next, and at most a week at a time. What the wall clock has
    /// gone back is not counted when it comes forward again, so that a machine which begins each of its runs in 1970 does
    /// not gain a week by it.
    ///
    /// - Parameter wall: The wall clock, in milliseconds since 1970.
    func houseClock(at wall: Int64) throws -> Int64 {
        let move = "max(-?2, min(?2, ?1 - look))"
        try cachedStatement(
            sql: """
                INSERT INTO house(id, clock, look, debt) VALUES(1, 0, ?1, 0) ON CONFLICT(id) DO UPDATE SET
                    clock = clock + max(0, \(move) - debt), debt = max(0, debt - \(move)), look = ?1
                """
        ).execute(arguments: [wall, 7 * 24 * 60 * 60 * 1000])
        return try Int64.fetchOne(cachedStatement(sql: "SELECT clock FROM house WHERE id = 1")) ?? 0
    }
}
