public import CaptureCore
import GRDB
import Glibc

extension MediaLibrary {
    /// Adds everything in a folder and the folders in it: an exported library with all that was said of it, or plain
    /// files. Doing it again, or going on after a crash, adds nothing twice of an exported library. Each file is taken or
    /// not by itself.
    ///
    /// - Parameters:
    ///   - folder: An open folder; it stays the caller's.
    ///   - program: The id of the program that adds what has no sidecar.
    ///   - examine: Looks what a content is; called with a descriptor for reading, which stays the library's.
    ///   - progress: Told how many files were looked at.
    /// - Returns: What it came to. A file whose content is not what its sidecar says, is no media or over quota is among
    ///   the failures.
    /// - Throws: `inputOutput` for a folder that cannot be read or a full disk; what was added before stays.
    public func importAll(
        from folder: Int32,
        program: String,
        examine: (Int32) throws(CaptureError) -> MediaFacts,
        progress: (_ files: Int) -> Void = { _ in }
    ) throws(CaptureError) -> FolderImport {
        let top = try OwnedDescriptor.open(".", in: folder, O_RDONLY | O_DIRECTORY, "the folder of the import")
        var result = FolderImport()
        var ids: [String: String] = [:]
        var files = 0
        try FolderReader().files(in: top) { file throws(CaptureError) in
            do throws(CaptureError) {
                let (id, isNew) = try take(file, program, examine)
                ids[file.path] = id
                if isNew { result.imported += 1 } else { result.present += 1 }
            } catch {
                // No later file would fare better.
                if error.errno == ENOSPC { throw error }
                result.failures.append(FolderImport.Failure(file: file.path, error: error))
            }
            files += 1
            progress(files)
        }
        if let bytes = try FolderReader.bytes(of: FolderReader.albums, in: top),
            let albums = FolderJSON.value([AlbumSidecar].self, bytes)
        {
            for album in albums {
                do throws(CaptureError) {
                    try fill(album, ids)
                } catch {
                    if error.errno == ENOSPC { throw error }
                    result.failures.append(FolderImport.Failure(file: FolderReader.albums, error: error))
                }
            }
        }
        return result
    }

    private typealias Examine = (Int32) throws(CaptureError) -> MediaFacts

    /// - Returns: The asset's id, and whether something was added.
    private func take(
        _ file: FolderFile,
        _ program: String,
        _ examine: Examine
    ) throws(CaptureError) -> (id: String, isNew: Bool) {
        guard let sidecar = file.sidecar else {
            let item = try beginImport(AssetDraft(name: file.name), program: program)
            return (try fill(item, file.name, in: file.folder, nil, examine).id, true)
        }
        try sidecar.check()
        let draft = try sidecar.draft()
        try draft.check()
        let (id, isThere) = try read { database in
            let row = try Row.fetchOne(
                database,
                sql: "SELECT original = ? AS same FROM asset WHERE id = ?",
                arguments: [sidecar.sha256, sidecar.id]
            )
            guard let row else { return (sidecar.id, false) }
            let isSame: Bool = try row.decode(forColumn: "same")
            return (isSame ? sidecar.id : LibraryID.make(), isSame)
        }
        var isNew = false
        if !isThere {
            let former = FormerAsset(id: id, added: sidecar.added, modified: sidecar.modified)
            let item = try LibraryImport(self, .asset(draft, former: former), program: sidecar.program)
            _ = try fill(item, file.name, in: file.folder, sidecar.sha256, examine)
            isNew = true
        }
        guard let edit = sidecar.edit else { return (id, isNew) }
        let key = try read { try $0.key(id, .all) }
        guard key.edit == nil, key.binned == nil else { return (id, isNew) }
        _ = try fill(beginEdit(id, scope: .all), edit, in: file.folder, sidecar.editSha256, examine)
        try write { database in
            try database.execute(
                sql: "UPDATE asset SET modified = ? WHERE id = ?",
                arguments: [sidecar.modified, id]
            )
        }
        return (id, true)
    }

    /// - Parameter hash: What the content's hash has to be; `nil` when nobody said.
    private func fill(
        _ item: LibraryImport,
        _ name: String,
        in folder: OwnedDescriptor,
        _ hash: String?,
        _ examine: Examine
    ) throws(CaptureError) -> Asset {
        do throws(CaptureError) {
            try unsafe FolderReader.open(name, in: folder).pieces("the file \(name)") { piece throws(CaptureError) in
                try unsafe item.append(piece)
            }
            let staged = OwnedDescriptor(owning: try item.finish())
            if let hash, item.hash != hash {
                throw CaptureError(
                    .badData,
                    "the file \(name) is not the one that its sidecar is about: its hash is \(item.hash ?? "unknown")"
                )
            }
            return try item.commit(examine(staged.number))
        } catch {
            item.cancel()
            throw error
        }
    }

    private func fill(_ album: AlbumSidecar, _ ids: [String: String]) throws(CaptureError) {
        let id: String
        if let present = try self.album(named: album.name, scope: .all) {
            id = present.id
        } else {
            id = try createAlbum(album.name, program: album.program, scope: .all).id
        }
        let assets = album.files.compactMap { ids[$0] }
        // In pieces, as many as a call takes.
        for start in stride(from: 0, to: assets.count, by: 500) {
            try add(Array(assets[start..<min(start + 500, assets.count)]), toAlbum: id, scope: .all)
        }
    }
}
