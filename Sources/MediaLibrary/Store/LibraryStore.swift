public import CaptureCore
import Glibc

/// A user's media library: photos, movies and sounds by the hash of their content, and an index of them.
///
/// It knows neither programs' rights nor processes: who may call what is decided before. Each reading call takes a scope,
/// outside of which nothing shows.
///
/// Thread-safe and synchronous: calls wait for the disk, so that they belong on a thread that may wait, never on one of
/// the cooperative pool where they take long.
public final class LibraryStore: Sendable {
    /// The assets.
    public let assets: LibraryAssets
    /// Assets that are erased after a while.
    public let bin: LibraryBin
    /// The albums.
    public let albums: LibraryAlbums
    /// What is in them.
    public let members: AlbumMembers
    /// What programs see of the library.
    public let choices: LibraryChoices
    /// The ids of what was picked.
    public let picks: LibraryPicks
    /// What happened.
    public let history: LibraryHistory
    /// The files of assets.
    public let contents: LibraryContents
    /// What comes in as a file.
    public let imports: LibraryImports
    /// What comes in as a recording.
    public let recordings: LibraryRecordings
    let index: LibraryIndex
    let quotas: LibraryQuotas
    let mending: LibraryRepair
    private let checking: LibraryCheck

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
        now: @escaping @Sendable () -> Int64 = LibraryStore.wallClock
    ) throws(CaptureError) {
        let folder = try LibraryFolder(directory)
        index = try LibraryIndex(folder)
        quotas = LibraryQuotas(index, limits)
        contents = LibraryContents(folder, index)
        let base = LibraryBase(
            folder: folder,
            index: index,
            contents: contents,
            quotas: quotas,
            limits: limits,
            now: now
        )
        assets = LibraryAssets(base)
        bin = LibraryBin(base)
        albums = LibraryAlbums(base)
        members = AlbumMembers(index)
        choices = LibraryChoices(index)
        picks = LibraryPicks(index)
        history = LibraryHistory(base)
        imports = LibraryImports(base)
        recordings = LibraryRecordings(base)
        checking = LibraryCheck(base)
        mending = LibraryRepair(base)
        try recover()
    }

    /// Tidies up after a library that was not closed. Nobody else has it open, so that nothing there is under way.
    func recover() throws(CaptureError) {
        try contents.settleDoubts()
        try recordings.recover()
    }

    /// The wall clock, in milliseconds since 1970.
    public static let wallClock: @Sendable () -> Int64 = {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Does something that changes the library as long as that is permitted. Who may do what can change while a call
    /// waits for its turn or for the disk; so that is asked in every transaction that the body begins, when nobody else
    /// can write any more. One that is not permitted is not made, and what the body has done of an import goes.
    ///
    /// It holds for what the body itself calls, on its thread or in its task, and not for others who write at the same
    /// time. Within another one, both are asked. What ends something and gives nobody anything goes through in any case:
    /// keeping a recording for its user, forgetting one, tidying up after what has been done or has failed.
    ///
    /// - Parameters:
    ///   - check: Throws when it is not permitted. It is called while others wait to write, so that it has to be short,
    ///     and must not use the library.
    ///   - body: What changes the library.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; what `check` throws, which is then also what the body's call throws.
    public func whilePermitted<T>(
        _ check: @escaping @Sendable () throws(CaptureError) -> Void,
        _ body: () throws(CaptureError) -> T
    ) throws(CaptureError) -> T {
        let outer = WritePermission.check
        let both: @Sendable () throws(CaptureError) -> Void = { () throws(CaptureError) in
            try outer?()
            try check()
        }
        return try WritePermission.$check.withValue(both) {
            Result { () throws(CaptureError) in try body() }
        }.get()
    }

    /// Reads every file and compares it with its hash, looks for files that the index does not have, and has the index
    /// examined. Nothing is changed, and the library can be used meanwhile. Takes as long as reading it all does.
    ///
    /// An asset in the bin whose file is missing is no fault: it goes as it is.
    ///
    /// - Parameter progress: Told now and then how many bytes were read, and of how many; what it throws ends it.
    /// - Returns: What is at fault; nothing when all is well.
    /// - Throws: `inputOutput` for an index or folder that cannot be read; what `progress` throws.
    public func check(
        progress: (_ read: Int64, _ of: Int64) throws(CaptureError) -> Void = { _, _ in }
    ) throws(CaptureError) -> [FoundFault] {
        try checking.run(progress)
    }

    /// Checks, and makes files and index agree again without destroying anything: files that do not belong, or are
    /// damaged, are moved to `lost+found` in the library's folder; an asset whose file is lost goes to the bin, one that
    /// lost its edit goes back to its original, and one that lost its original goes on with its edit. A check after this
    /// finds nothing more than what `outcome` says could not be mended.
    ///
    /// - Parameter progress: Told now and then how many bytes were read, and of how many; what it throws ends it.
    /// - Returns: What was at fault, and what was done about it.
    /// - Throws: `inputOutput`, what `progress` throws; what was mended before stays so.
    public func repair(
        progress: (_ read: Int64, _ of: Int64) throws(CaptureError) -> Void = { _, _ in }
    ) throws(CaptureError) -> [FoundFault] {
        var last: (read: Int64, of: Int64) = (0, 0)
        let found = try check { (read, size) throws(CaptureError) in
            last = (read, size)
            try progress(read, size)
        }
        return try mending.mend(found) { () throws(CaptureError) in try progress(last.read, last.of) }
    }
}
