import CaptureCore
import GRDB
import Glibc

/// The index, and what SQLite has against it in sentences. Thread-safe; calls wait for the disk.
struct LibraryIndex: Sendable {
    /// Its lock is held as long as the index is open.
    private let folder: LibraryFolder
    private let pool: DatabasePool
    /// Whether it was made just now. Files that are in the folder already belong to one that is lost.
    let isNew: Bool

    /// Opens the database in an existing file, which may be empty.
    init(_ folder: LibraryFolder) throws(CaptureError) {
        let path = folder.path + "/" + LibraryFolder.indexName
        self.folder = folder
        (pool, isNew) = try LibraryIndex.explain(folder.path) {
            let pool = try DatabasePool(path: path, configuration: LibraryIndex.configuration)
            // After opening, since GRDB resets it there, and read back: an index that refuses is not one to rely on.
            let synchronous = try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int32.fetchOne(database, sql: "PRAGMA synchronous")
            }
            guard synchronous == 2 else {
                throw CaptureError(.inputOutput, "the index \(path) does not synchronize its writes")
            }
            return (pool, try pool.write { try LibrarySchema.prepare($0, path) })
        }
    }

    /// Reads the index, as of one moment.
    ///
    /// - Throws: What the body throws as `CaptureError`; else `inputOutput` that says what is wrong with the index.
    func read<T>(_ body: (Database) throws -> T) throws(CaptureError) -> T {
        try LibraryIndex.explain(folder.path) { try pool.read(body) }
    }

    /// Changes the index in one transaction; when it returns, that is on disk.
    ///
    /// - Throws: What the body throws as `CaptureError`, and what stands against it within `whilePermitted`; else
    ///   `inputOutput` that says what is wrong with the index. Nothing has changed then.
    func write<T>(_ body: (Database) throws -> T) throws(CaptureError) -> T {
        let check = WritePermission.check
        return try LibraryIndex.explain(folder.path) {
            try pool.write { database in
                try check?()
                return try body(database)
            }
        }
    }

    /// Changes the index as `write` does, whatever is permitted: for what only follows from something that is done
    /// already, or takes it back.
    func tidy<T>(_ body: (Database) throws -> T) throws(CaptureError) -> T {
        try LibraryIndex.explain(folder.path) { try pool.write(body) }
    }

    /// A setting of the writing connection, as SQLite reads it back.
    func pragma(_ name: String) throws(CaptureError) -> String {
        try LibraryIndex.explain(folder.path) {
            try pool.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name)") ?? "" }
        }
    }

    private static var configuration: GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.label = LibraryFolder.indexName
        // Somebody may be looking at it with another program.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        }
        return configuration
    }

    /// Uses the index, and turns what SQLite throws into a sentence; a `CaptureError` passes.
    private static func explain<T>(_ directory: String, _ body: () throws -> T) throws(CaptureError) -> T {
        do {
            return try body()
        } catch let error as CaptureError {
            throw error
        } catch let error as DatabaseError {
            throw explained(error, directory)
        } catch {
            throw damage("\(error)", directory)
        }
    }

    /// SQLite says so itself when it writes, and speaks of a failed call when the log beside the index cannot be made.
    private static func isFull(_ error: DatabaseError, _ directory: String) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL:
            return true
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            var status = statvfs()
            return unsafe statvfs(directory, &status) == 0 && (status.f_bavail == 0 || status.f_favail == 0)
        default:
            return false
        }
    }

    private static func explained(_ error: DatabaseError, _ directory: String) -> CaptureError {
        if isFull(error, directory) {
            return CaptureError(
                .inputOutput,
                "the disk with the media library \(directory) is full; make room there",
                errno: ENOSPC
            )
        }
        let why = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH:
            return damage(why, directory)
        case .SQLITE_CONSTRAINT, .SQLITE_ERROR, .SQLITE_MISUSE, .SQLITE_RANGE:
            let broken = "the media library \(directory) refused a change that broke its own rules: \(why)"
            return CaptureError(.inputOutput, broken)
        default:
            return CaptureError(.inputOutput, "the index of the media library \(directory) cannot be used: \(why)")
        }
    }

    /// With `EUCLEAN`, by which it is told from what may pass.
    private static func damage(_ why: String, _ directory: String) -> CaptureError {
        let index = directory + "/" + LibraryFolder.indexName
        return CaptureError(
            .inputOutput,
            "the index \(index) is damaged: \(why); restore a copy, or start without it with: "
                + "mkdir '\(directory)/damaged' && mv '\(index)'* '\(directory)/damaged'; the contents stay, and repairing "
                + "sets them aside as files",
            errno: EUCLEAN
        )
    }
}
