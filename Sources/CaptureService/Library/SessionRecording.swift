import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import MediaLibrary
import Synchronization

/// What a session records into its user's library. Thread-safe; saved or cancelled once.
final class SessionRecording: LibraryRecording {
    /// How often it is looked whether a recorder that has said goodbye still holds the file, and how long in between.
    private static let looks = 500
    private static let pause = Duration.milliseconds(20)

    let room: Int64
    private let id: String
    private let draft: AssetDraft
    private let client: SessionClient
    /// What it rests on.
    private let grants: Mutex<[Grant]>
    private let saver: LibrarySaver
    /// What it began with, as the history has it.
    private let use: (grant: Grant, key: DeviceUseKey)

    init(
        _ id: String,
        _ draft: AssetDraft,
        room: Int64,
        _ client: SessionClient,
        _ use: (grant: Grant, key: DeviceUseKey),
        _ saver: LibrarySaver
    ) {
        self.id = id
        self.draft = draft
        self.room = room
        self.client = client
        grants = Mutex([use.grant])
        self.use = use
        self.saver = saver
    }

    private var user: UInt32 { client.identity.user }

    func save() async throws(CaptureError) -> SavedOutput {
        let saved: Result<SavedOutput, CaptureError>
        do throws(CaptureError) {
            saved = .success(try await commit())
        } catch {
            saved = .failure(await keep(error))
        }
        await saver.uses.end(use.key, use.grant)
        await saver.gate.sessionEnded(grants.withLock { $0 })
        return try saved.get()
    }

    func cancel() async {
        await saver.uses.end(use.key, use.grant)
        await saver.gate.sessionEnded(grants.withLock { $0 })
        do throws(CaptureError) {
            let id = id
            try await saver.libraries.use(user) { library throws(CaptureError) in try library.recordings.cancel(id) }
        } catch {
            // It stays, and is found when the library is opened next.
            Journal.send("a recording that never began was not removed: \(error)", priority: .warning)
        }
    }

    private func commit() async throws(CaptureError) -> SavedOutput {
        _ = try await consent()
        let (id, libraries, user) = (id, saver.libraries, user)
        try await SessionRecording.waitUntilWritten { () async throws(CaptureError) in
            try await libraries.use(user) { library throws(CaptureError) in try library.recordings.isBeingWritten(id) }
        }
        let content = try await saver.libraries.use(user) { library throws(CaptureError) in
            Descriptor(owning: try library.recordings.open(id))
        }
        let found = try await saver.turns.examine(for: user) { () throws(CaptureError) in
            try await saver.importers.examine(content, isWhole: false)
        }
        // To look into it takes its time, in which the consent may go.
        let (step, grant) = try await consent()
        let withdrawn = withdrawn
        let permitted: @Sendable () throws(CaptureError) -> Void = { () throws(CaptureError) in
            if !grant.isLive { throw withdrawn }
        }
        let asset = try await saver.libraries.perform(user) { library throws(CaptureError) in
            try library.whilePermitted(permitted) { () throws(CaptureError) in
                try library.recordings.finish(id, found.media)
            }
        }
        // It is in the library, and nobody has to wait for its pictures.
        Task { await libraries.keep(found.thumbnails, of: asset.id, madeFrom: content, for: user) }
        LibraryJournal.added(asset.size, by: client.identity)
        var saved = SavedOutput()
        await join(asset.id, step, permitted, &saved)
        await saver.watchers.changed(user)
        let status = try? await saver.gate.libraryAccess(for: client.identity).readWrite
        // Who may only add is not told what it is called by.
        if status?.isYes == true { saved.asset = asset.id }
        if let status { await saver.choosing.offer(client, status) }
        return saved
    }

    private var withdrawn: CaptureError {
        CaptureError(
            .revoked,
            "the consent of \(client.identity.name) to save to the media library was withdrawn while it recorded"
        )
    }

    /// What the consent allows now, and the grant of it. Nobody is asked any more.
    private func consent() async throws(CaptureError) -> (step: SaveStep, grant: Grant) {
        let step = try await saver.step(client)
        guard let service = step.service else { throw withdrawn }
        if let held = grants.withLock({ $0.first { $0.service == service && $0.isLive } }) { return (step, held) }
        do throws(CaptureError) {
            // It was changed meanwhile, and still allows to save.
            let grant = try await saver.grant(for: step, client)
            grants.withLock { $0.append(grant) }
            return (step, grant)
        } catch {
            // Of a program that is gone nobody knows any more that it is the one that was allowed anew.
            throw withdrawn
        }
    }

    /// Waits until nobody can write to the file any more: what is in the library never changes.
    static func waitUntilWritten(_ isBeingWritten: () async throws(CaptureError) -> Bool) async throws(CaptureError) {
        for _ in 0..<SessionRecording.looks {
            if try await !isBeingWritten() { return }
            // Nothing tells when a process of another lets go of a file.
            try? await Task.sleep(for: SessionRecording.pause)
        }
        throw CaptureError(.recorderLost, "its recorder did not close the file")
    }

    /// Puts the asset into the album that was asked for, if the consent is for that.
    private func join(
        _ asset: String,
        _ step: SaveStep,
        _ permitted: @escaping @Sendable () throws(CaptureError) -> Void,
        _ saved: inout SavedOutput
    ) async {
        guard let album = draft.albumName else { return }
        guard step == .intoAlbum else {
            saved.remark = "it was added to no album, which needs consent to read and change the whole media library"
            return
        }
        do throws(CaptureError) {
            let program = client.identity.program
            try await saver.libraries.put(asset, intoAlbumNamed: album, by: program, of: user, permitted)
            saved.album = album
        } catch {
            saved.remark = "it was added to no album: \(error.message)"
        }
    }

    /// Keeps it for the person, since it was not saved.
    ///
    /// - Returns: The error, which says so.
    private func keep(_ error: CaptureError) async -> CaptureError {
        let id = id
        do throws(CaptureError) {
            let isKept = try await saver.libraries.use(user) { library throws(CaptureError) in
                do throws(CaptureError) {
                    try library.recordings.keep(id, because: error.message)
                } catch  where error.code == .noSuchAsset {
                    // It held nothing, or the person was faster.
                    return false
                }
                return try library.recordings.kept().contains { $0.id == id }
            }
            guard isKept else { return error }
        } catch {
            // What is under way is found and kept when the library is opened next.
            Journal.send("a recording that was not saved is not listed yet: \(error)", priority: .warning)
        }
        LibraryJournal.kept(error, by: client.identity)
        return CaptureError(
            error.code,
            "\(error.message); the recording is kept, to be saved or discarded: capturectl library kept",
            errno: error.errno
        )
    }
}
