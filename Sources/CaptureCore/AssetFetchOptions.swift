/// Which assets are fetched, and in what order; without conditions all of them that are not in the bin, the latest first.
public struct AssetFetchOptions: Hashable, Sendable {
    /// The order of the assets.
    public enum Order: String, Hashable, Sendable, CaseIterable {
        /// When they were taken.
        case created
        /// When they came into the library.
        case added
        /// Their names.
        case name
        /// Where they are in the album that is asked for.
        case position
    }

    /// Of these kinds; empty for every kind.
    public var kinds: Set<MediaAssetKind>
    /// Taken then or later, in milliseconds since 1970; `nil` for any time.
    public var from: Int64?
    /// Taken before that, in milliseconds since 1970; `nil` for any time.
    public var until: Int64?
    /// In the album of this id; `nil` for in any or in none.
    public var album: String?
    /// Made by the program of this id; `nil` for any.
    public var program: String?
    /// Favourites alone, or everything else alone; `nil` for both.
    public var isFavourite: Bool?
    /// Those in the bin, in the place of those that are not. For who may read everything.
    public var isBinned: Bool
    /// In what order.
    public var order: Order
    /// Whether the order is from the earliest to the latest, or from A to Z.
    public var isAscending: Bool
    /// How many a page has at most, 1 to 1000.
    public var pageSize: Int

    /// Where the page begins: what the page before said of the next one; `nil` for the first.
    public var page: String?

    /// How many assets a page has at most.
    public static let largestPage = 1000

    /// Options without a condition, if nothing else is said.
    public init(
        kinds: Set<MediaAssetKind> = [],
        from: Int64? = nil,
        until: Int64? = nil,
        album: String? = nil,
        program: String? = nil,
        isFavourite: Bool? = nil,
        isBinned: Bool = false,
        order: Order = .created,
        isAscending: Bool = false,
        pageSize: Int = 100,
        page: String? = nil
    ) {
        self.kinds = kinds
        self.from = from
        self.until = until
        self.album = album
        self.program = program
        self.isFavourite = isFavourite
        self.isBinned = isBinned
        self.order = order
        self.isAscending = isAscending
        self.pageSize = pageSize
        self.page = page
    }
}
