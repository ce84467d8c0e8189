import CaptureBus
public import CaptureCore

/// Albums. To change them takes the consent to read everything; others are told `denied` or `restricted`.
extension MediaLibrary {
    /// The albums that the program may see.
    public func albums() async throws(CaptureError) -> [MediaAlbum] {
        try MediaAlbum.list(try await call("ListAlbums").first)
    }

    /// Makes an album.
    ///
    /// - Parameter name: At most 255 bytes, without a slash or control characters; another album may have it.
    /// - Returns: Its id.
    /// - Throws: `invalidArgument` for a name that cannot be, `overQuota` when there are too many.
    @discardableResult
    public func createAlbum(_ name: String) async throws(CaptureError) -> MediaAlbum.ID {
        guard let id = try await call("CreateAlbum", "s", [.string(name)]).first?.text else {
            throw CaptureDaemon.malformed("CreateAlbum")
        }
        return id
    }

    /// Gives an album another name.
    ///
    /// - Throws: `noSuchAlbum`; `invalidArgument` for a name that cannot be.
    public func renameAlbum(_ id: MediaAlbum.ID, to name: String) async throws(CaptureError) {
        try await call("RenameAlbum", "ss", [.string(id), .string(name)])
    }

    /// Deletes an album; its assets stay.
    ///
    /// - Throws: `noSuchAlbum`.
    public func deleteAlbum(_ id: MediaAlbum.ID) async throws(CaptureError) {
        try await call("DeleteAlbum", "s", [.string(id)])
    }

    /// Adds assets at an album's end; those that are in it stay where they are.
    ///
    /// - Parameters:
    ///   - assets: At most 1000; without one nothing is done.
    ///   - id: The album.
    /// - Throws: `noSuchAlbum`, `noSuchAsset`.
    public func add(_ assets: [MediaAsset.ID], toAlbum id: MediaAlbum.ID) async throws(CaptureError) {
        if assets.isEmpty { return }
        try await call("AddToAlbum", "sas", [.string(id), .strings(assets)])
    }

    /// Takes assets out of an album; in the library they stay.
    ///
    /// - Parameters:
    ///   - assets: At most 1000; without one nothing is done.
    ///   - id: The album.
    /// - Throws: `noSuchAlbum`, `noSuchAsset`.
    public func remove(_ assets: [MediaAsset.ID], fromAlbum id: MediaAlbum.ID) async throws(CaptureError) {
        if assets.isEmpty { return }
        try await call("RemoveFromAlbum", "sas", [.string(id), .strings(assets)])
    }

    /// Puts assets of an album before another of it.
    ///
    /// - Parameters:
    ///   - assets: Which, all of the album, in the order that they are to have; 1000 at most.
    ///   - id: The album.
    ///   - next: The asset before which they come, not one of them; `nil` for the end.
    /// - Throws: `noSuchAlbum`, `noSuchAsset`; `invalidArgument` for one that is not in the album.
    public func move(
        _ assets: [MediaAsset.ID],
        inAlbum id: MediaAlbum.ID,
        before next: MediaAsset.ID?
    ) async throws(CaptureError) {
        if assets.isEmpty { return }
        try await call("MoveInAlbum", "sass", [.string(id), .strings(assets), .string(next ?? "")])
    }
}
