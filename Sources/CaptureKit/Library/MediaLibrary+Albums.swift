import CaptureBus
public import CaptureCore
import CaptureMessages

/// Albums. To change them takes the consent to read everything; others are told `denied` or `restricted`.
extension MediaLibrary {
    /// The albums that the program may see.
    public func albums() async throws(CaptureError) -> [MediaAlbum] {
        try CaptureDaemon.records(try await call("ListAlbums").first, "ListAlbums")
    }

    /// Makes an album.
    ///
    /// - Parameter name: At most 255 bytes, without a slash or control characters; another album may have it.
    /// - Returns: Its id.
    /// - Throws: `invalidArgument` for a name that cannot be, `overQuota` when there are too many.
    @discardableResult
    public func createAlbum(_ name: String) async throws(CaptureError) -> MediaAlbum.ID {
        try CaptureDaemon.understood(try await call("CreateAlbum", [.string(name)]).first?.text, "CreateAlbum")
    }

    /// Gives an album another name.
    ///
    /// - Throws: `noSuchAlbum`; `invalidArgument` for a name that cannot be.
    public func renameAlbum(_ id: MediaAlbum.ID, to name: String) async throws(CaptureError) {
        try await call("RenameAlbum", [.string(id), .string(name)])
    }

    /// Deletes an album; its assets stay.
    ///
    /// - Throws: `noSuchAlbum`.
    public func deleteAlbum(_ id: MediaAlbum.ID) async throws(CaptureError) {
        try await call("DeleteAlbum", [.string(id)])
    }

    /// Adds assets to the end of an album; those already in it stay where they are.
    ///
    /// - Parameters:
    ///   - assets: At most 1000; an empty list does nothing.
    ///   - id: The album.
    /// - Throws: `noSuchAlbum`, `noSuchAsset`.
    public func add(_ assets: [MediaAsset.ID], toAlbum id: MediaAlbum.ID) async throws(CaptureError) {
        if assets.isEmpty { return }
        try await call("AddToAlbum", [.string(id), .strings(assets)])
    }

    /// Takes assets out of an album; they stay in the library.
    ///
    /// - Parameters:
    ///   - assets: At most 1000; an empty list does nothing.
    ///   - id: The album.
    /// - Throws: `noSuchAlbum`, `noSuchAsset`.
    public func remove(_ assets: [MediaAsset.ID], fromAlbum id: MediaAlbum.ID) async throws(CaptureError) {
        if assets.isEmpty { return }
        try await call("RemoveFromAlbum", [.string(id), .strings(assets)])
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
        try await call("MoveInAlbum", [.string(id), .strings(assets), .string(next ?? "")])
    }
}
