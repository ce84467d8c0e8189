import CaptureBus
public import CaptureCore
import CaptureMessages
public import CaptureSystem

/// A content that the person picked for this program. Thread-safe.
public struct PickedContent: Sendable {
    /// Its file's name.
    public let name: String
    /// The kind of the content.
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
        guard let file = try await library.call("OpenPicked", arguments, asking: []).first?.file else {
            throw CaptureDaemon.malformed("OpenPicked")
        }
        return file
    }
}

/// Picking. The person sees the library outside this program, which learns only what was picked.
extension MediaLibrary {
    /// Lets the person pick from the whole library, and waits for that. Needs no consent, and does not change what this
    /// program may read.
    ///
    /// If the task is cancelled while it waits, the question is withdrawn.
    ///
    /// - Parameters:
    ///   - kinds: The kinds that the person may pick; empty for every kind.
    ///   - limit: How many, 1 to 1000.
    /// - Returns: The picked contents. They can be opened until the program picks again or leaves the bus.
    /// - Throws: `dismissed` if the person picks nothing, `timedOut`, `nobodyToAsk`, `askedTooOften`, `busy` while
    ///   another such question is open; `invalidArgument` for an impossible limit.
    public func pick(
        _ kinds: Set<MediaAssetKind> = [],
        limit: Int = 1
    ) async throws(CaptureError) -> [PickedContent] {
        let options = PickOptions(kinds: kinds, limit: limit)
        let (request, result) = try await cancellable("Pick", [options.busValue])
        guard let facts = PickedFacts(result),
            [facts.names.count, facts.kinds.count, facts.mediaTypes.count, facts.sizes.count]
                .allSatisfy({ $0 == Int(facts.count) })
        else { throw CaptureDaemon.malformed("Pick") }
        return try facts.names.indices.map { index throws(CaptureError) in
            guard let kind = MediaAssetKind(rawValue: facts.kinds[index]) else { throw CaptureDaemon.malformed("Pick") }
            return PickedContent(
                name: facts.names[index],
                kind: kind,
                mediaType: facts.mediaTypes[index],
                size: facts.sizes[index],
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
    /// - Returns: The ids of the newly chosen assets; empty if the person changes nothing.
    /// - Throws: `wrongState` for a program that may read everything, `denied` and `restricted` for one that may read
    ///   nothing, and what `pick(_:limit:)` throws.
    @discardableResult
    public func presentLimitedLibraryPicker() async throws(CaptureError) -> [MediaAsset.ID] {
        guard let choice = ExtendedChoice(try await cancellable("ExtendChoice").result) else {
            throw CaptureDaemon.malformed("ExtendChoice")
        }
        return choice.ids
    }

    /// Lets the person see and change the choice for a program that may only read chosen assets. For `capturectl`.
    ///
    /// - Returns: How many more and how many fewer the program may read now.
    /// - Throws: `notPermitted` for any other program; `wrongState` for one that is not limited; and what
    ///   `pick(_:limit:)` throws.
    public func chooseAssets(for program: String) async throws(CaptureError) -> (chosen: Int, dropped: Int) {
        guard let choice = ChangedChoice(try await cancellable("Choose", [.string(program)]).result) else {
            throw CaptureDaemon.malformed("Choose")
        }
        return (Int(choice.chosen), Int(choice.dropped))
    }
}
