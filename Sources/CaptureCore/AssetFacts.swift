/// A program's facts about a file that it adds. Everything may be left out.
public struct AssetFacts: Hashable, Sendable {
    /// The file's name: at most 255 bytes, without a slash or control characters.
    public var name: String?
    /// When it was taken, in milliseconds since 1970; `nil` for what is said inside the file, else for when the file was
    /// last written.
    public var created: Int64?
    /// The device that it was taken with.
    public var device: String?
    /// Where it was taken.
    public var place: MediaPlace?
    /// Whether it is a favourite.
    public var isFavourite: Bool?
    /// The id of an album that it joins, which takes the consent to read and change everything.
    public var album: String?

    /// Nothing said, or just a name.
    public init(name: String? = nil) {
        self.name = name
    }
}

/// Changes to the facts about an asset; a fact that is `nil` here stays as it is.
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

    /// No change, if nothing else is said.
    public init(name: String? = nil, created: Int64? = nil, isFavourite: Bool? = nil, place: MediaPlace? = nil) {
        self.name = name
        self.created = created
        self.isFavourite = isFavourite
        self.place = place
    }
}
