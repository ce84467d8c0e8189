public import CaptureCore
import GRDB
import Glibc
import Synchronization

/// A user's media library: photos, movies and sounds by the hash of their content, and an index of them.
///
/// It knows neither programs' rights nor processes: who may call what is decided before. Each reading call takes a scope,
/// outside of which nothing shows.
///
/// Thread-safe and synchronous: calls wait for the disk, so that they belong on a thread that may wait, never on one of
/// the cooperative pool where they take long.
public final class MediaLibrary: Sendable {
    /// Its files.
    let folder: LibraryFolder
    /// How much it keeps.
    public let limits: LibraryLimits
    /// The time, in milliseconds since 1970.
    let now: @Sendable () -> Int64
    /// Taken while a content's file and its row come or go, which are two steps.
    let turn = Mutex(())
    /// What is being imported and not in the index yet.
    let underway = Mutex(ImportsUnderway())
    /// Kept recordings whose state could not be written to the disk, by id, and why they are kept. They stay kept when the
    /// library is opened again.
    let stranded = Mutex<[String: String]>([:])
    private let pool: DatabasePool

    /// Opens or makes the library in a folder, and tidies up after one that was not closed: what was imported half goes,
    /// and recordings that were under way are kept for their user.
    ///
    /// - Parameters:
    ///   - directory: Its folder, of mode 0700; made when it is absent, together with the folder that it is in.
    ///   - limits: How much it keeps.
    ///   - now: The time, in milliseconds since 1970.
    /// - Throws: `inputOutput` for a folder or index that cannot be used, with what mends it; `busy` when it is open
    ///   already.
    public init(
        directory: String,
        limits: LibraryLimits = LibraryLimits(),
        now: @escaping @Sendable () -> Int64 = MediaLibrary.wallClock
    ) throws(CaptureError) {
        folder = try LibraryFolder(directory)
        self.limits = limits
        self.now = now
        pool = try LibraryIndex.open(directory + "/" + LibraryFolder.indexName)
        try recover()
    }

    /// The wall clock, in milliseconds since 1970.
    public static let wallClock: @Sendable () -> Int64 = {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
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
}
