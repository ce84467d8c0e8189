/// A collection of assets that the person named. An asset may be in several.
public struct MediaAlbum: Hashable, Sendable, Identifiable {
    /// 32 hexadecimal digits.
    public var id = ""
    /// Its name, which another album may have as well.
    public var name = ""
    /// When it was made, in milliseconds since 1970.
    public var created: Int64 = 0
    /// When it was last changed, in milliseconds since 1970.
    public var modified: Int64 = 0
    /// How many assets it has, of those that the program may see.
    public var count: UInt64 = 0

    /// An album of which nothing is known.
    public init() {}
}
