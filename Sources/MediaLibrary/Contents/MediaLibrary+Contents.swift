public import CaptureCore
import GRDB
import Glibc
import Synchronization

extension MediaLibrary {
    /// Opens a content of an asset for reading.
    ///
    /// - Returns: A descriptor, for reading alone; the caller's to close. It stays good when the asset goes.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `inputOutput` when the file is missing.
    public func openContent(
        _ id: String,
        version: AssetVersion = .current,
        scope: LibraryScope
    ) throws(CaptureError) -> Int32 {
        var hash = try read { try $0.key(id, scope) }.content(version)
        while true {
            if let file = try folder.openContent(hash) { return try file.duplicate() }
            // An edit may have come or gone in between, and its file with it.
            let present = try read { try $0.key(id, scope) }.content(version)
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
        let hash = try read { try $0.key(id, scope) }.content(.current)
        return try folder.openThumbnail(hash, size)?.duplicate()
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
        try turn.withLock { _ throws(CaptureError) in
            let hash = try read { try $0.key(id, .all) }.content(.current)
            guard let file = try folder.openContent(hash), try isSource(hash, file) else { return false }
            for (size, picture) in pictures { try folder.putThumbnail(picture, hash, size) }
            return true
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
