import CaptureCore
import GRDB
import Synchronization

/// Whether a store can be relied on.
public enum StoreState: Hashable, Sendable {
    /// It can.
    case usable
    /// It cannot, and nothing is granted; a sentence that says why and what mends it.
    case unusable(String)
}

/// A database of the daemon's own: SQLite, in one file that only the daemon can read and write.
///
/// One connection with a rollback journal that is truncated at commit (`journal_mode=TRUNCATE`) and full
/// synchronization. Rows are few and written one at a time, so a write-ahead log would win nothing and leave two more
/// files to guard; deleting the journal instead would make the commit durable only when its folder is synced too, which
/// SQLite does not do at FULL.
///
/// Thread-safe. What cannot be read or written makes the store unusable; each later call looks whether that is mended.
final class GuardedStore: Sendable {
    private let kind: StoreKind
    private let location: StoreLocation
    private let condition: Mutex<Condition>
    private let begun = Atomic<UInt64>(0)

    enum Use {
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

    /// Opens or creates the store. Never throws: one that cannot be used says so in `state` and refuses every call.
    init(_ kind: StoreKind, _ location: StoreLocation) {
        self.kind = kind
        self.location = location
        condition = Mutex(GuardedStore.open(kind, location))
    }

    /// Whether it can be relied on, as of the last call.
    var state: StoreState {
        condition.withLock {
            switch $0 {
            case .open: .usable
            case .broken(let fault), .unwritable(_, let fault): .unusable(fault.message)
            }
        }
    }

    /// The command that makes it usable again, as of the last call; empty when it is usable or no command does.
    var remedy: String {
        condition.withLock {
            switch $0 {
            case .open: ""
            case .broken(let fault), .unwritable(_, let fault): fault.remedy
            }
        }
    }

    /// Looks whether it can be relied on now, so that what was mended shows.
    func look() {
        _ = try? access(.reading) { _ in }
    }

    /// How many writes were begun since it was opened.
    var writes: UInt64 { begun.load(ordering: .acquiring) }

    /// Which state of its file it is; `nil` when it cannot be relied on, is in memory, or in use just now. Never waits.
    var stamp: FileStamp? {
        let path = condition.withLockIfAvailable { condition -> String? in
            guard case .open(let store) = condition, store.file != nil else { return nil }
            return store.queue.path
        }
        return (path ?? nil).flatMap { FileStamp(of: $0) }
    }

    /// A setting of the open connection, as SQLite reads it back: for tests and `doctor`.
    func pragma(_ name: String) throws(CaptureError) -> String {
        try access(.plain) { database in
            try String.fetchOne(database, sql: "PRAGMA \(name)") ?? ""
        }
    }

    /// Uses the database, with nobody else in between.
    ///
    /// - Throws: `inputOutput` that says what is wrong with the store and what mends it.
    func access<T: Sendable>(_ use: Use, _ body: (Database) throws -> T) throws(CaptureError) -> T {
        let outcome = condition.withLock { condition -> Result<T, CaptureError> in
            if use != .reading { begun.add(1, ordering: .acquiringAndReleasing) }
            do throws(StoreFault) {
                let store = try mend(&condition)
                return .success(try run(store.queue, use, body))
            } catch {
                if case .open(let store) = condition {
                    condition = error.isOfFile ? .broken(error) : .unwritable(store, error)
                }
                return .failure(CaptureError(.inputOutput, error.message))
            }
        }
        return try outcome.get()
    }

    private func run<T: Sendable>(_ queue: DatabaseQueue, _ use: Use, _ body: (Database) throws -> T)
        throws(StoreFault) -> T
    {
        do {
            switch use {
            case .reading: return try queue.read(body)
            case .writing: return try queue.write(body)
            case .plain: return try queue.inDatabase(body)
            }
        } catch {
            throw StoreFault(error, file: queue.path, of: kind)
        }
    }

    /// A usable store, if there is one by now.
    private func mend(_ condition: inout Condition) throws(StoreFault) -> OpenStore {
        if case .open(let store) = condition, try store.isInPlace(kind) { return store }
        if case .unwritable(let store, _) = condition, try store.isInPlace(kind) {
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
        condition = GuardedStore.open(kind, location)
        switch condition {
        case .open(let store): return store
        case .broken(var fault), .unwritable(_, var fault):
            fault.isOfFile = true
            throw fault
        }
    }

    private static func open(_ kind: StoreKind, _ location: StoreLocation) -> Condition {
        do throws(StoreFault) {
            return .open(try StoreConnection.open(kind, location))
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

    /// Whether the file that is open is the one at its path: what is written to a file that somebody has moved away
    /// would be acknowledged and lost.
    ///
    /// - Throws: When a file is there that cannot be trusted.
    func isInPlace(_ kind: StoreKind) throws(StoreFault) -> Bool {
        guard let file else { return true }
        guard try StoreFiles.exists(queue.path) else { return false }
        return try StoreFiles.check(queue.path, of: kind) == file
    }
}
