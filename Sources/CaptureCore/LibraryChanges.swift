/// Where the library stood at a moment, as the program sees it: to be kept, over restarts too, and given to
/// `MediaLibrary.changes(since:limit:)`.
public struct LibraryChangeToken: RawRepresentable, Hashable, Sendable, Codable {
    /// The token as text, which means something to the daemon alone.
    public var rawValue: String

    /// A token that was kept as text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// The differences between two moments, in the part of the library that the program may see.
public struct LibraryChanges: Hashable, Sendable {
    /// Assets that came, out of the bin as well.
    public var inserted: [MediaAsset] = []
    /// Assets of which something is different.
    public var changed: [MediaAsset] = []
    /// Assets that were put into an album, taken out, or moved in it; not those of an album that went.
    public var moved: [MediaAsset] = []
    /// The ids of assets that went, into the bin as well.
    public var removed: [MediaAsset.ID] = []
    /// Albums that came.
    public var insertedAlbums: [MediaAlbum] = []
    /// Albums of which something is different, what is in them included.
    public var changedAlbums: [MediaAlbum] = []
    /// The ids of albums that went.
    public var removedAlbums: [MediaAlbum.ID] = []
    /// Where the next difference begins.
    public var token: LibraryChangeToken
    /// Whether nothing is left between `token` and now.
    public var isComplete: Bool

    /// No difference up to a moment.
    public init(token: LibraryChangeToken, isComplete: Bool) {
        self.token = token
        self.isComplete = isComplete
    }

    /// Whether there is no difference.
    public var isEmpty: Bool {
        inserted.isEmpty && changed.isEmpty && moved.isEmpty && removed.isEmpty && insertedAlbums.isEmpty
            && changedAlbums.isEmpty && removedAlbums.isEmpty
    }
}
