import CaptureCore
import GRDB
import Glibc
import Synchronization

/// A recording under way or kept.
struct RecordingRow {
    var recording: WaitingRecording
    /// Whether it is under way.
    var isOpen: Bool

    init(_ row: Row) throws {
        recording = WaitingRecording(
            id: try row.decode(forColumn: "id"),
            program: try row.decode(forColumn: "program"),
            started: try row.decode(forColumn: "started"),
            size: 0,
            draft: try DraftRecord(text: row.decode(forColumn: "facts")).draft(),
            why: try row.decode(forColumn: "why")
        )
        isOpen = try row.decode(String.self, forColumn: "state") == "open"
    }
}

/// Recordings under way and kept: a file in transit and a row for each. Thread-safe; calls wait for the disk.
final class LibraryTransit: Sendable {
    private let files: TransitFiles
    private let index: LibraryIndex
    /// Kept recordings whose state could not be written to the disk, by id, and why they are kept. They stay kept when the
    /// library is opened again.
    private let stranded = Mutex<[String: String]>([:])

    init(_ files: TransitFiles, _ index: LibraryIndex) {
        self.files = files
        self.index = index
    }

    /// Begins a recording: makes its file and its row.
    func begin(
        _ draft: AssetDraft,
        program: String,
        now: @Sendable () -> Int64
    ) throws(CaptureError) -> RecordingTransit {
        let id = LibraryID.make()
        let file = try files.make(id, O_RDWR, "a file for the recording")
        do throws(CaptureError) {
            // The name first: a row without a file would be a recording that never was.
            try files.synchronize("what is under way in the media library")
            try index.write { database in
                try database.execute(
                    sql: "INSERT INTO transit(id, state, program, started, facts, why) VALUES(?, 'open', ?, ?, ?, '')",
                    arguments: [id, program, now(), DraftRecord(draft).text()]
                )
            }
        } catch {
            try files.remove(id, "a file for the recording")
            throw error
        }
        return RecordingTransit(id: id, file: file)
    }

    /// See `LibraryRecordings.makeNameless(for:)`.
    func makeNameless() throws(CaptureError) -> (writing: Int32, reading: Int32) {
        let (id, what) = (LibraryID.make(), "a file for what is taken")
        let file = try files.make(id, O_RDWR, what)
        // One that is left behind goes when the library is opened next.
        defer { files.drop(id) }
        let reading = try files.open(id, what)
        let writing = try file.duplicate()
        do throws(CaptureError) {
            return (writing, try reading.duplicate())
        } catch {
            close(writing)
            throw error
        }
    }

    /// The recording of an id.
    ///
    /// - Throws: `invalidArgument` for what is no id; `noSuchAsset`; `inputOutput`.
    func recording(_ id: String) throws(CaptureError) -> RecordingRow {
        try LibraryID.check(id, of: "a recording")
        let row = try index.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM transit WHERE id = ?", arguments: [id])
                .map(RecordingRow.init)
        }
        guard let row else { throw CaptureError(.noSuchAsset, "there is no recording \(id)") }
        return consideringStranded(row)
    }

    /// Those that are kept, oldest first, and those under way as well if asked for.
    func recordings(andOpen: Bool) throws(CaptureError) -> [WaitingRecording] {
        let rows = try index.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM transit ORDER BY started, id").map(RecordingRow.init)
        }.map(consideringStranded)
        return try rows.filter { andOpen || !$0.isOpen }.map { row throws(CaptureError) in
            var recording = row.recording
            recording.size = try size(recording.id) ?? 0
            return recording
        }
    }

    private func consideringStranded(_ row: RecordingRow) -> RecordingRow {
        guard let why = stranded.withLock({ $0[row.recording.id] }) else { return row }
        var kept = row
        kept.isOpen = false
        kept.recording.why = why
        return kept
    }

    /// The file of a recording, for reading; `nil` when it is not there.
    func file(_ id: String, _ what: String = "the recording") throws(CaptureError) -> OwnedDescriptor? {
        try files.file(id, what)
    }

    /// Bytes of a recording's file; `nil` when it is not there.
    func size(_ id: String) throws(CaptureError) -> Int64? {
        let what = "a recording under way"
        return try file(id, what).map { file throws(CaptureError) in Int64(try file.status(what).st_size) }
    }

    /// Hashes the file of a recording, after every right to write it was taken away.
    func seal(_ id: String, limit: Int64) throws(CaptureError) -> (StagedContent, Int64) {
        let what = "the recording"
        let file = try files.open(id, what)
        let size = Int64(try file.status(what).st_size)
        guard size > 0 else { throw CaptureError(.badData, "the recording is empty") }
        guard size <= limit else {
            throw CaptureError(
                .overQuota,
                "the recording has \(size) bytes, and \(limit) are the limit for one"
            )
        }
        try LibraryCall.check("\(what) cannot be protected") { fchmod(file.number, 0o400) }
        try file.synchronize(what)
        let found = try file.hash(what)
        guard found.size == size else {
            throw CaptureError(.badData, "the recording grew from \(size) to \(found.size) bytes while it was saved")
        }
        return (StagedContent(name: id, hash: found.hash), size)
    }

    /// See `LibraryRecordings.keep(_:because:)`.
    func keep(_ id: String, because why: String) throws(CaptureError) {
        _ = try recording(id)
        guard let size = try size(id), size > 0 else { return try discard(id) }
        do throws(CaptureError) {
            try index.tidy {
                try $0.execute(sql: "UPDATE transit SET state = 'kept', why = ? WHERE id = ?", arguments: [why, id])
            }
        } catch {
            // The disk is full, read-only or failing. The recording is still there, so list it.
            guard error.code == .inputOutput else { throw error }
            stranded.withLock { $0[id] = why }
        }
    }

    /// Throws a recording away. The file first: on a full disk that makes the room which the index needs to forget it.
    func discard(_ id: String) throws(CaptureError) {
        try files.remove(id, "the file of the recording \(id)")
        stranded.withLock { $0[id] = nil }
        try index.tidy { try $0.execute(sql: "DELETE FROM transit WHERE id = ?", arguments: [id]) }
    }

    /// Removes the name in transit of a recording that is in the library.
    func removeSaved(_ id: String) {
        files.drop(id)
        stranded.withLock { $0[id] = nil }
    }

    /// Files in transit: recordings that hold something are kept for the user, and those that are still written, since a
    /// recorder outlives its daemon. All else is removed. If the index is lost, files that hold something are set aside
    /// instead.
    func recover() throws(CaptureError) {
        let what = "what is under way in the media library"
        let rows = try index.read { try String.fetchSet($0, sql: "SELECT id FROM transit") }
        var kept: Set<String> = []
        for name in try files.names(what) {
            if rows.contains(name), try isWorthKeeping(name) {
                kept.insert(name)
            } else if index.isNew, try isWorthKeeping(name) {
                try files.setAside(name)
            } else {
                try files.remove(name, what)
            }
        }
        let gone = rows.subtracting(kept)
        try index.write { database in
            for id in gone { try database.execute(sql: "DELETE FROM transit WHERE id = ?", arguments: [id]) }
            try database.execute(
                sql: "UPDATE transit SET state = 'kept', why = ? WHERE state = 'open'",
                arguments: ["captured ended while it was recorded"]
            )
        }
    }

    private func isWorthKeeping(_ id: String) throws(CaptureError) -> Bool {
        let what = "a recording under way"
        guard let file = try file(id, what) else { return false }
        return try file.status(what).st_size > 0 || file.hasWriters
    }
}
