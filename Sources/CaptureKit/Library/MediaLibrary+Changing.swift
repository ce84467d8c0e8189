import CaptureBus
public import CaptureCore
import CaptureMessages
public import CaptureSystem

extension MediaLibrary {
    /// Begins to add a file, which is read from its beginning to its end and checked by its content. Needs the consent
    /// to add. If that was never decided, the person is asked, and the import continues after the answer.
    ///
    /// - Parameters:
    ///   - file: Open for reading, or a pipe's end; its position moves as it is read.
    ///   - facts: The program's facts about the file.
    /// - Throws: `invalidArgument` for impossible facts, `busy` if too many imports are running. All other errors come
    ///   with the outcome.
    public func beginAdding(
        _ file: Descriptor,
        _ facts: AssetFacts = AssetFacts()
    ) async throws(CaptureError) -> AssetImport {
        let size = AssetImport.size(of: file)
        let request = try await begin(
            "Import",
            [.descriptor(file), facts.busValue],
            asking: facts.album == nil ? [.addOnly] : [.readWrite, .addOnly]
        )
        return AssetImport(request, file, size)
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
    /// - Parameters:
    ///   - id: The asset.
    ///   - file: Of the same kind as the asset: a photo for a photo.
    /// - Throws: `noSuchAsset`, `denied`.
    public func beginEditing(_ id: MediaAsset.ID, with file: Descriptor) async throws(CaptureError) -> AssetImport {
        let size = AssetImport.size(of: file)
        let request = try await begin("Edit", [.string(id), .descriptor(file)])
        return AssetImport(request, file, size)
    }

    /// Puts another content in the place of an asset's and waits until that is done; see `beginEditing(_:with:)`.
    public func edit(_ id: MediaAsset.ID, with file: Descriptor) async throws(CaptureError) {
        _ = try await beginEditing(id, with: file).outcome()
    }

    /// Shows the original of an asset again, and forgets its edit; does nothing to one without an edit.
    ///
    /// - Throws: `noSuchAsset`; `wrongState` for one in the bin.
    public func revert(_ id: MediaAsset.ID) async throws(CaptureError) {
        try await call("Revert", [.string(id)])
    }

    /// Changes the facts about an asset.
    ///
    /// - Throws: `noSuchAsset`; `invalidArgument` for an impossible name, time or place, or if nothing is to be
    ///   changed.
    public func change(_ id: MediaAsset.ID, _ changes: AssetChanges) async throws(CaptureError) {
        // That is for `removesPlace` alone: who does not know where it was keeps what is known.
        if let place = changes.place, !changes.removesPlace, place.latitude.isNaN, place.longitude.isNaN {
            throw CaptureError(
                .invalidArgument,
                "the place is not a number; give latitude -90 to 90 and longitude -180 to 180, or leave it out"
            )
        }
        try await call("Change", [.string(id), changes.busValue])
    }

    /// Marks an asset as a favourite, or takes the mark away.
    public func setFavourite(_ id: MediaAsset.ID, _ isFavourite: Bool) async throws(CaptureError) {
        var changes = AssetChanges()
        changes.isFavourite = isFavourite
        try await change(id, changes)
    }

    /// Puts assets into the bin if the person confirms it, and waits for that. The bin erases them after 30 days, or
    /// after the time that the administrator has configured. If the task is cancelled while it waits, the question is
    /// withdrawn.
    ///
    /// - Parameter ids: At most 1000; an empty list asks nobody.
    /// - Returns: How many assets were moved, without those already in the bin.
    /// - Throws: `denied` if the person says no, `dismissed`, `timedOut` or `nobodyToAsk` if nobody answered, `busy`
    ///   while the person is being asked another question about the library for this program, `noSuchAsset`.
    @discardableResult
    public func delete(_ ids: [MediaAsset.ID]) async throws(CaptureError) -> Int {
        if ids.isEmpty { return 0 }
        return Int(clamping: try await cancellable("Delete", [.strings(ids)]).result["count"]?.integer ?? 0)
    }

    /// Erases everything in the bin for good if the person confirms it, and waits for that. Only the person can do
    /// this, with `capturectl`; other programs get `notPermitted`.
    ///
    /// - Returns: How many assets were erased.
    /// - Throws: `denied`, `dismissed`, `timedOut`, `nobodyToAsk` if it was not confirmed; `inputOutput`.
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
        return Int(clamping: try await call("Restore", [.strings(ids)]).first?.integer ?? 0)
    }
}
