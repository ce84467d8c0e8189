import CaptureBus
public import CaptureCore
public import CaptureSystem

/// A content that the person picked for this program. Thread-safe.
public struct PickedContent: Sendable {
    /// Its file's name.
    public let name: String
    /// What it is.
    public let kind: MediaAssetKind
    /// The type of its content as a MIME type, as in `image/jpeg`.
    public let mediaType: String
    /// In bytes.
    public let size: UInt64
    let library: MediaLibrary
    let request: UInt32
    let index: UInt32

    /// The content as it was when it was picked, open for reading from its beginning.
    ///
    /// - Throws: `noSuchAsset` when it is not in the library any more; `invalidArgument` when something else was picked
    ///   for this program's connection since.
    public func open() async throws(CaptureError) -> Descriptor {
        let arguments: [BusValue] = [.uint32(request), .uint32(index)]
        guard let file = try await library.call("OpenPicked", "uu", arguments, asking: []).first?.file else {
            throw CaptureDaemon.malformed("OpenPicked")
        }
        return file
    }
}

/// What the person picks. It is shown outside of this program, which learns of nothing else.
extension MediaLibrary {
    /// Has the person pick from the whole library, and waits for that. Takes no consent, and what this program may read
    /// stays as it was.
    ///
    /// A task that is cancelled while it waits takes the question back.
    ///
    /// - Parameters:
    ///   - kinds: What may be picked; empty for everything.
    ///   - limit: How many, 1 to 1000.
    /// - Returns: What was picked, which can be opened until something else is picked or the bus is left.
    /// - Throws: `dismissed` when the person picks nothing, `timedOut`, `nobodyToAsk`, `askedTooOften`, `busy` while
    ///   another such question stands; `invalidArgument` for a limit that cannot be.
    public func pick(
        _ kinds: Set<MediaAssetKind> = [],
        limit: Int = 1
    ) async throws(CaptureError) -> [PickedContent] {
        var options: [String: BusValue] = ["limit": .int64(Int64(limit))]
        if !kinds.isEmpty { options["kinds"] = .strings(kinds.map(\.rawValue).sorted()) }
        let (request, result) = try await cancellable("Pick", "a{sv}", [.properties(options)])
        let names = result["names"]?.texts ?? []
        let words = result["kinds"]?.texts ?? []
        let types = result["media-types"]?.texts ?? []
        let sizes = (result["sizes"]?.elements ?? []).compactMap(\.unsigned)
        let count = Int(clamping: result["count"]?.integer ?? -1)
        guard [names.count, words.count, types.count, sizes.count].allSatisfy({ $0 == count }) else {
            throw CaptureDaemon.malformed("Pick")
        }
        return try names.indices.map { index throws(CaptureError) in
            guard let kind = MediaAssetKind(rawValue: words[index]) else { throw CaptureDaemon.malformed("Pick") }
            return PickedContent(
                name: names[index],
                kind: kind,
                mediaType: types[index],
                size: sizes[index],
                library: self,
                request: request,
                index: UInt32(clamping: index)
            )
        }
    }

    /// Has the person choose more of the library for this program, which may read chosen assets alone, and waits for that.
    ///
    /// A task that is cancelled while it waits takes the question back.
    ///
    /// - Returns: The ids of what was newly chosen; empty where the person keeps it as it is.
    /// - Throws: `wrongState` for a program that may read everything, `denied` and `restricted` for one that may read
    ///   nothing, and what `pick(_:limit:)` throws.
    @discardableResult
    public func presentLimitedLibraryPicker() async throws(CaptureError) -> [MediaAsset.ID] {
        try await cancellable("ExtendChoice").result["ids"]?.texts ?? []
    }

    /// Has the person see and change what is chosen for a program that may read chosen assets alone. For `capturectl`.
    ///
    /// - Returns: How many more and how many fewer the program may read now.
    /// - Throws: `notPermitted` for any other program; `wrongState` for one that is not limited; and what
    ///   `pick(_:limit:)` throws.
    public func chooseAssets(for program: String) async throws(CaptureError) -> (chosen: Int, dropped: Int) {
        let result = try await cancellable("Choose", "s", [.string(program)]).result
        return (Int(clamping: result["chosen"]?.integer ?? 0), Int(clamping: result["dropped"]?.integer ?? 0))
    }
}
