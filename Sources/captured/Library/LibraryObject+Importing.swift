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
        _ = try await libraries.use(client.identity.user) { library throws(CaptureError) in try library.asset(id, scope) }
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    try await replace(id, by: source, scope, for: client)
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
        var services: Set<Service> = [.libraryAdd]
        if draft.album != nil {
            _ = try await access.gate.requestAccess(
                [.libraryReadWrite],
                for: client.identity,
                session: client.connection,
                again: client.identifyAgain
            )
            _ = try await access.changes(of: client, everything: true)
            services.insert(.libraryReadWrite)
        }
        let grants = try await access.gate.requestAccess(
            services,
            for: client.identity,
            session: client.connection,
            again: client.identifyAgain
        )
        let user = client.identity.user
        let program = client.identity.program
        if let album = draft.album {
            try await libraries.use(user) { library throws(CaptureError) in _ = try library.album(album, .all) }
        }
        let importing = try await libraries.use(user) { library throws(CaptureError) in
            try library.beginImport(draft, program: program)
        }
        let asset = try await take(source, into: importing, Array(grants.values), for: client)
        if let album = draft.album {
            try await libraries.use(user) { library throws(CaptureError) in try library.add([asset.id], toAlbum: album) }
        }
        await watchers.changed(user)
        // Who may only add is not told what it is called by: there is nothing that it could do with that.
        let status = try await access.gate.libraryAccess(for: client.identity).status(.readWrite)
        return status == .authorized || status == .limited ? ["id": .string(asset.id)] : [:]
    }

    private func replace(
        _ id: String,
        by source: Descriptor,
        _ scope: LibraryScope,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        let grants = try await access.gate.requestAccess(
            [.libraryReadWrite],
            for: client.identity,
            session: client.connection,
            again: client.identifyAgain
        )
        let importing = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.beginEdit(id, scope)
        }
        let asset = try await take(source, into: importing, Array(grants.values), for: client)
        await watchers.changed(client.identity.user)
        return ["id": .string(asset.id)]
    }

    /// Copies, examines and commits; leaves nothing behind when one of them fails or the consent goes.
    private func take(
        _ source: Descriptor,
        into importing: LibraryImport,
        _ grants: [Grant],
        for client: SessionClient
    ) async throws(CaptureError) -> Asset {
        do throws(CaptureError) {
            _ = try await importers.copy(source, limit: importing.room) { bytes throws(CaptureError) in
                guard grants.allSatisfy(\.isLive), !Task.isCancelled else { throw LibraryObject.withdrawn(client) }
                try importing.append(bytes)
            }
            let staged = try await WorkerThread.run("library") {
                Result { () throws(CaptureError) in Descriptor(owning: try importing.finish()) }
            }
            let examined = try await importers.examine(staged)
            guard !Task.isCancelled else { throw CaptureError(.revoked, "the import was cancelled") }
            return try await WorkerThread.run("library") {
                Result { () throws(CaptureError) in
                    guard grants.allSatisfy(\.isLive) else { throw LibraryObject.withdrawn(client) }
                    return try importing.commit(MediaFacts(examined.facts), thumbnails: examined.thumbnails)
                }
            }
        } catch {
            importing.cancel()
            throw error
        }
    }

    static func withdrawn(_ client: SessionClient) -> CaptureError {
        CaptureError(
            .revoked,
            "the consent of \(client.identity.name) to add to the media library was withdrawn, or its import cancelled"
        )
    }
}

extension [BusValue] {
    /// A descriptor to read from.
    func source(_ index: Int) throws(CaptureError) -> Descriptor {
        guard let file = try argument(index).file, file.isReadable else {
            throw CaptureError(.invalidArgument, "argument \(index + 1) is not a descriptor that is open for reading")
        }
        return file
    }
}
