import CaptureCore
import GRDB

/// The tables of the store of answers and their version.
enum StoreSchema {
    /// The store of answers among the daemon's databases.
    static let kind = StoreKind(
        name: "the store of answers",
        indefiniteName: "a store of answers",
        startOver: "start without any answer",
        fileName: AuthorizationStore.fileName,
        applicationID: applicationID,
        version: version,
        create: create,
        upgrade: upgrade
    )

    /// "CAPT": says that a database is ours (`PRAGMA application_id`).
    static let applicationID: Int32 = 0x4341_5054
    /// Raised with every change of the tables (`PRAGMA user_version`).
    static let version: Int32 = 5

    /// Makes the tables in an empty database.
    ///
    /// `executable` is a part of the key, because programs of one claimed unit are told apart by their files; it is
    /// empty where the id says enough. Devices and inodes are unsigned 64 bits, kept as the signed number of the same
    /// bits. `changed` is in nanoseconds, and not there where only root can replace the file.
    static func create(_ database: Database) throws {
        try database.execute(
            sql: """
                \(answers)
                CREATE TABLE meta(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """
        )
    }

    /// The table of answers. A yes for chosen assets is one about reading the library.
    private static let answers = """
        CREATE TABLE answer(
            user INTEGER NOT NULL CHECK(user BETWEEN 0 AND 4294967295),
            program TEXT NOT NULL CHECK(length(program) > 0),
            service TEXT NOT NULL,
            executable TEXT NOT NULL,
            tier TEXT NOT NULL,
            status INTEGER NOT NULL CHECK(status IN (2, 3, 4)),
            reason TEXT NOT NULL,
            wall INTEGER NOT NULL,
            sinceBoot INTEGER NOT NULL,
            boot TEXT NOT NULL,
            path TEXT,
            device INTEGER,
            inode INTEGER,
            protected INTEGER,
            detail TEXT NOT NULL,
            until INTEGER CHECK(until IS NULL OR status IN (3, 4)),
            usedWall INTEGER,
            usedSinceBoot INTEGER,
            usedBoot TEXT,
            changed INTEGER CHECK(changed IS NULL OR path IS NOT NULL),
            usage TEXT,
            CHECK(status <> 4 OR service = 'library-read-write'),
            CHECK((path IS NULL) = (device IS NULL) AND (path IS NULL) = (inode IS NULL)
                AND (path IS NULL) = (protected IS NULL)),
            PRIMARY KEY(user, program, service, executable)
        ) STRICT, WITHOUT ROWID;
        \(dates)
        """

    /// Finds the few answers that have a date among the many that have none.
    private static let dates = "CREATE INDEX answerUntil ON answer(until) WHERE until IS NOT NULL;"

    /// From version 1, whose answers all hold for always and have not been seen in use, and from version 2, which knows of
    /// no file when it was last changed: a yes for one that not only root can replace counts no more, since nobody can
    /// tell whether it is still that file. Up to version 3 no yes was for chosen assets, which has conditions of its own.
    /// Up to version 4 a row did not keep the program's reason.
    private static func upgrade(_ database: Database, from version: Int32) throws {
        if version < 2 {
            try database.execute(
                sql: """
                    ALTER TABLE answer ADD COLUMN until INTEGER CHECK(until IS NULL OR status = 3);
                    ALTER TABLE answer ADD COLUMN usedWall INTEGER;
                    ALTER TABLE answer ADD COLUMN usedSinceBoot INTEGER;
                    ALTER TABLE answer ADD COLUMN usedBoot TEXT;
                    """
            )
        }
        if version < 3 {
            try database.execute(
                sql: "ALTER TABLE answer ADD COLUMN changed INTEGER CHECK(changed IS NULL OR path IS NOT NULL)"
            )
        }
        try database.execute(sql: "ALTER TABLE answer ADD COLUMN usage TEXT")
        guard version < 4 else {
            return try database.execute(sql: "PRAGMA user_version = \(StoreSchema.version)")
        }
        // Conditions of a table cannot be changed: another takes its place.
        try database.execute(
            sql: """
                DROP INDEX IF EXISTS answerUntil;
                ALTER TABLE answer RENAME TO answerBefore;
                \(answers)
                INSERT INTO answer SELECT * FROM answerBefore;
                DROP TABLE answerBefore;
                PRAGMA user_version = \(StoreSchema.version);
                """
        )
    }
}

extension StoredAnswer {
    /// The part of the key that tells programs of one id apart.
    var executableKey: String {
        guard tier == .claimed, program.hasPrefix("app:") else { return "" }
        return executable?.path ?? ""
    }

    /// Reads a row; throws what GRDB or the row's own values have against it.
    init(_ row: Row) throws {
        func word<T: RawRepresentable>(_ column: String, _: T.Type = T.self) throws -> T where T.RawValue == String {
            let raw: String = try row.decode(forColumn: column)
            guard let value = T(rawValue: raw) else { throw UnknownWord(column: column, word: raw) }
            return value
        }
        let statusNumber: UInt32 = try row.decode(forColumn: "status")
        guard let status = AuthorizationStatus(rawValue: statusNumber) else {
            throw UnknownWord(column: "status", word: "\(statusNumber)")
        }
        let service: Service = try word("service")
        guard status != .limited || service.canBeLimited else {
            throw UnknownWord(column: "status", word: "limited of \(service.rawValue)")
        }
        user = try row.decode(forColumn: "user")
        program = try row.decode(forColumn: "program")
        self.service = service
        tier = try word("tier")
        self.status = status
        reason = try word("reason")
        time = AnswerTime(
            wall: try row.decode(forColumn: "wall"),
            sinceBoot: try row.decode(forColumn: "sinceBoot"),
            boot: try row.decode(forColumn: "boot")
        )
        if let path = try row.decode(String?.self, forColumn: "path") {
            let device: Int64 = try row.decode(forColumn: "device")
            let inode: Int64 = try row.decode(forColumn: "inode")
            executable = ExecutableFile(
                path: path,
                device: UInt64(bitPattern: device),
                inode: UInt64(bitPattern: inode),
                changed: try row.decode(Int64?.self, forColumn: "changed"),
                isProtected: try row.decode(forColumn: "protected")
            )
        }
        detail = try row.decode(forColumn: "detail")
        usage = try row.decode(String?.self, forColumn: "usage")
        lifetime = try row.decode(Int64?.self, forColumn: "until").map { .until($0) } ?? .always
        if let wall = try row.decode(Int64?.self, forColumn: "usedWall") {
            lastUsed = AnswerTime(
                wall: wall,
                sinceBoot: try row.decode(forColumn: "usedSinceBoot"),
                boot: try row.decode(forColumn: "usedBoot")
            )
        }
    }

    /// Writes the row in the place of one of the same key.
    func put(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO answer(user, program, service, executable, tier, status, reason, wall, sinceBoot,
                    boot, path, device, inode, protected, detail, until, usedWall, usedSinceBoot, usedBoot,
                    changed, usage)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                user, program, service.rawValue, executableKey, tier.rawValue, status.rawValue, reason.rawValue,
                time.wall, time.sinceBoot, time.boot, executable?.path,
                executable.map { Int64(bitPattern: $0.device) }, executable.map { Int64(bitPattern: $0.inode) },
                executable?.isProtected, detail, lifetime.moment, lastUsed?.wall, lastUsed?.sinceBoot, lastUsed?.boot,
                executable?.changed, usage,
            ]
        )
    }

    private struct UnknownWord: Error, CustomStringConvertible {
        var column: String
        var word: String
        var description: String { "the row's \(column) '\(word)' is unknown" }
    }
}
