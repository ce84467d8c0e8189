public import CaptureCore
import GRDB
import Glibc
import Synchronization

extension MediaLibrary {
    /// Begins a recording that is written straight to a file of the library's. It is there after a crash, for the user to
    /// save or discard.
    ///
    /// - Parameters:
    ///   - draft: What the program says of it.
    ///   - program: The id of the program that records.
    /// - Throws: `invalidArgument` for a name or date that may not be stored; `overQuota`, also for too many recordings
    ///   that nobody saved or discarded; `inputOutput`.
    public func beginRecording(_ draft: AssetDraft, program: String) throws(CaptureError) -> RecordingTransit {
        try draft.check()
        try checkRoomForRecording(of: program)
        try folder.checkReserve(limits.reserve, beside: 0)
        let id = LibraryID.make()
        let file = try OwnedDescriptor.open(
            id,
            in: folder.transit.number,
            O_RDWR | O_CREAT | O_EXCL,
            "a file for the recording"
        )
        do throws(CaptureError) {
            // The name first: a row without a file would be a recording that never was.
            try folder.transit.synchronize("what is under way in the media library")
            try write { database in
                try database.execute(
                    sql: "INSERT INTO transit(id, state, program, started, facts, why) VALUES(?, 'open', ?, ?, ?, '')",
                    arguments: [id, program, now(), DraftRecord(draft).text()]
                )
            }
        } catch {
            try LibraryFolder.unlink(id, in: folder.transit, "a file for the recording")
            throw error
        }
        return RecordingTransit(id: id, file: file)
    }

    /// Opens a recording that is under way or kept, for reading alone; the caller closes it.
    ///
    /// - Throws: `noSuchAsset` where there is none of this id; `inputOutput`.
    public func openRecording(_ id: String) throws(CaptureError) -> Int32 {
        _ = try recording(id)
        guard let file = try LibraryFolder.openIfThere(id, in: folder.transit, "the recording") else {
            throw CaptureError(.inputOutput, "the file of the recording \(id) is missing; discard it")
        }
        return try file.duplicate()
    }

    /// Takes a recording into the library, once nobody writes to it any more; when it returns that is on disk. What fails
    /// leaves it kept, so that nothing is lost.
    ///
    /// - Parameters:
    ///   - facts: What examining it has shown.
    ///   - isPersons: Whether it is the person's word, which the program's quota does not hold back.
    /// - Returns: The new asset.
    /// - Throws: `noSuchAsset` where there is none of this id; `badData` for an empty file; `overQuota`; `inputOutput`.
    public func finishRecording(
        _ id: String,
        _ facts: MediaFacts,
        isPersons: Bool = false
    ) throws(CaptureError) -> MediaAsset {
        try facts.check()
        let recording = try recording(id)
        do throws(CaptureError) {
            let (staged, size) = try seal(id)
            return try settle(staged, size, facts) { database in
                try database.execute(sql: "DELETE FROM transit WHERE id = ?", arguments: [id])
                // Somebody else was faster; it must not be saved twice.
                guard database.changesCount > 0 else {
                    throw CaptureError(.noSuchAsset, "there is no recording \(id)")
                }
                return try database.insert(
                    recording.draft,
                    program: recording.program,
                    isPersons: isPersons,
                    content: staged.hash,
                    facts,
                    self
                )
            }.removingTransit(id, self)
        } catch {
            // Nothing to keep where it has been saved or thrown away meanwhile.
            if recording.isOpen, error.code != .noSuchAsset { try keep(id, because: error.message) }
            throw error
        }
    }

    /// Hashes the file of a recording, after every right to write it was taken away.
    private func seal(_ id: String) throws(CaptureError) -> (StagedContent, Int64) {
        let what = "the recording"
        let file = try OwnedDescriptor.open(id, in: folder.transit.number, O_RDONLY, what)
        let size = Int64(try file.status(what).st_size)
        guard size > 0 else { throw CaptureError(.badData, "the recording is empty") }
        guard size <= limits.contentBytes else {
            throw CaptureError(
                .overQuota,
                "the recording has \(size) bytes, and \(limits.contentBytes) are the limit for one"
            )
        }
        try LibraryCall.check("\(what) cannot be protected") { fchmod(file.number, 0o400) }
        try file.synchronize(what)
        let found = try file.hash(what)
        guard found.size == size else {
            throw CaptureError(.badData, "the recording grew from \(size) to \(found.size) bytes while it was saved")
        }
        return (StagedContent(name: id, file: file, hash: found.hash), size)
    }

    private func checkRoomForRecording(of program: String) throws(CaptureError) {
        let present = try kept(andOpen: true)
        let own = present.filter { $0.program == program }
        guard own.count < limits.keptRecordings else {
            throw CaptureError(
                .overQuota,
                "\(own.count) recordings of the program wait to be saved or discarded, which is the limit; see them with: "
                    + "capturectl library kept"
            )
        }
        try checkQuota(
            usage(of: program),
            usage(of: nil),
            assets: (Int64(own.count) + 1, Int64(present.count) + 1),
            bytes: (own.reduce(0) { $0 + $1.size }, present.reduce(0) { $0 + $1.size })
        )
    }
}

extension MediaAsset {
    /// The file's name in transit goes. One that cannot be removed now goes when the library is opened next.
    fileprivate func removingTransit(_ id: String, _ library: MediaLibrary) -> MediaAsset {
        _ = unsafe unlinkat(library.folder.transit.number, id, 0)
        library.stranded.withLock { $0[id] = nil }
        return self
    }
}
