import CaptureCore
import GRDB

extension AuthorizationStore {
    /// The answers that end by themselves.
    ///
    /// - Parameter withoutDate: Every yes besides, for those end when they are not used.
    func endingAnswers(withoutDate: Bool) throws(CaptureError) -> [StoredAnswer] {
        try file.access(.reading) { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM answer WHERE \(withoutDate ? "status IN (3, 4)" : "until IS NOT NULL")"
            ).map(StoredAnswer.init)
        }
    }

    /// Removes one answer, unless another has taken its place; when it returns that is on disk.
    ///
    /// - Returns: Whether it was there.
    func remove(_ answer: StoredAnswer) throws(CaptureError) -> Bool {
        try file.access(.writing) { database in
            try database.execute(
                sql: """
                    DELETE FROM answer WHERE user = ? AND program = ? AND service = ? AND executable = ? AND wall = ?
                        AND status = ?
                    """,
                arguments: [
                    answer.user, answer.program, answer.service.rawValue, answer.executableKey, answer.time.wall,
                    answer.status.rawValue,
                ]
            )
            return database.changesCount > 0
        }
    }

    /// Writes down that an answer was used.
    func noteUse(of answer: StoredAnswer, at time: AnswerTime) throws(CaptureError) {
        try file.access(.writing) { database in
            try database.execute(
                sql: """
                    UPDATE answer SET usedWall = ?, usedSinceBoot = ?, usedBoot = ?
                    WHERE user = ? AND program = ? AND service = ? AND executable = ?
                    """,
                arguments: [
                    time.wall, time.sinceBoot, time.boot, answer.user, answer.program, answer.service.rawValue,
                    answer.executableKey,
                ]
            )
            try StoreConnection.mark(database, time.wall)
        }
    }

    /// Writes down how late it is.
    func mark(_ wall: Int64) throws(CaptureError) {
        try file.access(.writing) { try StoreConnection.mark($0, wall) }
    }

    /// The latest time that was ever written down, in milliseconds since 1970; later than any where that cannot be read.
    var latestTime: Int64 {
        let found = try? file.access(.reading) { database in
            try Int64.fetchOne(database, sql: "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'lastProbe'") ?? 0
        }
        return found ?? .max
    }
}
