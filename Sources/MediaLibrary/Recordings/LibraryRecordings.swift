public import CaptureCore
import GRDB

/// What comes into the library as a recording, and what was recorded and not saved.
/// Thread-safe; calls wait for the disk.
public struct LibraryRecordings: Sendable {
    private let base: LibraryBase
    private let transit: LibraryTransit

    init(_ base: LibraryBase) {
        self.base = base
        transit = LibraryTransit(base.folder.transit, base.index)
    }

    /// Tidies up after a library that was not closed.
    func recover() throws(CaptureError) { try transit.recover() }

    /// Begins a recording that is written straight to a file of the library's. It is there after a crash, for the user to
    /// save or discard.
    ///
    /// - Parameters:
    ///   - draft: What the program says of it.
    ///   - program: The id of the program that records.
    /// - Throws: `invalidArgument` for a name or date that may not be stored; `overQuota`, also for too many recordings
    ///   that nobody saved or discarded; `inputOutput`.
    public func begin(_ draft: AssetDraft, program: String) throws(CaptureError) -> RecordingTransit {
        try draft.check()
        try checkRoom(of: program)
        try base.folder.transit.checkReserve(base.limits.reserve, beside: 0)
        return try transit.begin(draft, program: program, now: base.now)
    }

    /// Makes a file beside the library that has no name and never comes into it: it goes with its last descriptor.
    ///
    /// - Returns: Two descriptors of it, which the caller closes: for writing, and for reading alone.
    /// - Throws: `overQuota`, as for a recording; `inputOutput`.
    public func makeNameless(for program: String) throws(CaptureError) -> (writing: Int32, reading: Int32) {
        try checkRoom(of: program)
        try base.folder.transit.checkReserve(base.limits.reserve, beside: 0)
        return try transit.makeNameless()
    }

    /// Opens a recording that is under way or kept, for reading alone; the caller closes it.
    ///
    /// - Throws: `noSuchAsset` for an unknown id; `inputOutput`.
    public func open(_ id: String) throws(CaptureError) -> Int32 {
        _ = try transit.recording(id)
        guard let file = try transit.file(id) else {
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
    /// - Throws: `noSuchAsset` for an unknown id; `badData` for an empty file; `overQuota`; `inputOutput`.
    public func finish(
        _ id: String,
        _ facts: ExaminedMedia,
        isPersons: Bool = false
    ) throws(CaptureError) -> MediaAsset {
        try facts.check()
        let row = try transit.recording(id)
        do throws(CaptureError) {
            let (staged, size) = try transit.seal(id, limit: base.limits.contentBytes)
            let asset = try base.contents.settle(staged, size, facts) { database in
                try database.execute(sql: "DELETE FROM transit WHERE id = ?", arguments: [id])
                // Somebody else was faster; it must not be saved twice.
                guard database.changesCount > 0 else {
                    throw CaptureError(.noSuchAsset, "there is no recording \(id)")
                }
                return try database.insert(
                    row.recording.draft,
                    program: row.recording.program,
                    isPersons: isPersons,
                    content: staged.hash,
                    facts,
                    base.quotas,
                    at: base.now()
                )
            }
            transit.removeSaved(id)
            return asset
        } catch {
            // Nothing to keep where it has been saved or thrown away meanwhile.
            if row.isOpen, error.code != .noSuchAsset { try transit.keep(id, because: error.message) }
            throw error
        }
    }

    /// Keeps a recording that is not saved, for the user to save or discard. An empty one goes.
    ///
    /// - Parameter why: Why it is not saved, in a sentence for the user.
    /// - Throws: `noSuchAsset` for an unknown id; `inputOutput`.
    public func keep(_ id: String, because why: String) throws(CaptureError) {
        try transit.keep(id, because: why)
    }

    /// The recordings that were kept, oldest first.
    public func kept() throws(CaptureError) -> [WaitingRecording] { try kept(andOpen: false) }

    /// Those under way as well, if asked for.
    func kept(andOpen: Bool) throws(CaptureError) -> [WaitingRecording] { try transit.recordings(andOpen: andOpen) }

    /// Takes a kept recording into the library, at its person's word, which the program's quota does not hold back; see
    /// `finish`.
    ///
    /// - Throws: Besides, `wrongState` for one that is under way.
    public func saveKept(_ id: String, _ facts: ExaminedMedia) throws(CaptureError) -> MediaAsset {
        try checkIsKept(id)
        return try finish(id, facts, isPersons: true)
    }

    /// Throws a kept recording away.
    ///
    /// - Throws: `noSuchAsset` for an unknown id; `wrongState` for one that is under way; `inputOutput`.
    public func discardKept(_ id: String) throws(CaptureError) {
        try checkIsKept(id)
        try transit.discard(id)
    }

    private func checkIsKept(_ id: String) throws(CaptureError) {
        guard try !transit.recording(id).isOpen else {
            throw CaptureError(.wrongState, "the recording \(id) is under way; stop it first")
        }
    }

    /// Gives up a recording that is under way, with all that was recorded.
    ///
    /// - Throws: `noSuchAsset` for an unknown id; `inputOutput`.
    public func cancel(_ id: String) throws(CaptureError) {
        _ = try transit.recording(id)
        try transit.discard(id)
    }

    /// Whether somebody still has the file of a recording open to write to it, in whatever process. What is taken into the
    /// library while that is so might change there.
    ///
    /// - Throws: `noSuchAsset` where there is no recording of this id; `inputOutput`.
    public func isBeingWritten(_ id: String) throws(CaptureError) -> Bool {
        _ = try transit.recording(id)
        guard let file = try transit.file(id) else { return false }
        return file.hasWriters
    }

    /// An id and a name for what was taken now, such as the library gives to assets that come without.
    public func nameless(_ facts: ExaminedMedia) -> (id: String, name: String) {
        (LibraryID.make(), LibraryName.standard(facts, created: base.now()))
    }

    /// The same of a descriptor that is open for reading alone.
    public static func hasWriters(_ descriptor: Int32) -> Bool { OwnedDescriptor.hasWriters(descriptor) }

    /// Bytes that a recording of a program may still come to, by what there is, what waits to be saved, and what is free on
    /// the disk now.
    ///
    /// - Throws: `inputOutput`.
    public func room(of program: String) throws(CaptureError) -> Int64 {
        let present = try kept(andOpen: true)
        func left(_ limit: Int64, _ used: Int64, _ waiting: [WaitingRecording]) -> Int64 {
            max(0, waiting.reduce(limit - used) { $0 - $1.size })
        }
        let disk = try base.folder.transit.room(beside: base.limits.reserve)
        let own = present.filter { $0.program == program }
        return min(
            base.limits.contentBytes,
            max(0, disk.free - disk.reserve),
            left(base.limits.programBytes, try base.quotas.usage(of: program).bytes, own),
            left(base.limits.userBytes, try base.quotas.usage(of: nil).bytes, present)
        )
    }

    private func checkRoom(of program: String) throws(CaptureError) {
        let present = try kept(andOpen: true)
        let own = present.filter { $0.program == program }
        guard own.count < base.limits.keptRecordings else {
            throw CaptureError(
                .overQuota,
                "\(own.count) recordings of the program wait to be saved or discarded, which is the limit; see them with: "
                    + "capturectl library kept"
            )
        }
        try base.quotas.check(
            base.quotas.usage(of: program),
            base.quotas.usage(of: nil),
            assets: (Int64(own.count) + 1, Int64(present.count) + 1),
            bytes: (own.reduce(0) { $0 + $1.size }, present.reduce(0) { $0 + $1.size })
        )
    }
}
