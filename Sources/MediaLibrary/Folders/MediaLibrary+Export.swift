public import CaptureCore
import GRDB
import Glibc

extension MediaLibrary {
    /// Writes the whole library into an empty folder, so that any program can use it: each original in a folder of year
    /// and month, its edit beside it, what is said of it in `NAME.json`, and the albums in `albums.json`. What is in the
    /// bin stays behind. All is on disk when this returns.
    ///
    /// - Parameters:
    ///   - folder: An open folder that can be written; it stays the caller's.
    ///   - progress: Told how many assets were written, and of how many.
    /// - Returns: How many assets were written.
    /// - Throws: `invalidArgument` for a folder that is not empty; `inputOutput` for a full disk or a missing file; what
    ///   was written before is left there.
    public func exportAll(
        into folder: Int32,
        progress: (_ written: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(CaptureError) -> Int {
        let top = try OwnedDescriptor.open(".", in: folder, O_RDONLY | O_DIRECTORY, "the folder of the export")
        guard try LibraryFolder.names(in: top, "the folder of the export").isEmpty else {
            throw CaptureError(.invalidArgument, "the folder of the export is not empty; give an empty one")
        }
        let total = try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM asset WHERE binned IS NULL") ?? 0 }
        var files: [String: String] = [:]
        var last: Int64 = 0
        while let (number, asset, key) = try read({ try $0.firstAsset(after: last) }) {
            last = number
            files[asset.id] = try export(asset, key, top)
            progress(files.count, max(total, files.count))
        }
        try exportAlbums(files, top)
        try top.synchronize("the folder of the export")
        return files.count
    }

    /// - Returns: The path of the original from the top.
    private func export(_ asset: Asset, _ key: AssetKey, _ top: OwnedDescriptor) throws(CaptureError) -> String {
        let (yearName, monthName) = FolderNames.folder(of: asset.created)
        let year = try LibraryFolder.subfolder(yearName, of: top, "the export", mode: 0o777)
        let month = try LibraryFolder.subfolder(monthName, of: year, "the export", mode: 0o777)
        var number = 1
        var name = ""
        var edit = ""
        repeat {
            name = FolderNames.file(asset.name, number: number)
            edit = FolderNames.file(asset.name, number: number, word: ".edited")
            number += 1
        } while try [name, edit, name + ".json", edit + ".json"].isAnyThere(in: month)

        try copy(key.original, to: name, in: month, asset)
        if let hash = key.edit { try copy(hash, to: edit, in: month, asset) }
        // Last, so that what was written half has no sidecar and is not taken for a whole one.
        let sidecar = Sidecar(asset, original: key.original, edit: key.edit.map { (edit, $0) })
        try FolderJSON.bytes(sidecar).write(to: name + ".json", in: month)
        try month.synchronize("the export")
        try year.synchronize("the export")
        return "\(yearName)/\(monthName)/\(name)"
    }

    private func copy(
        _ hash: String,
        to name: String,
        in month: OwnedDescriptor,
        _ asset: Asset
    ) throws(CaptureError) {
        guard let source = try folder.openContent(hash) else {
            throw CaptureError(
                .inputOutput,
                "the file of the asset \(asset.id) is missing; see what else is by: capturectl library check"
            )
        }
        let target = try OwnedDescriptor.open(
            name,
            in: month.number,
            O_WRONLY | O_CREAT | O_EXCL,
            mode: 0o666,
            "the file \(name) of the export"
        )
        try unsafe source.pieces("the file of the asset \(asset.id)") { piece throws(CaptureError) in
            try unsafe target.write(piece, "the file \(name) of the export")
        }
        // As old as what is in it, so that other programs sort it rightly. Not every file system knows such times.
        let time = timespec(
            tv_sec: Int((asset.created - (asset.created < 0 ? 999 : 0)) / 1000),
            tv_nsec: Int((asset.created % 1000 + 1000) % 1000) * 1_000_000
        )
        _ = unsafe futimens(target.number, [time, time])
        try target.synchronize("the file \(name) of the export")
    }

    private func exportAlbums(_ files: [String: String], _ top: OwnedDescriptor) throws(CaptureError) {
        let albums = try read { database in
            try Row.fetchAll(database, sql: "SELECT number, name, program FROM album ORDER BY number").map { row in
                let members = try String.fetchAll(
                    database,
                    sql: """
                        SELECT asset.id FROM listed JOIN asset ON asset.number = listed.asset
                            WHERE listed.album = ? AND listed.reader = '' ORDER BY listed.position
                        """,
                    arguments: [row["number"] as Int64]
                )
                return AlbumSidecar(
                    name: try row.decode(forColumn: "name"),
                    program: try row.decode(forColumn: "program"),
                    files: members.compactMap { files[$0] }
                )
            }
        }
        if !albums.isEmpty { try FolderJSON.bytes(albums).write(to: "albums.json", in: top) }
    }
}

extension [UInt8] {
    /// Writes a new file; on disk when this returns.
    fileprivate func write(to name: String, in folder: OwnedDescriptor) throws(CaptureError) {
        let what = "the file \(name) of the export"
        let file = try OwnedDescriptor.open(name, in: folder.number, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666, what)
        try file.write(self, what)
        try file.synchronize(what)
    }
}

extension [String] {
    fileprivate func isAnyThere(in folder: OwnedDescriptor) throws(CaptureError) -> Bool {
        for name in self where try LibraryFolder.isThere(name, in: folder) { return true }
        return false
    }
}

extension Database {
    /// The next asset that is not in the bin, by its number.
    fileprivate func firstAsset(after number: Int64) throws -> (Int64, Asset, AssetKey)? {
        guard
            let row = try Row.fetchOne(
                cachedStatement(
                    sql: """
                        SELECT \(Asset.columns), asset.number FROM \(Asset.origin)
                            WHERE asset.number > ? AND asset.binned IS NULL ORDER BY asset.number LIMIT 1
                        """
                ),
                arguments: [number]
            )
        else { return nil }
        let asset = try Asset(row)
        return (try row.decode(forColumn: "number"), asset, try key(asset.id, .all))
    }
}
