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
    /// An id that the program may keep. `fetch(withIDs:)` finds the asset by it, if the program may read the asset then.
    ///
    /// 88 hexadecimal digits: the same each time the asset is picked for this program, and different for each program.
    /// `nil` for what the person took, which is not in the library.
    public let assetID: String?
    let library: MediaLibrary
    let request: UInt32
    let index: UInt32

    /// The content as it was when it was picked, open for reading from its beginning.
    ///
    /// - Throws: `noSuchAsset` when it is not in the library any more; `invalidArgument` when something else was picked
    ///   for this program's connection since.
    public func open() async throws(CaptureError) -> Descriptor {
        let arguments: [BusValue] = [.uint32(request), .uint32(index)]
        let answer = try await library.call("OpenPicked", arguments, asking: [])
        return try CaptureDaemon.understood(answer.first?.file, "OpenPicked")
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
        try await picked(PickOptions(kinds: kinds, limit: limit))
    }

    /// Has the person take a photo with the camera, and waits for that. Needs no consent: the person sees the camera's
    /// picture in the agent, outside this program, which gets nothing but the photo that the person hands over. It does not
    /// come into the media library.
    ///
    /// If the task is cancelled while it waits, the question is withdrawn, and the camera is off.
    ///
    /// - Returns: A JPEG. It can be opened until the program picks or takes again or leaves the bus.
    /// - Throws: The errors of `pick(_:limit:)`; `restricted` if policy keeps this program from the camera; `switchedOff`
    ///   while cameras are switched off, and `userAway` while the person's session is locked.
    public func takePhoto() async throws(CaptureError) -> PickedContent {
        try await taken(PickOptions(kinds: [.photo], limit: 1, longest: 0))
    }

    /// Has the person take a movie, as `takePhoto` does. It has sound if there is a microphone, policy does not keep this
    /// program from it, and it is not switched off.
    ///
    /// - Parameter maximumDuration: Seconds that it may have at most, 1 to 3600: then it ends by itself.
    /// - Returns: An MP4.
    /// - Throws: As `takePhoto`; `invalidArgument` for an impossible duration.
    public func takeMovie(maximumDuration: Int = 600) async throws(CaptureError) -> PickedContent {
        guard (1...PickOptions.mostSeconds).contains(maximumDuration) else {
            throw CaptureError(
                .invalidArgument,
                "the duration is \(maximumDuration) s; it must be 1 to \(PickOptions.mostSeconds)"
            )
        }
        return try await taken(PickOptions(kinds: [.movie], limit: 1, longest: maximumDuration))
    }

    private func taken(_ options: PickOptions) async throws(CaptureError) -> PickedContent {
        try CaptureDaemon.understood(try await picked(options).first, "Pick")
    }

    private func picked(_ options: PickOptions) async throws(CaptureError) -> [PickedContent] {
        let (request, result) = try await cancellable("Pick", [options.busValue])
        guard let facts = PickedFacts(result),
            [facts.names.count, facts.kinds.count, facts.mediaTypes.count, facts.sizes.count]
                .allSatisfy({ $0 == Int(facts.count) }),
            facts.ids.count == (options.longest == nil ? Int(facts.count) : 0)
        else { throw CaptureDaemon.malformed("Pick") }
        return try facts.names.indices.map { index throws(CaptureError) in
            guard let kind = MediaAssetKind(rawValue: facts.kinds[index]) else { throw CaptureDaemon.malformed("Pick") }
            return PickedContent(
                name: facts.names[index],
                kind: kind,
                mediaType: facts.mediaTypes[index],
                size: facts.sizes[index],
                assetID: facts.ids.isEmpty ? nil : facts.ids[index],
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
        let result = try await cancellable("ExtendChoice").result
        return try CaptureDaemon.understood(ExtendedChoice(result), "ExtendChoice").ids
    }

    /// Lets the person see and change the choice for a program that may only read chosen assets. For `capturectl`.
    ///
    /// - Returns: How many more and how many fewer the program may read now.
    /// - Throws: `notPermitted` for any other program; `wrongState` for one that is not limited; and what
    ///   `pick(_:limit:)` throws.
    public func chooseAssets(for program: String) async throws(CaptureError) -> (chosen: Int, dropped: Int) {
        let result = try await cancellable("Choose", [.string(program)]).result
        let choice = try CaptureDaemon.understood(ChangedChoice(result), "Choose")
        return (Int(choice.chosen), Int(choice.dropped))
    }
}
