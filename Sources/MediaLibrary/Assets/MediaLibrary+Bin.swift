public import CaptureCore
import GRDB
import Synchronization

extension MediaLibrary {
    /// Puts assets into the bin: all of them or, where one cannot be, none. Those that are there already stay.
    ///
    /// - Throws: `noSuchAsset` for one that the scope does not have; `inputOutput`.
    public func delete(_ ids: [String], scope: LibraryScope) throws(CaptureError) {
        try write { database in
            let time = now()
            for id in ids {
                let key = try database.key(id, scope)
                guard key.binned == nil else { continue }
                try database.cachedStatement(sql: "UPDATE asset SET binned = ? WHERE number = ?")
                    .execute(arguments: [time, key.number])
            }
        }
    }

    /// Takes assets out of the bin: all of them or, where one cannot be, none. Those that are not there stay.
    ///
    /// - Throws: `noSuchAsset` for one that the scope does not have; `inputOutput` for one whose file is missing.
    public func restore(_ ids: [String], scope: LibraryScope) throws(CaptureError) {
        try write { database in
            for id in ids {
                let key = try database.key(id, scope)
                guard key.binned != nil else { continue }
                guard try folder.sizeOfContent(key.original) != nil else {
                    throw CaptureError(.inputOutput, "the asset \(id) cannot be restored: its file is missing")
                }
                try database.cachedStatement(sql: "UPDATE asset SET binned = NULL WHERE number = ?")
                    .execute(arguments: [key.number])
            }
        }
    }

    /// Removes for good what has been in the bin for long enough; when it returns that is on disk.
    ///
    /// - Parameter age: How long, in milliseconds; 0 for everything that is there. Usually 30 days.
    /// - Returns: How many assets went.
    /// - Throws: `inputOutput`; what went before stays gone.
    @discardableResult
    public func emptyBin(olderThan age: Int64? = nil) throws(CaptureError) -> Int {
        let age = age ?? limits.binTime
        let latest = age <= 0 ? Int64.max : now() - age
        var gone = 0
        while true {
            // In pieces, so that nobody waits long for the index.
            let released = try turn.withLock { _ throws(CaptureError) in
                try write { try $0.purge(binnedUntil: latest, limit: 200) }
            }
            gone += released.swept(self)
            if released.value < 200 { return gone }
        }
    }
}

extension Database {
    /// Removes assets from the bin.
    ///
    /// - Returns: How many, and the contents that went with them.
    fileprivate func purge(binnedUntil latest: Int64, limit: Int) throws -> Released<Int> {
        let rows = try Row.fetchAll(
            cachedStatement(
                sql: "SELECT number, original, edit FROM asset WHERE binned <= ? ORDER BY binned, number LIMIT ?"
            ),
            arguments: [latest, limit]
        )
        var hashes: Set<String> = []
        for row in rows {
            hashes.insert(try row.decode(forColumn: "original"))
            if let edit = try row.decode(String?.self, forColumn: "edit") { hashes.insert(edit) }
            try cachedStatement(sql: "DELETE FROM asset WHERE number = ?")
                .execute(arguments: [row.decode(Int64.self, forColumn: "number")])
        }
        return Released(value: rows.count, hashes: try release(hashes))
    }
}
