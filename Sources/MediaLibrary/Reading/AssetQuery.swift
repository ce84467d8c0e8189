import CaptureCore

/// What a page of assets is ordered by; what is equal there, by when it was added.
public enum AssetOrder: String, Hashable, Sendable, CaseIterable {
    /// By when they were made.
    case created
    /// By when they were added.
    case added
    /// By their file names, in which small and capital letters of ASCII are the same.
    case name
    /// As they lie in the album that is asked for.
    case position

    /// What an index or a statement orders by.
    var key: String { self == .name ? "name COLLATE NOCASE" : rawValue }

    /// Its part of the name of an index.
    var word: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// Which assets are wanted, and in which order. What is `nil` or empty filters nothing.
public struct AssetQuery: Hashable, Sendable {
    /// The kinds that are wanted; empty for all.
    public var kinds: Set<AssetKind>
    /// Made at this moment or later, in milliseconds since 1970.
    public var from: Int64?
    /// Made before this moment, in milliseconds since 1970.
    public var until: Int64?
    /// The id of the album that they are in.
    public var album: String?
    /// The id of the program that added them.
    public var program: String?
    /// Marked by the user, or not.
    public var isFavourite: Bool?
    /// Whether those in the bin are wanted in the place of those that are not; for readers that see everything.
    public var isBinned: Bool
    /// What they are ordered by.
    public var order: AssetOrder
    /// Whether the oldest, or the first by name or position, comes first.
    public var ascending: Bool
    /// How many make a page: 1 to 1,000.
    public var limit: Int
    /// Where the page begins: `AssetPage.next` of the one before; `nil` for the first.
    public var page: String?

    /// How many a page has at most.
    public static let largestPage = 1000

    /// Everything that is not in the bin, the newest first, if nothing else is said.
    public init(
        kinds: Set<AssetKind> = [],
        from: Int64? = nil,
        until: Int64? = nil,
        album: String? = nil,
        program: String? = nil,
        isFavourite: Bool? = nil,
        isBinned: Bool = false,
        order: AssetOrder = .created,
        ascending: Bool = false,
        limit: Int = 100,
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
        self.ascending = ascending
        self.limit = limit
        self.page = page
    }

    /// Refuses what means nothing.
    func check() throws(CaptureError) {
        guard (1...AssetQuery.largestPage).contains(limit) else {
            throw CaptureError(
                .invalidArgument,
                "a page of \(limit) assets is not possible; ask for 1 to \(AssetQuery.largestPage)"
            )
        }
        if let from, let until, from >= until {
            throw CaptureError(
                .invalidArgument,
                "the dates from \(from) until \(until) hold nothing; the second has to be later"
            )
        }
        if let album { try LibraryID.check(album, of: "an album") }
        if program?.isEmpty == true {
            throw CaptureError(.invalidArgument, "the program that assets were made by has an empty id; leave it out")
        }
        guard order != .position || album != nil else {
            throw CaptureError(.invalidArgument, "assets have a position in an album alone; say in which")
        }
    }

    /// All that a page depends on but its place and size, so that no place of one query is taken for one of another.
    var identity: String {
        let parts: [String] = [
            AssetKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: "+"),
            from.map { "\($0)" } ?? "", until.map { "\($0)" } ?? "", album ?? "", program ?? "",
            isFavourite.map { "\($0)" } ?? "", "\(isBinned)", order.rawValue, "\(ascending)",
        ]
        return parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
    }
}

/// A page of assets.
public struct AssetPage: Hashable, Sendable {
    /// The assets, in the order of the query.
    public var assets: [Asset]
    /// Where the next page begins; `nil` when this is the last. For the same query and the same reader alone, and opaque:
    /// sealed, of the same length whatever it says.
    public var next: String?

    /// A page of assets.
    public init(assets: [Asset] = [], next: String? = nil) {
        self.assets = assets
        self.next = next
    }
}
