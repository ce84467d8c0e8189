import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import MediaLibrary

/// Recordings that were not saved, which wait for the person: at the shipped command line alone, since what a program
/// may not save is not its own to decide about.
extension LibraryObject {
    func listKept(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await person(call)
        let kept = try await libraries.use(client.identity.user) { library throws(CaptureError) in try library.kept() }
        return [.propertyList(kept.map(\.properties))]
    }

    func saveKept(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await person(call)
        let id = try call.arguments.text(0)
        // Before anybody waits for it.
        _ = try await kept(id, of: client)
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in try await save(id, for: client) }
            )
        ]
    }

    func discardKept(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await person(call)
        let id = try call.arguments.text(0)
        try await libraries.use(client.identity.user) { library throws(CaptureError) in try library.discardKept(id) }
        return []
    }

    /// The caller, if it is where a person decides.
    private func person(_ call: BusCall) async throws(CaptureError) -> SessionClient {
        let client = try await callers.client(call.sender)
        guard commandLine.isRun(by: client.identity) else {
            throw CaptureError(
                .notPermitted,
                "what becomes of recordings that were not saved is decided by the person, with: capturectl library kept"
            )
        }
        return client
    }

    private func kept(_ id: String, of client: SessionClient) async throws(CaptureError) -> KeptRecording {
        let all = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.kept()
        }
        guard let recording = all.first(where: { $0.id == id }) else {
            throw CaptureError(.noSuchAsset, "no recording \(id) waits to be saved; see: capturectl library kept")
        }
        return recording
    }

    private func save(_ id: String, for client: SessionClient) async throws(CaptureError) -> [String: BusValue] {
        let user = client.identity.user
        let recording = try await kept(id, of: client)
        let content = try await libraries.use(user) { library throws(CaptureError) in
            guard try !library.isBeingWritten(id) else {
                throw CaptureError(.busy, "the recording \(id) is still being written; try again in a moment")
            }
            return Descriptor(owning: try library.openRecording(id))
        }
        let found = try await turns.examine(for: user) { () throws(CaptureError) in
            try await importers.examine(content, isWhole: false)
        }
        let asset = try await libraries.perform(user) { library throws(CaptureError) in
            try library.saveKept(id, MediaFacts(found.media))
        }
        await libraries.keep(found.thumbnails, of: asset.id, madeFrom: content, for: user)
        LibraryJournal.added(asset.size, by: client.identity)
        var result: [String: BusValue] = [:]
        if let album = recording.draft.albumName {
            do throws(CaptureError) {
                try await libraries.put(asset.id, intoAlbumNamed: album, by: recording.program, of: user)
                result["album"] = .string(album)
            } catch {
                result["remark"] = .string("it joined no album: \(error.message)")
            }
        }
        await watchers.changed(user)
        let status = try await access.gate.libraryAccess(for: client.identity).status(.readWrite)
        if status.isYes { result["id"] = .string(asset.id) }
        return result
    }
}

extension KeptRecording {
    /// As it travels.
    fileprivate var properties: [String: BusValue] {
        var facts: [String: BusValue] = [
            "id": .string(id), "program": .string(program), "started": .int64(started),
            "size": .uint64(UInt64(clamping: size)), "name": .string(draft.name), "device": .string(draft.device),
            "reason": .string(why),
        ]
        facts["album"] = draft.albumName.map { .string($0) }
        return facts
    }
}
