/// What is different between the state that a token stands for and now, each asset and album told once, however much
/// happened to it.
public struct LibraryChanges: Hashable, Sendable {
    /// Assets that have become visible: added, brought back from the bin, or chosen for the reader.
    public var inserted: [Asset]
    /// Assets with other content or of which something else is said.
    public var changed: [Asset]
    /// Assets that joined or left an album or lie elsewhere in one; they may be changed too.
    public var moved: [Asset]
    /// The ids of assets that are not visible any more. One that the client does not know means nothing.
    public var removed: [String]
    /// Albums that have become visible.
    public var insertedAlbums: [AlbumSummary]
    /// Albums that were renamed, or have other assets, or in another order.
    public var changedAlbums: [AlbumSummary]
    /// The ids of albums that are not visible any more.
    public var removedAlbums: [String]
    /// From where to ask on: at once when this is not complete, else at any later time.
    public var token: String
    /// Whether this is all; else the rest is found by asking again with the new token.
    public var isComplete: Bool

    /// Nothing but a token.
    init(token: String, isComplete: Bool) {
        inserted = []
        changed = []
        moved = []
        removed = []
        insertedAlbums = []
        changedAlbums = []
        removedAlbums = []
        self.token = token
        self.isComplete = isComplete
    }

    /// Whether nothing is different.
    public var isEmpty: Bool {
        inserted.isEmpty && changed.isEmpty && moved.isEmpty && removed.isEmpty && insertedAlbums.isEmpty
            && changedAlbums.isEmpty && removedAlbums.isEmpty
    }
}
