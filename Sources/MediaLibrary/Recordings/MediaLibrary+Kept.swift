public import CaptureCore
import GRDB
import Glibc
import Synchronization

/// A row of a recording under way or kept.
struct RecordingRow {
    var id: String
    var program: String
    var started: Int64
    var draft: AssetDraft
    var why: String
    /// Whether it is under way.
    var isOpen: Bool

    init(_ row: Row) throws {
        id = try row.decode(forColumn: "id")
        program = try row.decode(forColumn: "program")
        started = try row.decode(forColumn: "started")
        draft = try DraftRecord(text: row.decode(forColumn: "facts")).draft()
        why = try row.decode(forColumn: "why")
        let state: String = try row.decode(forColumn: "state")
        isOpen = state == "open"
    }
}

extension MediaLibrary {
    /// The recording of an id.
    ///
    /// - Throws: `invalidArgument` for what is no id; `noSuchAsset`; `inputOutput`.
    func recording(_ id: String) throws(CaptureError) -> RecordingRow {
        try LibraryID.check(id, of: "a recording")
        let row = try read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM transit WHERE id = ?", arguments: [id])
                .map(RecordingRow.init)
        }
        guard let row else { throw CaptureError(.noSuchAsset, "there is no recording \(id)") }
        return consideringStranded(row)
    }

    private func consideringStranded(_ row: RecordingRow) -> RecordingRow {
        guard let why = stranded.withLock({ $0[row.id] }) else { return row }
        var kept = row
        kept.isOpen = false
        kept.why = why
        return kept
    }

    /// Keeps a recording that is not saved, for the user to save or discard. An empty one goes.
    ///
    /// - Parameter why: Why it is not saved, in a sentence for the user.
    /// - Throws: `noSuchAsset` where there is none of this id; `inputOutput`.
    public func keep(_ id: String, because why: String) throws(CaptureError) {
        _ = try recording(id)
        guard let size = try sizeOfTransit(id), size > 0 else { return try discard(id) }
        do throws(CaptureError) {
            try tidy {
                try $0.execute(sql: "UPDATE transit SET state = 'kept', why = ? WHERE id = ?", arguments: [why, id])
            }
        } catch {
            // The disk is full, read-only or failing. The recording is still there, so list it.
            guard error.code == .inputOutput else { throw error }
            stranded.withLock { $0[id] = why }
        }
    }

    /// The recordings that were kept, oldest first.
    public func kept() throws(CaptureError) -> [WaitingRecording] { try kept(andOpen: false) }

    /// Those under way as well, if asked for.
    func kept(andOpen: Bool) throws(CaptureError) -> [WaitingRecording] {
        let rows = try read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM transit ORDER BY started, id").map(RecordingRow.init)
        }.map(consideringStranded)
        var found: [WaitingRecording] = []
        for row in rows where andOpen || !row.isOpen {
            found.append(
                WaitingRecording(
                    id: row.id,
                    program: row.program,
                    started: row.started,
                    size: try sizeOfTransit(row.id) ?? 0,
                    draft: row.draft,
                    why: row.why
                )
            )
        }
        return found
    }

    /// Takes a kept recording into the library, at its person's word, which the program's quota does not hold back; see
    /// `finishRecording`.
    ///
    /// - Throws: Besides, `wrongState` for one that is under way.
    public func saveKept(_ id: String, _ facts: MediaFacts) throws(CaptureError) -> MediaAsset {
        guard try !recording(id).isOpen else {
            throw CaptureError(.wrongState, "the recording \(id) is under way; stop it first")
        }
        return try finishRecording(id, facts, isPersons: true)
    }

    /// Throws a kept recording away.
    ///
    /// - Throws: `noSuchAsset` where there is none of this id; `wrongState` for one that is under way; `inputOutput`.
    public func discardKept(_ id: String) throws(CaptureError) {
        guard try !recording(id).isOpen else {
            throw CaptureError(.wrongState, "the recording \(id) is under way; stop it first")
        }
        try discard(id)
    }

    /// Gives up a recording that is under way, with all that was recorded.
    ///
    /// - Throws: `noSuchAsset` where there is none of this id; `inputOutput`.
    public func cancelRecording(_ id: String) throws(CaptureError) {
        _ = try recording(id)
        try discard(id)
    }

    /// The file first: on a full disk that makes the room which the index needs to forget it.
    private func discard(_ id: String) throws(CaptureError) {
        try LibraryFolder.unlink(id, in: folder.transit, "the file of the recording \(id)")
        stranded.withLock { $0[id] = nil }
        try tidy { try $0.execute(sql: "DELETE FROM transit WHERE id = ?", arguments: [id]) }
    }
}
