import CaptureBus
public import CaptureCore
import CaptureMessages

extension MediaLibrary {
    /// Asks the person for the consent that saving into the library needs, if that was never decided. It asks for
    /// reading and changing first, which albums need, and for adding if that is refused. Each is asked at most once.
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
        try CaptureDaemon.records(try await call("ListKept", asking: []).first, "ListKept")
    }

    /// Takes recordings that were not saved into the library, and into their albums, once the person has confirmed it;
    /// waits for that. The quota of the program that recorded them does not hold them back.
    ///
    /// - Parameter ids: 1 to 1000, each once.
    /// - Returns: The result for each, in the same order. A recording that is not saved stays: with `badData` if it
    ///   cannot be understood, `overQuota`, `inputOutput`, or `busy` while it is still being written.
    /// - Throws: `noSuchAsset`; `denied` if the person says no, `dismissed`, `timedOut`, `nobodyToAsk`.
    public func saveKept(_ ids: [KeptRecording.ID]) async throws(CaptureError) -> [KeptOutcome] {
        let result = try await cancellable("SaveKept", [.strings(ids)], asking: []).result
        let outcomes: [KeptOutcome] = try CaptureDaemon.records(result["saved"], "SaveKept")
        guard outcomes.count == ids.count else { throw CaptureDaemon.malformed("SaveKept") }
        return zip(ids, outcomes).map { KeptOutcome(id: $0, result: $1.result) }
    }

    /// Throws recordings that were not saved away for good, once the person has confirmed it.
    ///
    /// - Parameter ids: 1 to 1000, each once.
    /// - Throws: `noSuchAsset`, `inputOutput`; `denied` if the person says no, `dismissed`, `timedOut`, `nobodyToAsk`.
    public func discardKept(_ ids: [KeptRecording.ID]) async throws(CaptureError) {
        _ = try await cancellable("DiscardKept", [.strings(ids)], asking: [])
    }
}
