public import CaptureCore
import GRDB

/// What the user chose for programs that see a part of the library. What a program made itself it sees anyway, so that it
/// is never a part of its choice. Thread-safe; calls wait for the disk.
public struct LibraryChoices: Sendable {
    private let index: LibraryIndex

    init(_ index: LibraryIndex) { self.index = index }

    /// Adds to what is chosen for a program.
    ///
    /// - Parameters:
    ///   - program: The program's id.
    ///   - assets: Ids of assets. Those that have gone meanwhile, are in the bin or are the program's own count for nothing.
    /// - Returns: The ids of those that it did not see before, in the order given.
    /// - Throws: `invalidArgument` for what is no id, or no program.
    public func choose(_ program: String, _ assets: [String]) throws(CaptureError) -> [String] {
        try check(program, assets)
        return try index.write { database in
            try assets.filter { id in
                try database.cachedStatement(
                    sql: """
                        INSERT INTO listed(
                            asset, album, reader, position, maker, binned, kind, favourite, created, added, name
                        )
                        SELECT number, 0, :program, 0, program, 0, kind, favourite, created, added, name
                        FROM asset
                        WHERE id = :id AND binned IS NULL AND program != :program AND NOT EXISTS(
                            SELECT 1 FROM listed WHERE asset = asset.number AND album = 0 AND reader = :program
                        )
                        """
                ).execute(arguments: ["program": program, "id": id])
                return database.changesCount > 0
            }
        }
    }

    /// Forgets everything that was chosen for a program.
    ///
    /// - Throws: `invalidArgument` for no program.
    public func forgetChosen(_ program: String) throws(CaptureError) {
        try check(program, [])
        try index.write { database in
            try database.execute(sql: "DELETE FROM listed WHERE album = 0 AND reader = ?", arguments: [program])
        }
    }

    /// Takes assets out of what is chosen for a program; what it made itself it sees all the same.
    ///
    /// - Throws: `invalidArgument` for what is no id, or no program.
    public func unchoose(_ program: String, _ assets: [String]) throws(CaptureError) {
        try check(program, assets)
        try index.write { database in
            for id in assets {
                try database.cachedStatement(
                    sql: "DELETE FROM listed WHERE album = 0 AND reader = ? "
                        + "AND asset = (SELECT number FROM asset WHERE id = ?)"
                ).execute(arguments: [program, id])
            }
        }
    }

    /// Those of some assets that a program sees by its choice or since it made them, while it is limited.
    ///
    /// - Throws: `invalidArgument` for what is no id, or no program.
    public func visible(to program: String, among assets: [String]) throws(CaptureError) -> Set<String> {
        try check(program, assets)
        return try index.read { database in
            Set(try assets.filter { try Visibility.asset($0, program, database) != nil })
        }
    }

    /// The ids of what is chosen for a program and not in the bin, the newest first.
    ///
    /// - Throws: `invalidArgument` for no program.
    public func chosen(_ program: String) throws(CaptureError) -> [String] {
        try check(program, [])
        return try index.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT asset.id FROM listed JOIN asset ON asset.number = listed.asset "
                    + "WHERE listed.album = 0 AND listed.reader = ? AND listed.binned = 0 "
                    + "ORDER BY listed.created DESC, listed.asset DESC",
                arguments: [program]
            )
        }
    }

    private func check(_ program: String, _ assets: [String]) throws(CaptureError) {
        guard !program.isEmpty else {
            throw CaptureError(.invalidArgument, "assets are chosen for a program; its id is empty")
        }
        for id in assets { try LibraryID.check(id, of: "an asset") }
    }
}
