import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import CaptureSystem
import MediaLibrary

/// Recordings that were not saved, which wait for the person: at the shipped command line alone, since what a program
/// may not save is not its own to decide about.
extension LibraryObject {
    func listKept(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await person(call)
        let kept = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.recordings.kept()
        }
        return [.records(kept.map(KeptRecording.init))]
    }

    func saveKept(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await decide(call, .save) { client, recordings throws(CaptureError) in
            var outcomes: [KeptOutcome] = []
            for recording in recordings {
                // If one fails, the others can do without it.
                let result = await Result.of { () throws(CaptureError) in try await save(recording, for: client) }
                outcomes.append(KeptOutcome(id: recording.id, result: result))
            }
            return ["saved": .records(outcomes)]
        }
    }

    func discardKept(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await decide(call, .discard) { client, recordings throws(CaptureError) in
            try await libraries.use(client.identity.user) { library throws(CaptureError) in
                for recording in recordings { try library.recordings.discardKept(recording.id) }
            }
            return ["count": .uint64(UInt64(recordings.count))]
        }
    }

    /// Does something with recordings once the person has confirmed it: any program of theirs can start the command line.
    private func decide(
        _ call: BusCall,
        _ action: ConfirmedAction,
        _ work:
            @escaping @Sendable (SessionClient, [WaitingRecording]) async throws(CaptureError) -> [String: BusValue]
    ) async throws(CaptureError) -> [BusValue] {
        let client = try await person(call)
        let recordings = try await kept(try call.arguments.ids(0), of: client)
        let names = recordings.map { $0.draft.name.isEmpty ? "a recording of \($0.program)" : $0.draft.name }
        return try await requests.answer(client) { _ throws(CaptureError) in
            try await confirm(action, names, by: client)
            return try await work(client, recordings)
        }
    }

    /// The caller, if it is where a person decides.
    private func person(_ call: BusCall) async throws(CaptureError) -> SessionClient {
        try await person(
            call,
            "only the person may decide about recordings that were not saved, with: capturectl library kept"
        )
    }

    /// - Parameter refusal: What any other program is told.
    func person(_ call: BusCall, _ refusal: @autoclosure () -> String) async throws(CaptureError) -> SessionClient {
        let client = try await callers.client(call.sender)
        guard commandLine.isRun(by: client.identity) else { throw CaptureError(.notPermitted, refusal()) }
        return client
    }

    private func kept(_ ids: [String], of client: SessionClient) async throws(CaptureError) -> [WaitingRecording] {
        let all = try await libraries.use(client.identity.user) { library throws(CaptureError) in
            try library.recordings.kept()
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
        _ recording: WaitingRecording,
        for client: SessionClient
    ) async throws(CaptureError) -> SavedOutput {
        let (id, user) = (recording.id, client.identity.user)
        let content = try await libraries.use(user) { library throws(CaptureError) in
            guard try !library.recordings.isBeingWritten(id) else {
                throw CaptureError(.busy, "the recording \(id) is still being written; try again in a moment")
            }
            return Descriptor(owning: try library.recordings.open(id))
        }
        let found = try await turns.examine(for: user) { () throws(CaptureError) in
            try await importers.examine(content, isWhole: false)
        }
        let asset = try await libraries.perform(user) { library throws(CaptureError) in
            try library.recordings.saveKept(id, found.media)
        }
        await libraries.keep(found.thumbnails, of: asset.id, madeFrom: content, for: user)
        LibraryJournal.added(asset.size, by: client.identity)
        var saved = SavedOutput()
        if let album = recording.draft.albumName {
            do throws(CaptureError) {
                try await libraries.put(asset.id, intoAlbumNamed: album, by: recording.program, of: user)
                saved.album = album
            } catch {
                saved.remark = "it was added to no album: \(error.message)"
            }
        }
        await watchers.changed(user)
        // It is there, whatever comes of this.
        let status = (try? await access.gate.libraryAccess(for: client.identity))?.readWrite ?? .notDetermined
        if status.isYes { saved.asset = asset.id }
        return saved
    }
}

extension KeptRecording {
    init(_ recording: WaitingRecording) {
        self.init()
        id = recording.id
        program = recording.program
        started = recording.started
        size = UInt64(clamping: recording.size)
        name = recording.draft.name
        device = recording.draft.device
        album = recording.draft.albumName
        reason = recording.why
    }
}
