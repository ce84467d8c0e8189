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
                    if level == .addOnly || error.code == .unreachable { throw error }
                }
            case .refused:
                throw CaptureError(
                    add == .restricted ? .restricted : .denied,
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

    /// Takes a recording that was not saved into the library, and its album, and waits for that.
    ///
    /// - Throws: `noSuchAsset`; `badData` where it cannot be understood, `overQuota`, `inputOutput`; it stays then.
    public func saveKept(_ id: KeptRecording.ID) async throws(CaptureError) -> SavedOutput {
        let result = try await LibraryRequest.start(self, "SaveKept", "s", [.string(id)], asking: []).result()
        return SavedOutput(asset: result["id"]?.text, album: result["album"]?.text, remark: result["remark"]?.text)
    }

    /// Throws a recording that was not saved away.
    ///
    /// - Throws: `noSuchAsset`; `inputOutput`.
    public func discardKept(_ id: KeptRecording.ID) async throws(CaptureError) {
        try await call("DiscardKept", "s", [.string(id)], asking: [])
    }
}
