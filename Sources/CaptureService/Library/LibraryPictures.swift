import CaptureCore
import CaptureSystem
import MediaLibrary

/// The small pictures of assets, made from the content where there are none yet, or none any more.
struct LibraryPictures: Sendable {
    let libraries: LibraryCatalog
    let importers: Importers
    let turns: LibraryTurns
    /// How many pictures may be made, for programs that want them and for the person who picks.
    let making = BusyLimit(mostOfUser: 32, "32 pictures are already being made; wait for those")

    /// Opens a JPEG of an asset of a user's library.
    ///
    /// - Throws: `noSuchAsset` for one that the scope does not have; `badData` for what cannot be shown.
    func open(
        _ id: String,
        _ size: ThumbnailSize,
        of user: UInt32,
        _ scope: LibraryScope
    ) async throws(CaptureError) -> Descriptor {
        let find = { @Sendable (library: LibraryStore) throws(CaptureError) -> Descriptor? in
            try library.contents.openThumbnail(id, size: size, scope: scope).map { Descriptor(owning: $0) }
        }
        if let picture = try await libraries.use(user, find) { return picture }
        let content = try await libraries.use(user) { library throws(CaptureError) in
            Descriptor(owning: try library.contents.open(id, scope: scope))
        }
        let pictures = try await making.run(for: user) { () throws(CaptureError) in
            try await turns.examine(for: user) { () throws(CaptureError) in
                try await importers.examine(content, isWhole: false).thumbnails
            }
        }
        _ = try await libraries.use(user) { library throws(CaptureError) in
            try library.contents.storeThumbnails(LibraryObject.sized(pictures), of: id, madeFrom: content.descriptor)
        }
        guard let picture = try await libraries.use(user, find) else {
            throw CaptureError(.badData, "asset \(id) has no picture of that size: it cannot be shown")
        }
        return picture
    }
}
