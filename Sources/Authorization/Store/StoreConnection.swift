import GRDB
import Glibc

/// Opening the store: everything is checked before an answer in it is believed.
enum StoreConnection {
    /// Opens, creates where there is nothing, and tries a write.
    static func open(_ kind: StoreKind, _ location: StoreLocation) throws(StoreFault) -> OpenStore {
        switch location {
        case .memory:
            do {
                let queue = try DatabaseQueue(configuration: configuration(kind))
                try queue.write(kind.create)
                return OpenStore(queue: queue)
            } catch {
                throw StoreFault(error, file: "in memory", of: kind)
            }
        case .directory(let directory):
            let file = directory + "/" + kind.fileName
            try StoreFiles.prepare(directory)
            if try !StoreFiles.exists(file) { try create(kind, file, in: directory) }
            let identity = try StoreFiles.check(file, of: kind)
            return OpenStore(queue: try openExisting(kind, file), file: identity)
        }
    }

    /// Writes something, so that a disk that is full or read-only shows before a person is asked in vain.
    static func probe(_ database: Database) throws {
        try mark(database, AnswerTime.now.wall)
    }

    /// Writes down how late it is; the latest stays, so that a clock which is set back is noticed.
    static func mark(_ database: Database, _ wall: Int64) throws {
        try database.execute(
            sql: """
                INSERT INTO meta(key, value) VALUES('lastProbe', ?1) ON CONFLICT(key) DO UPDATE
                    SET value = max(CAST(value AS INTEGER), CAST(?1 AS INTEGER))
                """,
            arguments: ["\(wall)"]
        )
    }

    private static func configuration(_ kind: StoreKind) -> GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.label = kind.fileName
        // Somebody may be looking at it with another program.
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        }
        return configuration
    }

    private static func openExisting(_ kind: StoreKind, _ file: String) throws(StoreFault) -> DatabaseQueue {
        do {
            let queue = try DatabaseQueue(path: file, configuration: configuration(kind))
            try queue.inDatabase { database in
                // After opening, and read back: a database that refuses is not one to rely on.
                try database.execute(sql: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL")
            }
            let facts = try queue.read { database in
                (
                    version: try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0,
                    application: try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0,
                    synchronous: try Int32.fetchOne(database, sql: "PRAGMA synchronous") ?? 0,
                    verdict: try String.fetchAll(database, sql: "PRAGMA integrity_check(1)")
                )
            }
            try check(kind, facts.application, facts.version, facts.verdict, file)
            guard facts.synchronous == 2 else {
                throw StoreFault("\(kind.name) \(file) does not synchronize its writes", isOfFile: true)
            }
            try queue.write { database in
                if facts.version < kind.version { try kind.upgrade(database, facts.version) }
                try probe(database)
            }
            return queue
        } catch let fault as StoreFault {
            throw fault
        } catch {
            throw StoreFault(error, file: file, of: kind)
        }
    }

    private static func check(
        _ kind: StoreKind,
        _ application: Int32,
        _ version: Int32,
        _ verdict: [String],
        _ file: String
    ) throws(StoreFault) {
        guard application == kind.applicationID else {
            throw StoreFault.damage("\(file) is a database, but not \(kind.indefiniteName)", file, kind)
        }
        guard version <= kind.version else {
            throw StoreFault(
                "\(kind.name) \(file) has version \(version), and this captured knows \(kind.version) "
                    + "at most; install the newer captured again with: ",
                remedy: "make install",
                isOfFile: true
            )
        }
        guard version > 0, verdict == ["ok"] else {
            let why = verdict.first ?? "no verdict"
            throw StoreFault.damage("\(kind.name) \(file) is damaged: \(why)", file, kind)
        }
    }

    /// Makes the database beside its place and moves it there whole, so that an empty or half-made file is never a crash
    /// in the making of it but always damage.
    private static func create(_ kind: StoreKind, _ file: String, in directory: String) throws(StoreFault) {
        let unfinished = file + ".new"
        for leftover in [unfinished, unfinished + "-journal", file + "-journal"] { try StoreFiles.remove(leftover) }
        try StoreFiles.createEmpty(unfinished)
        do {
            let queue = try DatabaseQueue(path: unfinished, configuration: configuration(kind))
            try queue.inDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.inTransaction {
                    try kind.create(database)
                    return .commit
                }
            }
            try queue.close()
        } catch {
            throw StoreFault(error, file: unfinished, of: kind)
        }
        try StoreFiles.moveIntoPlace(unfinished, file, in: directory)
    }
}
