import CaptureBus
public import CaptureCore

/// A recording that was to be saved into the library and is not there: the consent went while it was recorded, the disk was
/// full, or the daemon ended. It is kept for the person to decide about.
public struct KeptRecording: Hashable, Sendable, Identifiable {
    /// What it is called by: 32 hexadecimal digits.
    public var id: String
    /// The id of the program that recorded it.
    public var program: String
    /// When it was begun, in milliseconds since 1970.
    public var started: Int64
    /// Bytes.
    public var size: UInt64
    /// The name that it was to get; empty where the program gave none.
    public var name: String
    /// The name of the album that it was to join.
    public var album: String?
    /// Why it is not in the library, in a sentence.
    public var reason: String

    init(_ facts: [String: BusValue]) throws(CaptureError) {
        guard let id = facts["id"]?.text else { throw CaptureDaemon.malformed("ListKept") }
        self.id = id
        program = facts["program"]?.text ?? ""
        started = facts["started"]?.integer ?? 0
        size = facts["size"]?.unsigned ?? 0
        name = facts["name"]?.text ?? ""
        album = facts["album"]?.text
        reason = facts["reason"]?.text ?? ""
    }
}

/// What came of saving a recording after all.
public struct KeptOutcome: Hashable, Sendable, Identifiable {
    /// What the recording was called by.
    public var id: KeptRecording.ID
    /// Where it is now, or why it stays.
    public var result: Result<SavedOutput, CaptureError>
}

extension MediaLibrary {
    /// Asks the person for what it takes to save an output into the library, where that was never decided: for reading and
    /// changing first, which albums need, and for adding where that is refused. Each is asked at most once.
    ///
    /// The start of a session does the same by itself.
    ///
    /// - Throws: `denied` or `restricted` when nothing may be saved; what came in the place of an answer.
    public func requestSaving() async throws(CaptureError) {
        var asked: Set<LibraryLevel> = []
        while true {
            let add = try await authorizationStatus(for: .addOnly)
            let readWrite = try await authorizationStatus(for: .readWrite)
            switch SaveStep.next(add: add, readWrite: readWrite, asked: asked) {
            case .intoAlbum, .intoLibrary: return
            case .ask(let level):
                asked.insert(level)
                do throws(CaptureError) {
                    try await requestAuthorization(for: level)
                } catch {
                    // The next level may still be asked for; of the last one this is the answer.
                    if level == .addOnly || error.code == .unreachable || Task.isCancelled { throw error }
                }
            case .refused where add == .restricted:
                throw CaptureError(
                    .restricted,
                    "policy keeps this program from saving to the media library; see 'capturectl auth explain'"
                )
            case .refused:
                throw CaptureError(
                    .denied,
                    "this program may not save to the media library; to allow that, 'capturectl auth set'"
                )
            }
        }
    }

    /// The recordings that were not saved, the oldest first. For the person at `capturectl` alone: other programs are
    /// refused by `notPermitted`, as with the two that follow.
    public func keptRecordings() async throws(CaptureError) -> [KeptRecording] {
        guard let list = try await call("ListKept", asking: []).first?.elements else {
            throw CaptureDaemon.malformed("ListKept")
        }
        return try list.map { element throws(CaptureError) in try KeptRecording(element.properties ?? [:]) }
    }

    /// Takes recordings that were not saved into the library, and into their albums, once the person has confirmed it;
    /// waits for that. The quota of the program that recorded them does not hold them back.
    ///
    /// - Parameter ids: 1 to 1000, each once.
    /// - Returns: What came of each, in the same order: `badData` where it cannot be understood, `overQuota`,
    ///   `inputOutput`, `busy` while it is still written to; it stays then.
    /// - Throws: `noSuchAsset`; `denied` where the person says no, `dismissed`, `timedOut`, `nobodyToAsk`.
    public func saveKept(_ ids: [KeptRecording.ID]) async throws(CaptureError) -> [KeptOutcome] {
        let result = try await cancellable("SaveKept", "as", [.strings(ids)], asking: []).result
        guard let saved = result["saved"]?.elements?.compactMap(\.properties), saved.count == ids.count else {
            throw CaptureDaemon.malformed("SaveKept")
        }
        return zip(ids, saved).map { id, facts in
            if let code = facts["error"]?.text {
                let error = CaptureError(.init(rawValue: code), facts["message"]?.text ?? "")
                return KeptOutcome(id: id, result: .failure(error))
            }
            let (asset, album) = (facts["id"]?.text, facts["album"]?.text)
            return KeptOutcome(
                id: id,
                result: .success(SavedOutput(asset: asset, album: album, remark: facts["remark"]?.text))
            )
        }
    }

    /// Throws recordings that were not saved away for good, once the person has confirmed it.
    ///
    /// - Parameter ids: 1 to 1000, each once.
    /// - Throws: `noSuchAsset`, `inputOutput`; `denied` where the person says no, `dismissed`, `timedOut`, `nobodyToAsk`.
    public func discardKept(_ ids: [KeptRecording.ID]) async throws(CaptureError) {
        _ = try await cancellable("DiscardKept", "as", [.strings(ids)], asking: [])
    }
}
