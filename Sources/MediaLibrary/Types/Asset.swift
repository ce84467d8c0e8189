/// A photo, a movie or a sound in the library, as of when it was read. All times are milliseconds since 1970.
public struct Asset: Hashable, Sendable {
    /// What it is called by in calls: 32 hexadecimal digits, random, so that nothing follows from them.
    public var id: String
    /// What it is; the kind of the original, which an edit keeps.
    public var kind: AssetKind
    /// Its file name.
    public var name: String
    /// When it was made: as the program says, else as the file does, else when it was added.
    public var created: Int64
    /// When it, or what is said of it, was last changed.
    public var modified: Int64
    /// When it was added.
    public var added: Int64
    /// Facts of its current content: of the edit where there is one, else of the original.
    public var facts: MediaFacts
    /// Bytes of its current content.
    public var size: Int64
    /// The device that it was made with; empty when nobody said.
    public var device: String
    /// Where it was made, if that is known.
    public var place: Place?
    /// Whether the user marked it.
    public var isFavourite: Bool
    /// The id of the program that added it.
    public var program: String
    /// The SHA-256 of its current content, in hexadecimal digits.
    public var hash: String
    /// That of the original beside an edit; `nil` without one.
    public var originalHash: String?
    /// Whether there is an edit beside the original.
    public var isEdited: Bool
    /// When it was put into the bin; `nil` while it is not there.
    public var binned: Int64?
}

/// Which of an asset's contents is meant.
public enum AssetVersion: String, Hashable, Sendable, CaseIterable {
    /// The edit, where there is one, else the original.
    case current
    /// What was imported.
    case original
}

/// What a reader sees of the library.
public enum LibraryScope: Hashable, Sendable {
    /// Everything.
    case all
    /// What was chosen for the program of this id, and what it added itself.
    case limited(program: String)
    /// Nothing: empty answers, no error.
    case nothing
}
