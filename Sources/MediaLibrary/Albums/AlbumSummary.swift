/// An album as its reader sees it. Times are milliseconds since 1970.
public struct AlbumSummary: Hashable, Sendable {
    /// What it is called by in calls: 32 hexadecimal digits, random.
    public var id: String
    /// Its name; several may have the same.
    public var name: String
    /// When it was made.
    public var created: Int64
    /// When it was renamed, or what the reader sees of it last changed.
    public var modified: Int64
    /// How many assets it has that the reader sees.
    public var count: Int
}
