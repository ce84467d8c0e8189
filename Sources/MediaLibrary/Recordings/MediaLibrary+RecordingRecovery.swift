import CaptureCore
import GRDB
import Glibc

extension MediaLibrary {
    /// Files in transit: recordings that hold something are kept for the user, and those that are still written, since a
    /// recorder outlives its daemon; all else goes.
    func recoverTransit() throws(CaptureError) {
        let what = "what is under way in the media library"
        var rows: Set<String> = []
        for row in try read({ try String.fetchAll($0, sql: "SELECT id FROM transit") }) { rows.insert(row) }
        var kept: Set<String> = []
        for name in try LibraryFolder.names(in: folder.transit, what) {
            if rows.contains(name), try isWorthKeeping(name) {
                kept.insert(name)
            } else {
                try LibraryFolder.unlink(name, in: folder.transit, what)
            }
        }
        let gone = rows.subtracting(kept)
        try write { database in
            for id in gone { try database.execute(sql: "DELETE FROM transit WHERE id = ?", arguments: [id]) }
            try database.execute(
                sql: "UPDATE transit SET state = 'kept', why = ? WHERE state = 'open'",
                arguments: ["captured ended while it was recorded"]
            )
        }
    }

    private func isWorthKeeping(_ id: String) throws(CaptureError) -> Bool {
        let what = "a recording under way"
        guard let file = try LibraryFolder.openIfThere(id, in: folder.transit, what) else { return false }
        return try file.status(what).st_size > 0 || file.hasWriters
    }

    /// Bytes of a file in transit; `nil` when it is not there.
    func sizeOfTransit(_ id: String) throws(CaptureError) -> Int64? {
        let what = "a recording under way"
        guard let file = try LibraryFolder.openIfThere(id, in: folder.transit, what) else { return nil }
        return Int64(try file.status(what).st_size)
    }
}
