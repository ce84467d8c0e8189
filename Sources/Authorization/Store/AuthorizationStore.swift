import CaptureCore
import GRDB
import Synchronization

/// Whether the store can be relied on.
public enum StoreState: Hashable, Sendable {
    /// It can.
    case usable
    /// It cannot, and nothing is granted; a sentence that says why and what mends it.
    case unusable(String)
}

/// The answers, on disk: SQLite, in one file that only the daemon can read and write.
///
/// One connection with a rollback journal that is truncated at commit (`journal_mode=TRUNCATE`) and full
/// synchronization. Answers are few and written one at a time, so a write-ahead log would win nothing and leave two
/// more files to guard; deleting the journal instead would make the commit durable only when its folder is synced too,
/// which SQLite does not do at FULL.
///
/// Thread-safe. What cannot be read or written makes the store unusable; each later call looks whether that is mended.
public final class AuthorizationStore: Sendable {
    /// The file's name in the state directory.
    public static let fileName = "authorization.sqlite"

    private let location: StoreLocation
    private let condition: Mutex<Condition>

    private enum Use {
        case reading
        /// In a transaction.
        case writing
        /// Without one: settings of the connection.
        case plain
    }

    private enum Condition {
        case open(OpenStore)
        /// The file itself is at fault, or what is around it.
        case broken(StoreFault)
        /// The file is sound, and writing to it failed.
        case unwritable(OpenStore, StoreFault)
    }

    /// Opens or creates the store in a state directory, which is made when it is absent. Never throws: a store that
    /// cannot be used says so in `state` and refuses every call.
    ///
    /// - Parameter directory: The daemon's state directory, which has to be its own, mode 0700.
    public convenience init(directory: String) {
        self.init(.directory(directory))
    }

    /// A store that lives as long as the object, for tests.
    public static func inMemory() -> AuthorizationStore {
        AuthorizationStore(.memory)
    }

    private init(_ location: StoreLocation) {
        self.location = location
        condition = Mutex(AuthorizationStore.open(location))
    }

    /// Whether it can be relied on, as of the last call.
    public var state: StoreState {
        condition.withLock {
            switch $0 {
            case .open: .usable
            case .broken(let fault), .unwritable(_, let fault): .unusable(fault.message)
            }
        }
    }

    /// The command that makes it usable again, as of the last call; empty when it is usable or no command does.
    public var remedy: String {
        condition.withLock {
            switch $0 {
            case .open: ""
            case .broken(let fault), .unwritable(_, let fault): fault.remedy
            }
        }
    }

    /// Looks whether it can be relied on now, so that what was mended shows.
    public func look() {
        _ = try? access(.reading) { _ in }
    }

    /// The stored answers for a program id.
    func answers(user: UInt32, program: String) throws(CaptureError) -> [StoredAnswer] {
        try access(.reading) { database in
            try Row.fetchAll(
                database.cachedStatement(sql: "SELECT * FROM answer WHERE user = ? AND program = ?"),
                arguments: [user, program]
            ).map(StoredAnswer.init)
        }
    }

    /// All stored answers, by user, program and service.
    func allAnswers() throws(CaptureError) -> [StoredAnswer] {
        try access(.reading) { database in
            try Row.fetchAll(database, sql: "SELECT * FROM answer ORDER BY user, program, service, executable")
                .map(StoredAnswer.init)
        }
    }

    /// Writes answers; when it returns they are on disk, all or none.
    ///
    /// - Parameter replacingAll: Whether other answers to the same user, program and service go, whatever file they were
    ///   given for.
    func put(_ answers: [StoredAnswer], replacingAll: Bool = false) throws(CaptureError) {
        try access(.writing) { database in
            for answer in answers {
                if replacingAll {
                    try database.execute(
                        sql: "DELETE FROM answer WHERE user = ? AND program = ? AND service = ?",
                        arguments: [answer.user, answer.program, answer.service.rawValue]
                    )
                }
                try answer.put(database)
            }
        }
    }

    /// Removes answers; when it returns that is on disk.
    ///
    /// - Parameters:
    ///   - user: Whose; `nil` for everybody's.
    ///   - program: Whose; `nil` for every program's.
    ///   - service: To what; `nil` for all.
    /// - Returns: The answers that went.
    func remove(user: UInt32?, program: String?, service: Service?) throws(CaptureError) -> [StoredAnswer] {
        let filter = """
            WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR program = ?2) AND (?3 IS NULL OR service = ?3)
            """
        let arguments: StatementArguments = [user, program, service?.rawValue]
        return try access(.writing) { database in
            let gone = try Row.fetchAll(database, sql: "SELECT * FROM answer \(filter)", arguments: arguments)
                .map(StoredAnswer.init)
            try database.execute(sql: "DELETE FROM answer \(filter)", arguments: arguments)
            return gone
        }
    }

    /// A setting of the open connection, as SQLite reads it back: for tests and `doctor`.
    func pragma(_ name: String) throws(CaptureError) -> String {
        try access(.plain) { database in
            try String.fetchOne(database, sql: "PRAGMA \(name)") ?? ""
        }
    }

    private func access<T: Sendable>(_ use: Use, _ body: (Database) throws -> T) throws(CaptureError) -> T {
        let outcome = condition.withLock { condition -> Result<T, CaptureError> in
            do throws(StoreFault) {
                let store = try AuthorizationStore.mend(&condition, location)
                return .success(try AuthorizationStore.run(store.queue, use, body))
            } catch {
                if case .open(let store) = condition {
                    condition = error.isOfFile ? .broken(error) : .unwritable(store, error)
                }
                return .failure(CaptureError(.inputOutput, error.message))
            }
        }
        return try outcome.get()
    }

    private static func run<T: Sendable>(
        _ queue: DatabaseQueue,
        _ use: Use,
        _ body: (Database) throws -> T
    ) throws(StoreFault) -> T {
        do {
            switch use {
            case .reading: return try queue.read(body)
            case .writing: return try queue.write(body)
            case .plain: return try queue.inDatabase(body)
            }
        } catch {
            throw StoreFault(error, file: queue.path)
        }
    }

    /// A usable store, if there is one by now.
    private static func mend(_ condition: inout Condition, _ location: StoreLocation) throws(StoreFault) -> OpenStore {
        if case .open(let store) = condition, try store.isInPlace() { return store }
        if case .unwritable(let store, _) = condition, try store.isInPlace() {
            do throws(StoreFault) {
                try run(store.queue, .writing, StoreConnection.probe)
            } catch {
                condition = error.isOfFile ? .broken(error) : .unwritable(store, error)
                throw error
            }
            condition = .open(store)
            return store
        }
        // Broken, or another file has come in its place, as after a copy was brought back.
        condition = open(location)
        switch condition {
        case .open(let store): return store
        case .broken(var fault), .unwritable(_, var fault):
            fault.isOfFile = true
            throw fault
        }
    }

    private static func open(_ location: StoreLocation) -> Condition {
        do throws(StoreFault) {
            return .open(try StoreConnection.open(location))
        } catch {
            return .broken(error)
        }
    }
}

/// Where a store is.
enum StoreLocation: Sendable {
    case directory(String)
    case memory
}

/// A store that was found sound.
struct OpenStore: Sendable {
    /// The connection.
    var queue: DatabaseQueue
    /// The file as it was opened; `nil` in memory.
    var file: FileIdentity?

    /// Whether the file that is open is the one at its path: an answer written to a file that somebody has moved away
    /// would be acknowledged and lost.
    ///
    /// - Throws: When a file is there that cannot be trusted.
    func isInPlace() throws(StoreFault) -> Bool {
        guard let file else { return true }
        guard try StoreFiles.exists(queue.path) else { return false }
        return try StoreFiles.check(queue.path) == file
    }
}
