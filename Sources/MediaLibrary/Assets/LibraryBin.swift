public import CaptureCore
import GRDB

/// The bin: assets that are erased for good after a while. Thread-safe; calls wait for the disk.
public struct LibraryBin: Sendable {
    private let base: LibraryBase

    init(_ base: LibraryBase) { self.base = base }

    /// Puts assets into the bin: all of them or, where one cannot be, none. Those that are there already stay.
    ///
    /// - Returns: How many were not there yet.
    /// - Throws: `noSuchAsset` for one that the scope does not have; `inputOutput`.
    @discardableResult
    public func delete(_ ids: [String], scope: LibraryScope) throws(CaptureError) -> Int {
        try base.index.write { database in
            let time = base.now()
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
        try base.index.write { database in
            var count = 0
            for id in ids {
                let key = try database.key(id, scope)
                guard key.binned != nil else { continue }
                guard try base.folder.contents.size(of: key.original) != nil else {
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
    public func empty(olderThan age: Int64? = nil) throws(CaptureError) -> Int {
        let age = age ?? base.limits.binTime
        let clock = try base.index.write { try $0.houseClock(at: base.now()) }
        let latest = age <= 0 ? Int64.max : clock - age
        var gone = 0
        while true {
            // In pieces, so that nobody waits long for the index.
            let count = try base.contents.releasing { try $0.purge(discardedUntil: latest, limit: 200) }
            gone += count
            if count < 200 { return gone }
        }
    }

    /// What is in the bin now, what came last first.
    ///
    /// - Throws: `inputOutput`.
    public func contents() throws(CaptureError) -> BinContents {
        try base.index.read { database in
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
            gone += try base.contents.releasing { try $0.purge(piece) }
        }
        return gone
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

extension Database {
    /// Removes assets from the bin.
    ///
    /// - Returns: How many, and the contents that went with them.
    fileprivate func purge(discardedUntil latest: Int64, limit: Int) throws -> Released<Int> {
        let oldest = "SELECT number FROM asset WHERE discarded <= ? ORDER BY discarded, number LIMIT ?"
        return try purge(Int64.fetchAll(cachedStatement(sql: oldest), arguments: [latest, limit]))
    }

    /// Removes those of some assets that are in the bin.
    fileprivate func purge(_ numbers: some Sequence<Int64>) throws -> Released<Int> {
        let contents = "SELECT original, edit FROM asset WHERE number = ? AND discarded IS NOT NULL"
        var (count, hashes): (Int, Set<String>) = (0, [])
        for number in numbers {
            guard let row = try Row.fetchOne(cachedStatement(sql: contents), arguments: [number]) else { continue }
            hashes.insert(try row.decode(forColumn: "original"))
            if let edit = try row.decode(String?.self, forColumn: "edit") { hashes.insert(edit) }
            try cachedStatement(sql: "DELETE FROM asset WHERE number = ?").execute(arguments: [number])
            count += 1
        }
        return Released(value: count, hashes: try release(hashes))
    }
}
