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
        try await decide(call, .save) { client, recordings throws(CaptureError) in
            var saved: [[String: BusValue]] = []
            for recording in recordings {
                var facts: [String: BusValue]
                do throws(CaptureError) {
                    facts = try await save(recording, for: client)
                } catch {
                    // The others can do without it.
                    facts = ["error": .string(error.code.rawValue), "message": .string(error.message)]
                }
                facts["kept"] = .string(recording.id)
                saved.append(facts)
            }
            return ["saved": .propertyList(saved)]
        }
    }

    func discardKept(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await decide(call, .discard) { client, recordings throws(CaptureError) in
            try await libraries.use(client.identity.user) { library throws(CaptureError) in
                for recording in recordings { try library.discardKept(recording.id) }
            }
            return ["count": .uint64(UInt64(recordings.count))]
        }
    }

    /// Does something with recordings once the person has confirmed it: any program of theirs can start the command line.
    private func decide(
        _ call: BusCall,
        _ action: Confirmation.Action,
        _ work:
            @escaping @Sendable (SessionClient, [KeptRecording]) async throws(CaptureError) -> [String: BusValue]
    ) async throws(CaptureError) -> [BusValue] {
        let client = try await person(call)
        let recordings = try await kept(try call.arguments.ids(0), of: client)
        let names = recordings.map { $0.draft.name.isEmpty ? "a recording of \($0.program)" : $0.draft.name }
        return [
            .uint32(
                try await requests.begin(for: client) { () throws(CaptureError) in
                    try await confirm(action, names, by: client)
                    return try await work(client, recordings)
                }
            )
        ]
    }

    /// The caller, if it is where a person decides.
    private func person(_ call: BusCall) async throws(CaptureError) -> SessionClient {
        try await person(
            call,
            "what becomes of recordings that were not saved is decided by the person, with: capturectl library kept"
        )
    }

    /// - Parameter refusal: What any other program is told.
    func person(_ call: BusCall, _ refusal: @autoclosure () -> String) async throws(CaptureError) -> SessionClient {
        let client = try await callers.client(call.sender)
        guard commandLine.isRun(by: client.identity) else { throw CaptureError(.notPermitted, refusal()) }
        return client
    }

    private func kept(_ ids: [String], of client: SessionClient) async throws(CaptureError) -> [KeptRecording] {
        let all = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.kept()
        }
        return try ids.map { id throws(CaptureError) in
            guard let recording = all.first(where: { $0.id == id }) else {
                let shown = DisplayText.neutralized(id, limit: 40)
                throw CaptureError(
                    .noSuchAsset,
                    "no recording \(shown) waits to be saved; see: capturectl library kept"
                )
            }
            return recording
        }
    }

    private func save(
        _ recording: KeptRecording,
        for client: SessionClient
    ) async throws(CaptureError) -> [String: BusValue] {
        let (id, user) = (recording.id, client.identity.user)
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
