public import CaptureCore
import GRDB
import Glibc
import Synchronization

/// The contents of assets: files by their hash, which come and go together with their rows in the index.
/// Thread-safe; calls wait for the disk.
public final class LibraryContents: Sendable {
    private let folder: LibraryFolder
    private let index: LibraryIndex
    /// Taken while a content's file and its row come or go, which are two steps.
    private let turn = Mutex(())

    init(_ folder: LibraryFolder, _ index: LibraryIndex) {
        self.folder = folder
        self.index = index
    }

    /// Opens a content of an asset for reading.
    ///
    /// - Returns: A descriptor, for reading alone; the caller's to close. It stays good when the asset goes.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `inputOutput` when the file is missing.
    public func open(
        _ id: String,
        version: AssetVersion = .current,
        scope: LibraryScope
    ) throws(CaptureError) -> Int32 {
        var hash = try index.read { try $0.key(id, scope) }.content(version)
        while true {
            if let file = try folder.contents.open(hash) { return try file.duplicate() }
            // An edit may have come or gone in between, and its file with it.
            let present = try index.read { try $0.key(id, scope) }.content(version)
            guard present != hash else {
                throw CaptureError(
                    .inputOutput,
                    "the file of the asset \(id) is missing; to see what else is: capturectl library check"
                )
            }
            hash = present
        }
    }

    /// Opens a small picture of an asset's current content.
    ///
    /// - Returns: A descriptor, for reading alone; the caller's to close. `nil` when that picture was not made, or is gone.
    /// - Throws: `noSuchAsset` for an asset that the scope does not have; `inputOutput`.
    public func openThumbnail(
        _ id: String,
        size: ThumbnailSize,
        scope: LibraryScope
    ) throws(CaptureError) -> Int32? {
        let hash = try index.read { try $0.key(id, scope) }.content(.current)
        return try folder.thumbnails.open(hash, size)?.duplicate()
    }

    /// Stores small pictures of an asset, in the place of earlier ones.
    ///
    /// - Parameters:
    ///   - pictures: JPEG files by size.
    ///   - content: The content that they were made of, open. Where that is not the asset's current one any more, nothing
    ///     is stored.
    /// - Returns: Whether they were stored.
    /// - Throws: `noSuchAsset`; `badData` for an empty picture; `inputOutput`.
    @discardableResult
    public func storeThumbnails(
        _ pictures: [ThumbnailSize: [UInt8]],
        of id: String,
        madeFrom content: Int32
    ) throws(CaptureError) -> Bool {
        guard pictures.values.allSatisfy({ !$0.isEmpty }) else {
            throw CaptureError(.badData, "a thumbnail of the asset \(id) is empty")
        }
        let source = OwnedDescriptor(
            owning: try LibraryCall.check("the file of thumbnails cannot be used") {
                fcntl(content, F_DUPFD_CLOEXEC, 0)
            }
        )
        let isStored = try storeThumbnails(pictures, of: id) { _, file throws(CaptureError) in
            try file.isSameFile(as: source)
        }
        if isStored { return true }
        // An equal file may have come in its place meanwhile.
        let hash = try source.hash("the file of thumbnails").hash
        return try storeThumbnails(pictures, of: id) { current, _ in current == hash }
    }

    /// - Parameter isSource: Whether the pictures were made of a content, given its hash and its file.
    private func storeThumbnails(
        _ pictures: [ThumbnailSize: [UInt8]],
        of id: String,
        where isSource: (String, OwnedDescriptor) throws(CaptureError) -> Bool
    ) throws(CaptureError) -> Bool {
        try alone { () throws(CaptureError) in
            let hash = try index.read { try $0.key(id, .all) }.content(.current)
            guard let file = try folder.contents.open(hash), try isSource(hash, file) else { return false }
            for (size, picture) in pictures { try folder.thumbnails.put(picture, hash, size) }
            return true
        }
    }

    /// Assets with the contents that they have now, in the order given.
    ///
    /// - Parameters:
    ///   - ids: Those that are gone or in the bin are left out.
    ///   - kinds: Others are left out too; empty for all.
    /// - Throws: `invalidArgument` for what is no id.
    public func contents(of ids: [String], kinds: Set<MediaAssetKind> = []) throws(CaptureError) -> [AssetContent] {
        for id in ids { try LibraryID.check(id, of: "an asset") }
        return try index.read { database in
            try ids.compactMap { id in
                guard let number = try Visibility.asset(id, "", database) else { return nil }
                let asset = try database.asset(number: number)
                guard asset.binned == nil, kinds.isEmpty || kinds.contains(asset.kind) else { return nil }
                return AssetContent(asset: asset, hash: try database.key(id, .all).content(.current))
            }
        }
    }

    /// Opens the very content that an asset had, whatever was made of it since.
    ///
    /// - Returns: A descriptor, for reading alone; the caller's to close.
    /// - Throws: `noSuchAsset` when the asset or that content is not in the library any more.
    public func open(_ content: AssetContent) throws(CaptureError) -> Int32 {
        let gone = CaptureError(
            .noSuchAsset,
            "'\(content.asset.name)' is not in the media library any more as it was when it was picked"
        )
        let id = content.asset.id
        let isThere = try index.read { database in
            guard let number = try Visibility.asset(id, "", database) else { return false }
            return try database.asset(number: number).binned == nil
        }
        guard isThere, let file = try folder.contents.open(content.hash) else { throw gone }
        return try file.duplicate()
    }

    /// Contents whose file or row came or went when the library ended: what is not in the index goes, since nobody was
    /// told that it is there. To be called when the library is opened.
    func settleDoubts() throws(CaptureError) {
        let doubtful = try index.read { try String.fetchAll($0, sql: "SELECT hash FROM doubtful") }
        guard !doubtful.isEmpty else { return }
        try folder.contents.remove(index.read { database in try doubtful.filter { try !database.hasContent($0) } })
        try index.write { try $0.execute(sql: "DELETE FROM doubtful") }
    }

    /// Does something while no content comes or goes.
    func alone<T: Sendable>(_ body: () throws(CaptureError) -> T) throws(CaptureError) -> T {
        try turn.withLock { _ throws(CaptureError) in try body() }
    }

    /// Puts a finished file among the contents and changes the index with it: both or neither, a crash at any moment
    /// included. Its name in transit remains, which the caller removes.
    ///
    /// Equal files are one content: a new one takes the place of the one that is there, which it mends where that was
    /// damaged. Its hash is written down as doubtful first, so that a file which came without its row is found when the
    /// library is opened. All this is done for a content that is there already, too: else the time that it takes would
    /// tell who may only add whether the user has a file.
    ///
    /// - Parameters:
    ///   - size: Bytes of the file.
    ///   - change: What to change once the content is in the index; in the same transaction.
    func settle<T: Sendable>(
        _ staged: StagedContent,
        _ size: Int64,
        _ facts: ExaminedMedia,
        _ change: (Database) throws -> T
    ) throws(CaptureError) -> T {
        try alone { () throws(CaptureError) in
            try index.write { try $0.doubt(staged.hash) }
            try folder.contents.put(staged.name, from: folder.transit, as: staged.hash)
            var isBegun = false
            do throws(CaptureError) {
                return try index.write { database in
                    isBegun = true
                    if try !database.hasContent(staged.hash) {
                        try database.insertContent(staged.hash, size, facts)
                    }
                    let result = try change(database)
                    try database.believe(staged.hash)
                    return result
                }
            } catch {
                // Where it is not certain that the row stayed away, the doubt remains until the library is opened next.
                if !isBegun || error.code != .inputOutput || error.errno == ENOSPC { try withdraw(staged.hash) }
                throw error
            }
        }
    }

    /// Takes back a content that did not get its row; one that had it before stays.
    private func withdraw(_ hash: String) throws(CaptureError) {
        if try !index.read({ try $0.hasContent(hash) }) { try folder.contents.remove([hash]) }
        do throws(CaptureError) {
            try index.tidy { try $0.believe(hash) }
        } catch {
            // On a full disk the doubt stays, and does no harm.
            if error.errno != ENOSPC { throw error }
        }
    }

    /// Changes the index while no content comes or goes, then removes the files of the contents that it released.
    func releasing<T>(_ change: (Database) throws -> Released<T>) throws(CaptureError) -> T {
        try alone { () throws(CaptureError) in try index.write(change) }.swept(self)
    }

    /// Removes the files of contents that were released. What cannot be removed now remains doubtful, and goes when the
    /// library is opened next: what the caller asked for is done already.
    func sweep(_ hashes: [String]) {
        guard !hashes.isEmpty else { return }
        turn.withLock { _ in
            do throws(CaptureError) {
                // An equal file may have come in between.
                try folder.contents.remove(
                    index.read { database in try hashes.filter { try !database.hasContent($0) } }
                )
                try index.tidy { database in
                    for hash in hashes { try database.believe(hash) }
                }
            } catch {
                return
            }
        }
    }
}

extension OwnedDescriptor {
    /// Whether both are the same file, and not only equal ones.
    fileprivate func isSameFile(as other: OwnedDescriptor) throws(CaptureError) -> Bool {
        let (first, second) = (try status("a content"), try other.status("the file of thumbnails"))
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}
