import CaptureCore
import GRDB

/// Compares the files with the index.
struct LibraryCheck: Sendable {
    private let base: LibraryBase

    init(_ base: LibraryBase) { self.base = base }

    /// See `LibraryStore.check(progress:)`.
    func run(
        _ progress: (_ read: Int64, _ of: Int64) throws(CaptureError) -> Void
    ) throws(CaptureError) -> [FoundFault] {
        var faults = try checkIndex()
        faults += try base.index.read(ReadingRecount.faults).map {
            FoundFault(.index, "the index is not what follows from its assets: \($0)")
        }
        // Not the sum, which a damaged row could make too large for an integer.
        let sum = try base.index.read { try Double.fetchOne($0, sql: "SELECT total(size) FROM content") ?? 0 }
        let total = Int64(max(0, min(sum, 1e18)))
        var done: Int64 = 0
        var last = "".databaseValue
        while true {
            // In pieces, so that the index is not held as of one moment for hours, which would let its log grow.
            let rows = try base.index.read { database in
                try Row.fetchAll(
                    database,
                    sql: "SELECT hash, size FROM content WHERE hash > ? ORDER BY hash LIMIT 500",
                    arguments: [last]
                ).map(ContentRow.init)
            }
            for row in rows {
                guard let (hash, size) = row.content else {
                    faults.append(
                        FoundFault(.index, "the index is damaged: the row of the content \(row.key) cannot be read")
                    )
                    continue
                }
                let fault = try checkContent(hash, size) { count throws(CaptureError) in
                    try progress(min(done + count, total), total)
                }
                if let fault { faults.append(fault) }
                done = min(done + min(max(size, 0), total), total)
            }
            guard let end = rows.last else { break }
            last = end.key
        }
        try progress(total, total)
        return faults + (try LibraryOrphans(base).find())
    }

    /// What is wrong with a content's file, or with its rows in the index.
    ///
    /// - Parameter progress: How many of its bytes were read.
    private func checkContent(
        _ hash: String,
        _ size: Int64,
        _ progress: (Int64) throws(CaptureError) -> Void
    ) throws(CaptureError) -> FoundFault? {
        let path = FoundFault.path(of: hash)
        let damage: String?
        do throws(CaptureError) {
            guard let file = try base.folder.contents.open(hash) else { return try missing(hash) }
            damage = try file.damage(path, hash, size, progress)
        } catch  where ContentFiles.isLoss(error) {
            damage = error.message
        }
        guard let damage else { return nil }
        guard let users = try base.index.read({ try $0.readableUsers(of: hash) }) else { return FoundFault.users(path) }
        guard !users.isEmpty else { return nil }
        return FoundFault(.damaged, file: path, assets: users.map(\.id), "the file \(path) is damaged: \(damage)")
    }

    private func missing(_ hash: String) throws(CaptureError) -> FoundFault? {
        let path = FoundFault.path(of: hash)
        // It may have gone by rights since the row was read.
        return try base.contents.alone { () throws(CaptureError) in
            guard let users = try base.index.read({ try $0.readableUsers(of: hash) }) else {
                return FoundFault.users(path)
            }
            guard try base.folder.contents.open(hash) == nil, users.contains(where: { !$0.isBinned }) else {
                return nil
            }
            return FoundFault(.missing, file: path, assets: users.map(\.id), "the file \(path) is missing")
        }
    }

    /// What SQLite has against the index, and whether the sums for quotas are right.
    private func checkIndex() throws(CaptureError) -> [FoundFault] {
        try base.index.read { database in
            let verdict = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }
            var faults = verdict.map { FoundFault(.index, "the index is damaged: \($0)") }
            for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check") {
                let names: (table: String, parent: String)
                do {
                    names = (try row.decode(atIndex: 0), try row.decode(atIndex: 2))
                } catch is RowDecodingError {
                    faults.append(
                        FoundFault(.index, "the index is damaged: a row belongs to none of a table without a name")
                    )
                    continue
                }
                faults.append(
                    FoundFault(
                        .index,
                        "the index is damaged: a row of \(names.table) belongs to none of \(names.parent)"
                    )
                )
            }
            if try Bool.fetchOne(database, sql: "SELECT \(LibraryUsage.isWrong)") == true {
                faults.append(FoundFault(.index, "the index has wrong sums of what programs keep"))
            }
            return faults
        }
    }
}

extension OwnedDescriptor {
    /// What is wrong with a content's file; `nil` for nothing.
    fileprivate func damage(
        _ path: String,
        _ hash: String,
        _ size: Int64,
        _ progress: (Int64) throws(CaptureError) -> Void
    ) throws(CaptureError) -> String? {
        var count: Int64 = 0
        let found = try self.hash("the file \(path)") { more throws(CaptureError) in
            count += more
            try progress(count)
        }
        if found.size != size { return "it has \(found.size) bytes instead of \(size)" }
        return found.hash == hash ? nil : "its hash is \(found.hash)"
    }
}

/// A row of a content, which may be damaged.
private struct ContentRow {
    /// What it is found by.
    var key: DatabaseValue
    /// Its hash and its bytes; `nil` where they are not what they can be.
    var content: (hash: String, size: Int64)?

    init(_ row: Row) throws {
        key = try row.decode(forColumn: "hash")
        do {
            let (hash, size): (String, Int64) = (try row.decode(forColumn: "hash"), try row.decode(forColumn: "size"))
            content = Hexadecimal.isText(hash, digits: 64) ? (hash, size) : nil
        } catch is RowDecodingError {
            content = nil
        }
    }
}

extension FoundFault {
    /// Where a content's file is in the library's folder.
    static func path(of hash: String) -> String { "contents/\(hash.prefix(2))/\(hash)" }

    fileprivate static func users(_ path: String) -> FoundFault {
        FoundFault(.index, "the index is damaged: the assets that have the file \(path) cannot be read")
    }
}

extension LibraryUsage {
    /// What each program has by the assets themselves.
    static let counted = """
        SELECT program, sum(assets) AS assets, sum(bytes) AS bytes, sum(edits) AS edits FROM (
            SELECT program, 1 AS assets, original.size + coalesce(edit.size, 0) AS bytes, 0 AS edits FROM asset
                JOIN content AS original ON original.hash = asset.original
                LEFT JOIN content AS edit ON edit.hash = asset.edit
            UNION ALL SELECT editor, 0, 0, content.size FROM asset
                JOIN content ON content.hash = asset.edit WHERE editor != program
        ) GROUP BY program
        """

    /// Whether that is not what was reckoned along.
    static let isWrong = """
        EXISTS(SELECT program, assets, bytes, edits FROM usage EXCEPT \(counted))
            OR EXISTS(\(counted) EXCEPT SELECT program, assets, bytes, edits FROM usage)
        """
}

extension Database {
    /// The assets that have a content; `nil` where one of their rows is damaged.
    fileprivate func readableUsers(of hash: String) throws -> [(id: String, isBinned: Bool)]? {
        do {
            return try Row.fetchAll(
                cachedStatement(
                    sql: """
                        SELECT id, binned IS NOT NULL AS binned FROM asset WHERE original = ?1
                            UNION SELECT id, binned IS NOT NULL FROM asset WHERE edit = ?1 ORDER BY id
                        """
                ),
                arguments: [hash]
            ).map { (id: try $0.decode(forColumn: "id"), isBinned: try $0.decode(forColumn: "binned")) }
        } catch is RowDecodingError {
            return nil
        }
    }
}
