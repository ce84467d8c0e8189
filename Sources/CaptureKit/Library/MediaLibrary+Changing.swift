import CaptureBus
public import CaptureCore
public import CaptureSystem

/// What is to be changed of what is known of an asset; what is `nil` stays.
public struct AssetChanges: Hashable, Sendable {
    /// Another name.
    public var name: String?
    /// Another time at which it was taken, in milliseconds since 1970.
    public var created: Int64?
    /// Another place.
    public var place: MediaPlace?
    /// No place any more; another one is not looked at then.
    public var removesPlace = false
    /// A favourite, or none any more.
    public var isFavourite: Bool?

    /// No change.
    public init() {}
}

extension MediaLibrary {
    /// Begins to add a file, which is read from its beginning to its end and checked by its content. Takes the consent to
    /// add; what was never decided is asked for, and the import goes on when there is an answer.
    ///
    /// - Parameters:
    ///   - file: Open for reading, or a pipe's end; its position moves as it is read.
    ///   - facts: What is known of it.
    /// - Throws: `invalidArgument` for facts that cannot be, `busy` when too many are under way; everything else comes with
    ///   the outcome.
    public func beginAdding(
        _ file: Descriptor,
        _ facts: AssetFacts = AssetFacts()
    ) async throws(CaptureError) -> AssetImport {
        let size = AssetImport.size(of: file)
        let request = try await LibraryRequest.start(
            self,
            "Import",
            "ha{sv}",
            [.descriptor(file), facts.busValue],
            asking: facts.album == nil ? [.addOnly] : [.readWrite, .addOnly]
        )
        return AssetImport(self, request, file, size)
    }

    /// Adds a file and waits until it is in the library; see `beginAdding(_:_:)`. Stops when the task is cancelled.
    ///
    /// - Returns: The asset's id, for a program that may read it; `nil` for one that may only add.
    @discardableResult
    public func add(
        _ file: Descriptor,
        _ facts: AssetFacts = AssetFacts()
    ) async throws(CaptureError) -> MediaAsset.ID? {
        try await beginAdding(file, facts).outcome()
    }

    /// Begins to put another content in the place of an asset's; the original stays beside it.
    ///
    /// - Parameter file: Of the same kind as the asset: a photo for a photo.
    /// - Throws: `noSuchAsset`, `denied`.
    public func beginEditing(_ id: MediaAsset.ID, with file: Descriptor) async throws(CaptureError) -> AssetImport {
        let size = AssetImport.size(of: file)
        let request = try await LibraryRequest.start(self, "Edit", "sh", [.string(id), .descriptor(file)])
        return AssetImport(self, request, file, size)
    }

    /// Puts another content in the place of an asset's and waits until that is done; see `beginEditing(_:with:)`.
    public func edit(_ id: MediaAsset.ID, with file: Descriptor) async throws(CaptureError) {
        _ = try await beginEditing(id, with: file).outcome()
    }

    /// Shows the original of an asset again, and forgets its edit; does nothing to one without an edit.
    ///
    /// - Throws: `noSuchAsset`; `wrongState` for one in the bin.
    public func revert(_ id: MediaAsset.ID) async throws(CaptureError) {
        try await call("Revert", "s", [.string(id)])
    }

    /// Changes what is known of an asset.
    ///
    /// - Throws: `noSuchAsset`; `invalidArgument` for a name, time or place that cannot be, and for no change at all.
    public func change(_ id: MediaAsset.ID, _ changes: AssetChanges) async throws(CaptureError) {
        var facts: [String: BusValue] = [:]
        facts["name"] = changes.name.map { .string($0) }
        facts["created"] = changes.created.map { .int64($0) }
        let nowhere = BusValue.structure([.double(.nan), .double(.nan)])
        // That is for `removesPlace` alone: who does not know where it was keeps what is known.
        if let place = changes.place, !changes.removesPlace, place.latitude.isNaN, place.longitude.isNaN {
            throw CaptureError(
                .invalidArgument,
                "a place of no numbers cannot be; give degrees, -90 to 90 and -180 to 180, or leave it out"
            )
        }
        facts["place"] = changes.removesPlace ? nowhere : changes.place?.busValue
        facts["favourite"] = changes.isFavourite.map { .bool($0) }
        try await call("Change", "sa{sv}", [.string(id), .properties(facts)])
    }

    /// Marks an asset as a favourite, or takes the mark away.
    public func setFavourite(_ id: MediaAsset.ID, _ isFavourite: Bool) async throws(CaptureError) {
        var changes = AssetChanges()
        changes.isFavourite = isFavourite
        try await change(id, changes)
    }

    /// Puts assets into the bin, when the person confirms it, and waits for that. They are gone after 30
    /// days, or what the administrator has configured. A task that is cancelled while it waits takes the question back.
    ///
    /// - Parameter ids: At most 1000; without one nobody is asked.
    /// - Returns: How many went; those in the bin already do not count.
    /// - Throws: `denied` when the person does not want it, `dismissed`, `timedOut` or `nobodyToAsk` when nobody
    ///   confirmed it, `busy` while another question about the library stands for this program, `noSuchAsset`.
    @discardableResult
    public func delete(_ ids: [MediaAsset.ID]) async throws(CaptureError) -> Int {
        if ids.isEmpty { return 0 }
        return Int(clamping: try await cancellable("Delete", "as", [.strings(ids)]).result["count"]?.integer ?? 0)
    }

    /// Erases what is in the bin for good, before its time, when the person confirms it, and waits for that. For the
    /// person at `capturectl` alone: other programs are refused by `notPermitted`.
    ///
    /// - Returns: How many assets went.
    /// - Throws: `denied`, `dismissed`, `timedOut`, `nobodyToAsk` when it was not confirmed; `inputOutput`.
    @discardableResult
    public func emptyBin() async throws(CaptureError) -> Int {
        Int(clamping: try await cancellable("EmptyBin", asking: []).result["count"]?.integer ?? 0)
    }

    /// Takes assets out of the bin. For who may read everything.
    ///
    /// - Parameter ids: At most 1000.
    /// - Returns: How many were in it.
    /// - Throws: `noSuchAsset`, `denied`.
    @discardableResult
    public func restore(_ ids: [MediaAsset.ID]) async throws(CaptureError) -> Int {
        if ids.isEmpty { return 0 }
        return Int(clamping: try await call("Restore", "as", [.strings(ids)]).first?.integer ?? 0)
    }
}
