import Authorization
import CaptureCore
import CaptureEngine
import CaptureSystem
import Glibc
import MediaLibrary

/// A photo or movie that a person took for a program. Its file has no name, and goes with the last reference.
struct TakenContent: Sendable {
    /// What the agent calls it by.
    let id: String
    let name: String
    let kind: MediaAssetKind
    let mediaType: String
    let size: UInt64
    /// Open for reading alone.
    let file: Descriptor

    /// The same file, open for reading from its beginning.
    func open() throws(CaptureError) -> Descriptor {
        return try CaptureError.wrap(.inputOutput, try Descriptor.open("/proc/self/fd/\(file.descriptor)", O_RDONLY))
    }
}

/// What persons have taken by questions that stand: by each the latest.
actor TakenContents {
    private var open: [Taking: TakenContent?] = [:]

    /// A question is put.
    func begin(_ taking: Taking) { open[taking] = .some(nil) }

    /// Keeps what was taken, in the place of what was before; not if the question is over.
    func keep(_ content: TakenContent, for taking: Taking) throws(CaptureError) {
        guard open[taking] != nil else {
            throw CaptureError(.wrongState, "nobody waits any more for what is taken")
        }
        open[taking] = content
    }

    /// What was taken last.
    func content(of taking: Taking) -> TakenContent? { open[taking] ?? nil }

    /// The question is over.
    ///
    /// - Returns: What was taken last.
    @discardableResult
    func end(_ taking: Taking) -> TakenContent? { open.removeValue(forKey: taking) ?? nil }
}

/// What a session records by a question of an agent's: kept for the program that asks, and never in the library. Thread-safe.
final class TakenRecording: LibraryRecording {
    let room: Int64
    private let taking: Taking
    private let file: Descriptor
    private let saver: LibrarySaver

    init(_ file: Descriptor, room: Int64, for taking: Taking, _ saver: LibrarySaver) {
        self.file = file
        self.room = room
        self.taking = taking
        self.saver = saver
    }

    func save() async throws(CaptureError) -> SavedOutput {
        let (file, user) = (file, taking.client.user)
        try await SessionRecording.waitUntilWritten { LibraryRecordings.hasWriters(file.descriptor) }
        let found = try await saver.turns.examine(for: user) { () throws(CaptureError) in
            try await saver.importers.examine(file, isWhole: false)
        }
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0, status.st_size > 0 else {
            throw CaptureError(.badData, "nothing was taken: the file is empty")
        }
        let wanted: MediaAssetKind = taking.longest > 0 ? .movie : .photo
        guard found.media.kind == wanted else {
            throw CaptureError(
                .badData,
                "a \(wanted.rawValue) was to be taken, and this is a \(found.media.kind.rawValue)"
            )
        }
        let (id, name) = try await saver.libraries.use(user) { library throws(CaptureError) in
            library.recordings.nameless(found.media)
        }
        let content = TakenContent(
            id: id,
            name: name,
            kind: found.media.kind,
            mediaType: found.media.mediaType,
            size: UInt64(status.st_size),
            file: file
        )
        try await saver.taken.keep(content, for: taking)
        return SavedOutput(asset: content.id)
    }

    func cancel() async {}
}

extension LibrarySaver {
    /// Begins what a person takes by a question; its file has no name.
    func begin(_ taking: Taking) async throws(CaptureError) -> (file: any OpenFile, recording: any LibraryRecording) {
        let program = taking.client.program
        let (writing, reading, room) = try await libraries.use(taking.client.user) { library throws(CaptureError) in
            let room = try library.recordings.room(of: program)
            let (writing, reading) = try library.recordings.makeNameless(for: program)
            return (Descriptor(owning: writing), Descriptor(owning: reading), room)
        }
        return (writing, TakenRecording(reading, room: room - min(room / 8, 64 << 20), for: taking, self))
    }
}
