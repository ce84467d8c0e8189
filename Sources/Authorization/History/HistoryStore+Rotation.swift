import CaptureCore
import GRDB

/// How much history is kept.
public struct HistoryLimits: Hashable, Sendable {
    /// How long an entry is kept after its end, in milliseconds.
    public var age: Int64
    /// How many entries there are at most, those that last left out.
    public var count: Int

    /// The given limits.
    public init(age: Int64, count: Int) {
        self.age = age
        self.count = count
    }
}

extension HistoryStore {
    /// Removes what is too old, and makes room where there are too many entries.
    ///
    /// Too many are made by a program that starts and stops without end, or sets answers without end, perhaps to have
    /// earlier uses forgotten. So room is made where there is most: requests that came to nothing go first, then the
    /// earlier settings and decisions of the user who has most of them, but for a tenth of what may be there. Then the
    /// earlier half of the most frequent uses of one device by one program become one entry, with their number, first,
    /// last and whole time. Only when nothing is left to put together the oldest entries go, uses last.
    ///
    /// - Returns: How many entries fewer there are.
    @discardableResult
    func rotate(_ limits: HistoryLimits, now: AnswerTime) throws(CaptureError) -> Int {
        try file.access(.writing) { database in
            let before = try HistoryStore.count(database)
            try database.execute(sql: "DELETE FROM entry WHERE ended < ?", arguments: [now.wall - limits.age])
            if try HistoryStore.count(database) > limits.count {
                // Some more than needed, so that not every entry from now on has to make room for itself.
                let goal = limits.count - limits.count / 10
                try HistoryStore.removeOldest(database, downTo: goal, "kind = 'decision' AND status = 0")
                while try HistoryStore.thinOut(database, downTo: goal, but: limits.count / 10) {}
                while try HistoryStore.count(database) > goal, try HistoryStore.putTogether(database) {}
                try HistoryStore.removeOldest(database, downTo: goal, "kind <> 'use'")
                try HistoryStore.removeOldest(database, downTo: goal, "ended IS NOT NULL")
            }
            return before - (try HistoryStore.count(database))
        }
    }

    private static func count(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM entry WHERE ended IS NOT NULL") ?? 0
    }

    private static func removeOldest(_ database: Database, downTo goal: Int, _ which: String) throws {
        let excess = try count(database) - goal
        guard excess > 0 else { return }
        try database.execute(
            sql: "DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE \(which) ORDER BY id LIMIT ?)",
            arguments: [excess]
        )
    }

    /// Removes the earlier half, or what is too much, of what is no use of the user who has most of that; false when nothing
    /// is too much, or no more than a number is left.
    private static func thinOut(_ database: Database, downTo goal: Int, but left: Int) throws -> Bool {
        let all = try Int.fetchOne(database, sql: "SELECT count(*) FROM entry WHERE kind <> 'use'") ?? 0
        let excess = min(try count(database) - goal, all - left)
        guard excess > 0,
            let most = try Row.fetchOne(
                database,
                sql: """
                    SELECT user, count(*) AS entries FROM entry WHERE kind <> 'use'
                    GROUP BY user ORDER BY entries DESC LIMIT 1
                    """
            )
        else { return false }
        let entries: Int = most["entries"]
        try database.execute(
            sql: """
                DELETE FROM entry WHERE id IN (
                    SELECT id FROM entry WHERE kind <> 'use' AND user = ? ORDER BY id LIMIT ?)
                """,
            arguments: [most["user"] as Int64, min(excess, max(1, entries / 2))]
        )
        return true
    }

    /// Puts the earlier half of the most frequent uses into one entry; false when none are frequent.
    private static func putTogether(_ database: Database) throws -> Bool {
        guard
            let most = try Row.fetchOne(
                database,
                sql: """
                    SELECT user, program, service, device, count(*) AS uses FROM entry
                    WHERE kind = 'use' AND ended IS NOT NULL
                    GROUP BY user, program, service, device ORDER BY uses DESC LIMIT 1
                    """
            ),
            let uses = most["uses"] as Int?, uses >= 4
        else { return false }
        let those = try Row.fetchAll(
            database,
            sql: """
                SELECT id, duration, times, ended FROM entry WHERE kind = 'use' AND ended IS NOT NULL
                    AND user = ? AND program = ? AND service = ? AND device = ? ORDER BY id LIMIT ?
                """,
            arguments: [
                most["user"] as Int64, most["program"] as String, most["service"] as String,
                most["device"] as String, uses / 2,
            ]
        )
        guard let first = those.first, let last = those.last else { return false }
        let firstID: Int64 = first["id"]
        let lastID: Int64 = last["id"]
        let times = those.reduce(Int64(0)) { $0 + ($1["times"] as Int64) }
        let duration = those.reduce(Int64(0)) { $0 + ($1["duration"] as Int64) }
        let ended = those.map { $0["ended"] as Int64 }.max() ?? 0
        try database.execute(
            sql: "UPDATE entry SET times = ?, duration = ?, ended = ?, message = ? WHERE id = ?",
            arguments: [times, duration, ended, "\(times) uses in one entry, because there were too many", firstID]
        )
        try database.execute(
            sql: """
                DELETE FROM entry WHERE kind = 'use' AND ended IS NOT NULL AND user = ? AND program = ? AND service = ?
                    AND device = ? AND id > ? AND id <= ?
                """,
            arguments: [
                most["user"] as Int64, most["program"] as String, most["service"] as String,
                most["device"] as String, firstID, lastID,
            ]
        )
        return true
    }
}
