import Authorization
import CaptureCore
import CaptureEngine
import CaptureSystem
import Glibc
import MediaLibrary

/// Saves what sessions record into the media libraries of their users, as far as each person allows.
struct LibrarySaver: RecordingSaver {
    let gate: AuthorizationGate
    let libraries: LibraryCatalog
    let importers: Importers
    let turns: LibraryTurns
    let watchers: LibraryWatchers
    let uses: LibraryUses
    let choosing: LibraryChoosing
    let taken: TakenContents

    func check(_ destination: LibraryDestination) throws(CaptureError) {
        if !destination.name.isEmpty { try LibraryName.check(destination.name, of: "a file") }
        if let album = destination.album { try LibraryName.check(album, of: "an album") }
    }

    func authorize(_ client: SessionClient, mayAsk: Bool) async throws(CaptureError) {
        // It does not come into the library.
        if client.taking != nil { return }
        var asked: Set<LibraryLevel> = []
        var silence: CaptureError?
        while true {
            switch try await step(client, asked: asked) {
            case .intoAlbum, .intoLibrary: return
            case .refused: throw try await refusal(client, after: silence)
            case .ask(let level):
                guard mayAsk else { throw LibrarySaver.undecided(level, client) }
                asked.insert(level)
                silence = try await ask(level, client)
            }
        }
    }

    func begin(
        _ output: OutputDescription,
        madeWith device: String,
        for client: SessionClient
    ) async throws(CaptureError) -> (file: any OpenFile, recording: any LibraryRecording) {
        if let taking = client.taking { return try await begin(taking) }
        let destination = output.library ?? LibraryDestination()
        let draft = AssetDraft(
            name: destination.name,
            created: LibraryStore.wallClock(),
            // What a device calls itself comes from its maker, and must not keep a recording from being made.
            device: DisplayText.neutralized(device, limit: 60),
            albumName: destination.album
        )
        let grant = try await grant(for: try await step(client), client)
        var use: DeviceUseKey?
        do throws(CaptureError) {
            let key = try await uses.begin(grant, by: client.identity)
            use = key
            let program = client.identity.program
            let (id, file, room) = try await libraries.use(client.identity.user) { library throws(CaptureError) in
                let transit = try library.recordings.begin(draft, program: program)
                return (transit.id, try LibrarySaver.file(of: transit), try library.recordings.room(of: program))
            }
            // Its recorder tells how large it is now and then, and has the end of the file to write when it is stopped.
            let limit = room - min(room / 8, 64 << 20)
            return (file, SessionRecording(id, draft, room: limit, client, (grant, key), self))
        } catch {
            if let use { await uses.end(use, grant) }
            await gate.sessionEnded([grant])
            throw error
        }
    }

    /// What a save comes to now.
    func step(
        _ client: SessionClient,
        asked: Set<LibraryLevel> = Set(LibraryLevel.allCases)
    ) async throws(CaptureError) -> SaveStep {
        let now = try await gate.libraryAccess(for: client.identity)
        return SaveStep.next(add: now.add, readWrite: now.readWrite, asked: asked)
    }

    /// The consent that a save rests on, in use as long as it is recorded, so that one for a session holds as long.
    func grant(for step: SaveStep, _ client: SessionClient) async throws(CaptureError) -> Grant {
        guard let service = step.service else { throw try await refusal(client, after: nil) }
        return try await gate.grant(service, for: client, mayAsk: false)
    }

    /// Asks the person for a level.
    ///
    /// - Returns: Why there was no answer; `nil` for one, which the status tells from now on.
    private func ask(_ level: LibraryLevel, _ client: SessionClient) async throws(CaptureError) -> CaptureError? {
        do throws(CaptureError) {
            _ = try await gate.grant(level.service, for: client)
            let isLimited = try await gate.libraryAccess(for: client.identity).readWrite == .limited
            if level == .readWrite, isLimited { await choosing.begin(with: client) }
            return nil
        } catch {
            if Task.isCancelled { throw error }
            switch error.code {
            case .denied, .restricted: return nil
            // A program may state its reason for one of the levels alone, and a person may let one question go by.
            case .dismissed, .timedOut, .nobodyToAsk, .askedTooOften, .missingUsageDescription: return error
            default: throw error
            }
        }
    }

    /// Why nothing may be saved.
    ///
    /// - Parameter silence: What the last question came to in the place of an answer.
    private func refusal(_ client: SessionClient, after silence: CaptureError?) async throws(CaptureError)
        -> CaptureError
    {
        let now = try await gate.libraryAccess(for: client.identity)
        let (name, program) = (client.identity.name, client.identity.program)
        if now.add == .notDetermined, let silence { return silence }
        if now.add == .restricted {
            return CaptureError(
                .restricted,
                "policy keeps \(name) (\(program)) from saving to the media library; see: "
                    + "capturectl auth explain '\(program)'"
            )
        }
        return CaptureError(
            .denied,
            "\(name) (\(program)) may not save to the media library; to allow that: "
                + "capturectl auth set '\(program)' library add-only"
        )
    }

    private static func undecided(_ level: LibraryLevel, _ client: SessionClient) -> CaptureError {
        CaptureError(
            .notPermitted,
            "nobody has decided whether \(client.identity.name) may save to the media library; request access to "
                + "\(level.service.rawValue) first"
        )
    }

    /// The transit file as recorders take it: a descriptor of its own, so that nobody holds it once the recorder is gone.
    private static func file(of transit: RecordingTransit) throws(CaptureError) -> Descriptor {
        do throws(SystemError) {
            return Descriptor(
                owning: try SystemError.check("duplicate a descriptor") {
                    fcntl(transit.descriptor, F_DUPFD_CLOEXEC, 0)
                }
            )
        } catch {
            throw CaptureError(.inputOutput, error)
        }
    }
}

extension SaveStep {
    /// What it takes to be saved there; `nil` where nothing is.
    var service: Service? {
        switch self {
        case .intoAlbum: .libraryReadWrite
        case .intoLibrary: .libraryAdd
        case .ask, .refused: nil
        }
    }
}
