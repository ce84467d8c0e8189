import CaptureCore
import GRDB

/// The tables of the history and their version.
enum HistorySchema {
    static let kind = StoreKind(
        name: "the history",
        indefiniteName: "a history of captured",
        startOver: "begin a new one",
        fileName: HistoryStore.fileName,
        // "CAPH"
        applicationID: 0x4341_5048,
        version: 2,
        create: create,
        upgrade: upgrade
    )

    /// `use` is what the end of a use finds its entry by, and `run` the start of the daemon that began it: an entry of
    /// another run that has not ended never will by itself. Numbers are never given again (`AUTOINCREMENT`).
    private static func create(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE entry(
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    kind TEXT NOT NULL,
                    user INTEGER NOT NULL CHECK(user BETWEEN 0 AND 4294967295),
                    program TEXT NOT NULL,
                    tier TEXT,
                    service TEXT NOT NULL,
                    device TEXT NOT NULL,
                    deviceName TEXT NOT NULL,
                    cause TEXT NOT NULL,
                    status INTEGER NOT NULL,
                    wall INTEGER NOT NULL,
                    sinceBoot INTEGER NOT NULL,
                    boot TEXT NOT NULL,
                    ended INTEGER,
                    duration INTEGER NOT NULL,
                    outcome TEXT NOT NULL,
                    message TEXT NOT NULL,
                    pid INTEGER NOT NULL,
                    session INTEGER NOT NULL,
                    times INTEGER NOT NULL,
                    use INTEGER,
                    run TEXT NOT NULL,
                    authorUser INTEGER CHECK(authorUser BETWEEN 0 AND 4294967295),
                    authorProgram TEXT CHECK((authorProgram IS NULL) = (authorUser IS NULL))
                ) STRICT;
                CREATE UNIQUE INDEX entryOpen ON entry(use) WHERE ended IS NULL;
                CREATE INDEX entryProgram ON entry(user, program);
                CREATE INDEX entryEnded ON entry(ended);
                CREATE TABLE meta(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
                PRAGMA application_id = \(kind.applicationID);
                PRAGMA user_version = \(kind.version);
                """
        )
    }

    /// From version 1, which does not tell who changed a setting.
    private static func upgrade(_ database: Database, from version: Int32) throws {
        try database.execute(
            sql: """
                ALTER TABLE entry ADD COLUMN authorUser INTEGER CHECK(authorUser BETWEEN 0 AND 4294967295);
                ALTER TABLE entry ADD COLUMN authorProgram TEXT CHECK((authorProgram IS NULL) = (authorUser IS NULL));
                PRAGMA user_version = \(kind.version);
                """
        )
    }
}

extension HistoryEntry {
    /// Reads a row; of a use that lasts, `now` tells how long it has.
    init(_ row: Row, now: AnswerTime) throws {
        let kindWord: String = try row.decode(forColumn: "kind")
        let serviceWord: String = try row.decode(forColumn: "service")
        let statusNumber: UInt32 = try row.decode(forColumn: "status")
        guard let kind = Kind(rawValue: kindWord), let service = Service(rawValue: serviceWord),
            let status = AuthorizationStatus(rawValue: statusNumber)
        else { throw UnknownEntry(words: "\(kindWord), \(serviceWord), \(statusNumber)") }
        id = try row.decode(forColumn: "id")
        self.kind = kind
        user = try row.decode(forColumn: "user")
        program = try row.decode(forColumn: "program")
        tier = try row.decode(String?.self, forColumn: "tier").flatMap(Tier.init)
        self.service = service
        device = try row.decode(forColumn: "device")
        deviceName = try row.decode(forColumn: "deviceName")
        cause = try row.decode(forColumn: "cause")
        self.status = status
        began = AnswerTime(
            wall: try row.decode(forColumn: "wall"),
            sinceBoot: try row.decode(forColumn: "sinceBoot"),
            boot: try row.decode(forColumn: "boot")
        )
        ended = try row.decode(Int64?.self, forColumn: "ended")
        duration = ended == nil ? began.elapsed(at: now) : try row.decode(forColumn: "duration")
        outcome = try row.decode(forColumn: "outcome")
        message = try row.decode(forColumn: "message")
        pid = try row.decode(forColumn: "pid")
        session = try row.decode(forColumn: "session")
        times = try row.decode(forColumn: "times")
        if let program = try row.decode(String?.self, forColumn: "authorProgram") {
            author = SettingsAuthor(user: try row.decode(forColumn: "authorUser"), program: program)
        }
    }

    /// Writes the entry behind all others; its number is not looked at.
    func append(_ database: Database, use: Int64?, run: String) throws {
        try database.execute(
            sql: """
                INSERT INTO entry(kind, user, program, tier, service, device, deviceName, cause, status, wall, sinceBoot,
                    boot, ended, duration, outcome, message, pid, session, times, use, run,
                    authorUser, authorProgram)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                kind.rawValue, user, program, tier?.rawValue, service.rawValue, device, deviceName, cause,
                status.rawValue, began.wall, began.sinceBoot, began.boot, ended, duration, outcome, message, pid,
                session, times, use, run, author?.user, author?.program,
            ]
        )
    }

    private struct UnknownEntry: Error, CustomStringConvertible {
        var words: String
        var description: String { "an entry is of an unknown kind, service or status: \(words)" }
    }
}
