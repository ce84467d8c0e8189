import CaptureCore
import GRDB

/// The tables of the index and their version.
enum LibrarySchema {
    /// "CAPL": says that a database is ours (`PRAGMA application_id`).
    static let applicationID: Int32 = 0x4341_504C
    /// Raised with every change of the tables (`PRAGMA user_version`).
    static let version: Int32 = 1

    /// Makes the tables where there are none, and refuses an index that is not ours or newer; within a transaction.
    ///
    /// - Returns: Whether there were none.
    static func prepare(_ database: Database, _ path: String) throws -> Bool {
        let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        if application == 0, found == 0, try isEmpty(database) {
            try database.execute(sql: AssetSchema.statements)
            try database.execute(sql: ReadingSchema.statements)
            try database.execute(
                sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);"
            )
            return true
        }
        guard application == applicationID, found > 0 else {
            throw CaptureError(
                .inputOutput,
                "\(path) is a database, but not the index of a media library; restore a copy"
            )
        }
        guard found <= version else {
            throw CaptureError(
                .inputOutput,
                "the index \(path) has version \(found), and this captured knows \(version) at most; install the newer "
                    + "captured again"
            )
        }
        return false
    }

    private static func isEmpty(_ database: Database) throws -> Bool {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
    }
}
