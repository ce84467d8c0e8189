public import CaptureCore
import GRDB
import Synchronization

extension MediaLibrary {
    /// Puts assets into the bin: all of them or, where one cannot be, none. Those that are there already stay.
    ///
    /// - Returns: How many were not there yet.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `inputOutput`.
    @discardableResult
    public func delete(_ ids: [String], scope: LibraryScope) throws(CaptureError) -> Int {
        try write { database in
            let time = now()
            let age = try database.houseClock(at: time)
            var count = 0
            for id in ids {
                let key = try database.key(id, scope)
                guard key.binned == nil else { continue }
                count += 1
                try database.cachedStatement(sql: "UPDATE asset SET binned = ?, discarded = ? WHERE number = ?")
                    .execute(arguments: [time, age, key.number])
            }
            return count
        }
    }

    /// Takes assets out of the bin: all of them or, where one cannot be, none. Those that are not there stay.
    ///
    /// - Returns: How many were there.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `inputOutput` for one whose file is missing.
    @discardableResult
    public func restore(_ ids: [String], scope: LibraryScope) throws(CaptureError) -> Int {
        try write { database in
            var count = 0
            for id in ids {
                let key = try database.key(id, scope)
                guard key.binned != nil else { continue }
                guard try folder.sizeOfContent(key.original) != nil else {
                    throw CaptureError(.inputOutput, "the asset \(id) cannot be restored: its file is missing")
                }
                try database.cachedStatement(sql: "UPDATE asset SET binned = NULL, discarded = NULL WHERE number = ?")
                    .execute(arguments: [key.number])
                count += 1
            }
            return count
        }
    }

    /// Removes for good what has been in the bin for long enough; when it returns that is on disk. To be called every few
    /// hours: time counts from one call to the next, and at most a week of it, so that neither a clock that was set
    /// wrong nor a machine that was off for long empties the bin at once.
    ///
    /// - Parameter age: How long, in milliseconds; 0 for everything that is there. Usually 30 days.
    /// - Returns: How many assets went.
    /// - Throws: `inputOutput`; what went before stays gone.
    @discardableResult
    public func emptyBin(olderThan age: Int64? = nil) throws(CaptureError) -> Int {
        let age = age ?? limits.binTime
        let clock = try write { try $0.houseClock(at: now()) }
        let latest = age <= 0 ? Int64.max : clock - age
        var gone = 0
        while true {
            // In pieces, so that nobody waits long for the index.
            let released = try turn.withLock { _ throws(CaptureError) in
                try write { try $0.purge(discardedUntil: latest, limit: 200) }
            }
            gone += released.swept(self)
            if released.value < 200 { return gone }
        }
    }
}

/// What is in the bin at a moment.
public struct BinContents: Sendable {
    /// How many assets.
    public var count: Int { numbers.count }
    /// The names of the first of them, at most ten.
    public let names: [String]
    /// Theirs in the index.
    fileprivate let numbers: [Int64]
}

extension MediaLibrary {
    /// What is in the bin now, what came last first.
    ///
    /// - Throws: `inputOutput`.
    public func binContents() throws(CaptureError) -> BinContents {
        try read { database in
            let order = "FROM asset WHERE discarded IS NOT NULL ORDER BY discarded DESC, number DESC"
            return BinContents(
                names: try String.fetchAll(database, sql: "SELECT name \(order) LIMIT 10"),
                numbers: try Int64.fetchAll(database, sql: "SELECT number \(order)")
            )
        }
    }

    /// Erases for good what was in the bin, and is still; when it returns that is on disk.
    ///
    /// - Returns: How many assets went.
    /// - Throws: `inputOutput`; what went before stays gone.
    public func erase(_ contents: BinContents) throws(CaptureError) -> Int {
        var gone = 0
        for start in stride(from: 0, to: contents.numbers.count, by: 200) {
            let piece = contents.numbers[start..<min(start + 200, contents.numbers.count)]
            gone += try turn.withLock { _ throws(CaptureError) in
                try write { try $0.purge(Array(piece)) }
            }.swept(self)
        }
        return gone
    }
}

extension Database {
    /// Removes assets from the bin.
    ///
    /// - Returns: How many, and the contents that went with them.
    fileprivate func purge(discardedUntil latest: Int64, limit: Int) throws -> Released<Int> {
        try purge(
            try Row.fetchAll(
                cachedStatement(
                    sql: """
                        SELECT number, original, edit FROM asset WHERE discarded <= ?
                        ORDER BY discarded, number LIMIT ?
                        """
                ),
                arguments: [latest, limit]
            )
        )
    }

    /// Removes those of some assets that are in the bin.
    fileprivate func purge(_ numbers: [Int64]) throws -> Released<Int> {
        try purge(
            try numbers.compactMap { number in
                try Row.fetchOne(
                    cachedStatement(
                        sql: "SELECT number, original, edit FROM asset WHERE number = ? AND discarded IS NOT NULL"
                    ),
                    arguments: [number]
                )
            }
        )
    }

    private func purge(_ rows: [Row]) throws -> Released<Int> {
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
