import GRDB
import Glibc

/// Opening the store: everything is checked before an answer in it is believed.
enum StoreConnection {
    /// Opens, creates where there is nothing, and tries a write.
    static func open(_ location: StoreLocation) throws(StoreFault) -> OpenStore {
        switch location {
        case .memory:
            do {
                let queue = try DatabaseQueue(configuration: configuration)
                try queue.write(StoreSchema.create)
                return OpenStore(queue: queue)
            } catch {
                throw StoreFault(error, file: "in memory")
            }
        case .directory(let directory):
            let file = directory + "/" + AuthorizationStore.fileName
            try StoreFiles.prepare(directory)
            if try !StoreFiles.exists(file) { try create(file, in: directory) }
            let identity = try StoreFiles.check(file)
            return OpenStore(queue: try openExisting(file), file: identity)
        }
    }

    /// Writes something, so that a disk that is full or read-only shows before a person is asked in vain.
    static func probe(_ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO meta(key, value) VALUES('lastProbe', ?)",
            arguments: ["\(AnswerTime.now.wall)"]
        )
    }

    private static var configuration: GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.label = "authorization"
        // Somebody may be looking at the answers with another program.
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        }
        return configuration
    }

    private static func openExisting(_ file: String) throws(StoreFault) -> DatabaseQueue {
        do {
            let queue = try DatabaseQueue(path: file, configuration: configuration)
            try queue.inDatabase { database in
                // After opening, and read back: a database that refuses is not one to keep answers in.
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
            try check(facts.application, facts.version, facts.verdict, file)
            guard facts.synchronous == 2 else {
                throw StoreFault("the store of answers \(file) does not synchronize its writes", isOfFile: true)
            }
            try queue.write(probe)
            return queue
        } catch let fault as StoreFault {
            throw fault
        } catch {
            throw StoreFault(error, file: file)
        }
    }

    private static func check(_ application: Int32, _ version: Int32, _ verdict: [String], _ file: String)
        throws(StoreFault)
    {
        guard application == StoreSchema.applicationID else {
            throw StoreFault.damage("\(file) is a database, but not a store of answers", file)
        }
        guard version <= StoreSchema.version else {
            throw StoreFault(
                "the store of answers \(file) has version \(version), and this captured knows \(StoreSchema.version) "
                    + "at most; install the newer captured again by: ",
                remedy: "make install",
                isOfFile: true
            )
        }
        guard version == StoreSchema.version, verdict == ["ok"] else {
            let why = verdict.first ?? "no verdict"
            throw StoreFault.damage("the store of answers \(file) is damaged: \(why)", file)
        }
    }

    /// Makes the database beside its place and moves it there whole, so that an empty or half-made file is never a crash
    /// in the making of it but always damage.
    private static func create(_ file: String, in directory: String) throws(StoreFault) {
        let unfinished = file + ".new"
        for leftover in [unfinished, unfinished + "-journal", file + "-journal"] { try StoreFiles.remove(leftover) }
        try StoreFiles.createEmpty(unfinished)
        do {
            let queue = try DatabaseQueue(path: unfinished, configuration: configuration)
            try queue.inDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.inTransaction {
                    try StoreSchema.create(database)
                    return .commit
                }
            }
            try queue.close()
        } catch {
            throw StoreFault(error, file: unfinished)
        }
        try StoreFiles.moveIntoPlace(unfinished, file, in: directory)
    }
}
