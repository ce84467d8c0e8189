import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import MediaLibrary

/// What a program adds to the library, and what it puts in the place of a content.
extension LibraryObject {
    func importFile(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let source = try call.arguments.source(0)
        let draft = try AssetDraft(busValue: call.arguments.argument(1))
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    try await add(source, draft, for: client)
                }
            )
        ]
    }

    func edit(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let id = try call.arguments.text(0)
        let source = try call.arguments.source(1)
        let scope = try await access.changes(of: client)
        // Before anything is copied; it is looked for again when the copy is done.
        _ = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.asset(id, scope: scope)
        }
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    try await replace(id, by: source, for: client)
                }
            )
        ]
    }

    /// Adds a file: asks where that was never decided, copies, examines, and commits when the consent still holds.
    private func add(
        _ source: Descriptor,
        _ draft: AssetDraft,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        let user = client.identity.user
        let program = client.identity.program
        // With an album it takes all of reading and changing, which has adding in it.
        let level: LibraryLevel = draft.album == nil ? .addOnly : .readWrite
        let asset = try await consenting(level, client) { grant throws(CaptureError) in
            if let album = draft.album {
                let scope = try await access.changes(of: client, everything: true)
                _ = try await libraries.use(user) { library throws(CaptureError) in
                    try library.album(album, scope: scope)
                }
            }
            let importing = try await libraries.use(user) { library throws(CaptureError) in
                try library.beginImport(draft, program: program)
            }
            return try await take(source, into: importing, grant, for: client)
        }
        if let album = draft.album { try await put(asset.id, into: album, for: client) }
        LibraryJournal.added(asset.size, by: client.identity)
        await watchers.changed(user)
        // Who may only add is not told what it is called by: there is nothing that it could do with that.
        let status = try await access.gate.libraryAccess(for: client.identity).status(.readWrite)
        await picking.offer(client, status)
        return status == .authorized || status == .limited ? ["id": .string(asset.id)] : [:]
    }

    /// Puts what was just added into its album.
    ///
    /// - Throws: What stands against it, which says that the asset is in the library all the same.
    private func put(_ id: String, into album: String, for client: SessionClient) async throws(CaptureError) {
        do throws(CaptureError) {
            let scope = try await access.changes(of: client, everything: true)
            try await libraries.use(client.identity.user) { library throws(CaptureError) in
                _ = try library.add([id], toAlbum: album, scope: scope)
            }
        } catch {
            await watchers.changed(client.identity.user)
            throw CaptureError(
                error.code,
                "it is in the media library as asset \(id), and not in the album: \(error.message)",
                errno: error.errno
            )
        }
    }

    private func replace(
        _ id: String,
        by source: Descriptor,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        try await consenting(.readWrite, client) { grant throws(CaptureError) in
            let scope = try await access.changes(of: client)
            let importing = try await libraries.use(client.identity.user) { library throws(CaptureError) in
                try library.beginEdit(id, scope: scope)
            }
            _ = try await take(source, into: importing, grant, for: client)
        }
        await watchers.changed(client.identity.user)
        return ["id": .string(id)]
    }

    /// Does something on the consent to a level, which the person is asked for where that was never decided. The consent
    /// is in use as long as it takes.
    private func consenting<Value: Sendable>(
        _ level: LibraryLevel,
        _ client: SessionClient,
        _ work: (Grant) async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let given = try await access.gate.requestAccess(
            [level.service],
            for: client.identity,
            session: client.connection,
            again: client.identifyAgain
        )
        guard let grant = given[level.service] else {
            throw CaptureError(.internalFault, "no grant was given for \(level.service.rawValue)")
        }
        let value: Result<Value, CaptureError>
        do throws(CaptureError) {
            value = .success(try await work(grant))
        } catch {
            value = .failure(error)
        }
        await access.gate.sessionEnded([grant])
        return try value.get()
    }

    /// Copies, examines and commits; leaves nothing behind when one of them fails or the consent goes.
    private func take(
        _ source: Descriptor,
        into importing: LibraryImport,
        _ grant: Grant,
        for client: SessionClient
    ) async throws(CaptureError) -> Asset {
        do throws(CaptureError) {
            try await copies.turn(of: client.identity) { () throws(CaptureError) in
                _ = try await unsafe importers.copy(source: source, limit: importing.limit) {
                    (bytes) throws(CaptureError) in
                    guard grant.isLive else { throw LibraryObject.withdrawn(client) }
                    try unsafe importing.append(bytes)
                }
            }
            let staged = try await WorkerThread.run("library") {
                Result { () throws(CaptureError) in Descriptor(owning: try importing.finish()) }
            }
            let found = try await importers.examine(staged)
            guard !Task.isCancelled else { throw ImportCall.cancelled }
            let asset = try await WorkerThread.run("library") {
                Result { () throws(CaptureError) in
                    guard grant.isLive else { throw LibraryObject.withdrawn(client) }
                    return try importing.commit(MediaFacts(found.media))
                }
            }
            await keep(found.thumbnails, of: asset, madeFrom: staged, for: client)
            return asset
        } catch {
            importing.cancel()
            throw error
        }
    }

    /// Keeps the pictures that came with the examination. Without them they are made when they are first wanted.
    private func keep(
        _ pictures: [[UInt8]],
        of asset: Asset,
        madeFrom content: Descriptor,
        for client: SessionClient
    ) async {
        do throws(CaptureError) {
            try await libraries.use(client.identity.user) { library throws(CaptureError) in
                _ = try library.storeThumbnails(
                    LibraryObject.sized(pictures),
                    of: asset.id,
                    madeFrom: content.descriptor
                )
            }
        } catch {
            Journal.send("the pictures of asset \(asset.id) were not kept: \(error)", priority: .warning)
        }
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

extension MediaFacts {
    /// What an examination found.
    init(_ media: ExaminedMedia) {
        let kind: AssetKind =
            switch media.kind {
            case .photo: .photo
            case .movie: .movie
            case .sound: .sound
            }
        self.init(
            kind: kind,
            mediaType: media.mediaType,
            codec: media.codec,
            width: media.width,
            height: media.height,
            duration: media.duration,
            created: media.created
        )
    }
}

extension [BusValue] {
    /// A descriptor to read from.
    fileprivate func source(_ index: Int) throws(CaptureError) -> Descriptor {
        guard let file = try argument(index).file else {
            throw CaptureError(.invalidArgument, "argument \(index + 1) is no descriptor")
        }
        return file
    }
}
