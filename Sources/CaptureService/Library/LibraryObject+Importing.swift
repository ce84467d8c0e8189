import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import CaptureSystem
import MediaLibrary

/// What a program adds to the library, and what it puts in the place of a content.
extension LibraryObject {
    func importFile(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let source = try await call.arguments.source(0, from: doors, of: client.connection)
        let draft = AssetDraft(try AssetFacts(busValue: call.arguments.argument(1)))
        // Before a person is asked for what cannot be.
        try draft.check()
        return try await requests.answer(client) { _ throws(CaptureError) in
            try await add(source, draft, for: client)
        }
    }

    func edit(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let id = try call.arguments.text(0)
        let source = try await call.arguments.source(1, from: doors, of: client.connection)
        let view = try await access.changes(of: client)
        // Before anything is copied; it is looked for again when the copy is done.
        _ = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.assets.asset(id, scope: view.scope)
        }
        return try await requests.answer(client) { _ throws(CaptureError) in
            try await replace(id, by: source, for: client)
        }
    }

    /// Adds a file: asks where that was never decided, copies, examines, and commits when the consent still holds.
    private func add(
        _ source: PassedFile,
        _ draft: AssetDraft,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        let user = client.identity.user
        let program = client.identity.program
        // With an album it takes all of reading and changing, which has adding in it.
        let grant = try await access.grants.grant(draft.album == nil ? .addOnly : .readWrite, client)
        if let album = draft.album {
            let scope = try await access.changes(of: client, everything: true).scope
            _ = try await libraries.use(user) { library throws(CaptureError) in
                try library.albums.album(album, scope: scope)
            }
        }
        let importing = try await libraries.use(user) { library throws(CaptureError) in
            try library.imports.begin(draft, program: program)
        }
        let asset = try await take(source, into: importing, grant, for: client)
        LibraryJournal.added(asset.size, by: client.identity)
        await watchers.changed(user)
        var result: [String: BusValue] = [:]
        if let album = draft.album, let error = await put(asset.id, into: album, for: client) {
            result["album-error"] = .string(error.code.rawValue)
            result["remark"] = .string("it is in the media library, but not in the album: \(error.message)")
        }
        // It is there, whatever comes of this.
        let status = (try? await access.gate.libraryAccess(for: client.identity))?.readWrite ?? .notDetermined
        await picking.choosing.offer(client, status)
        // Who may only add is not told what it is called by: there is nothing that it could do with that.
        if status.isYes { result["id"] = .string(asset.id) }
        return result
    }

    /// Puts what was just added into its album.
    ///
    /// - Returns: Why it is not in it, which is no reason to add it once more.
    private func put(_ id: String, into album: String, for client: SessionClient) async -> CaptureError? {
        do throws(CaptureError) {
            let view = try await access.changes(of: client, everything: true)
            try await libraries.use(client.identity.user) { library throws(CaptureError) in
                try library.whilePermitted(view.confirm) { () throws(CaptureError) in
                    _ = try library.members.add([id], toAlbum: album, scope: view.scope)
                }
            }
            await watchers.changed(client.identity.user)
            return nil
        } catch {
            return error
        }
    }

    private func replace(
        _ id: String,
        by source: PassedFile,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        let view = try await access.changes(of: client)
        guard let grant = view.grant else { throw LibraryObject.withdrawn(client) }
        let program = client.identity.program
        let importing = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.imports.beginEdit(id, scope: view.scope, program: program)
        }
        _ = try await take(source, into: importing, grant, for: client)
        await watchers.changed(client.identity.user)
        return ["id": .string(id)]
    }

    /// Copies, examines and commits; leaves nothing behind when one of them fails or the consent goes.
    private func take(
        _ source: PassedFile,
        into importing: LibraryImport,
        _ grant: Grant,
        for client: SessionClient
    ) async throws(CaptureError) -> MediaAsset {
        let user = client.identity.user
        let permitted: @Sendable () throws(CaptureError) -> Void = { () throws(CaptureError) in
            guard grant.isLive else { throw LibraryObject.withdrawn(client) }
        }
        do throws(CaptureError) {
            let mark = try await source.mark()
            try await turns.copy(for: client.identity, isAwaited: { importers.isAwaited }) {
                (count) throws(CaptureError) in
                _ = try await unsafe importers.copy(source: source, limit: importing.limit) {
                    (bytes) throws(CaptureError) in
                    try permitted()
                    try count(bytes.count)
                    try unsafe importing.append(bytes)
                }
            }
            let staged = try await WorkerThread.run("library") { () throws(CaptureError) in
                Descriptor(owning: try importing.finish())
            }
            let found = try await turns.examine(for: user) { () throws(CaptureError) in
                try await importers.examine(staged)
            }
            guard !Task.isCancelled else { throw ImportCall.cancelled }
            try LibraryObject.check(try await source.mark(), is: mark)
            let asset = try await libraries.perform(user) { library throws(CaptureError) in
                try library.whilePermitted(permitted) { () throws(CaptureError) in
                    try importing.commit(found.media, written: mark.map { $0.changed / 1_000_000 })
                }
            }
            // In a task of its own: how long it takes tells nobody whether the library had the file already.
            Task { await libraries.keep(found.thumbnails, of: asset.id, madeFrom: staged, for: user) }
            return asset
        } catch {
            // A large file takes its time to go.
            try? await WorkerThread.run("library") { importing.cancel() }
            throw error
        }
    }

    /// Checks that a file did not change during its import. If it is still being written, it is not what its program
    /// wanted to keep, even if it grows too slowly for the copy to notice. Pipes cannot be checked.
    ///
    /// - Throws: `.badData` if it changed.
    static func check(_ now: FileMark?, is before: FileMark?) throws(CaptureError) {
        guard let before, now != before else { return }
        let how = now.map { $0.size == before.size ? "was written to" : "went from \(before.size) to \($0.size) bytes" }
        throw CaptureError(
            .badData,
            "the file \(how ?? "changed") while it was imported; import it when it is finished"
        )
    }

    /// Pictures by the size that each was made for.
    static func sized(_ pictures: [[UInt8]]) -> [ThumbnailSize: [UInt8]] {
        Dictionary(uniqueKeysWithValues: zip(ThumbnailSize.allCases, pictures))
    }

    static func withdrawn(_ client: SessionClient) -> CaptureError {
        CaptureError(
            .revoked,
            "the consent of \(client.identity.name) to add to the media library was withdrawn, so nothing was added"
        )
    }
}
