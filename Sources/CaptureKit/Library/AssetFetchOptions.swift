import CaptureBus

/// Which assets are fetched, and in what order; without conditions all of them that are not in the bin, the latest first.
public struct AssetFetchOptions: Hashable, Sendable {
    /// What assets stand in the order of.
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
    public var kinds: Set<MediaAssetKind> = []
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
    public var isBinned = false
    /// In what order.
    public var order: Order = .created
    /// Whether the order is from the earliest to the latest, or from A to Z.
    public var isAscending = false
    /// How many a page has at most, 1 to 1000.
    public var pageSize = 100

    /// Options without a condition.
    public init() {}

    /// As a query of the bus, for the page that `cursor` names; the first one without it.
    func query(page cursor: String? = nil) -> BusValue {
        var query: [String: BusValue] = [
            "order": .string(order.rawValue), "ascending": .bool(isAscending),
            "limit": .uint32(UInt32(clamping: pageSize)),
        ]
        if !kinds.isEmpty { query["kinds"] = .strings(kinds.map(\.rawValue).sorted()) }
        query["from"] = from.map { .int64($0) }
        query["until"] = until.map { .int64($0) }
        query["album"] = album.map { .string($0) }
        query["program"] = program.map { .string($0) }
        query["favourite"] = isFavourite.map { .bool($0) }
        if isBinned { query["binned"] = .bool(true) }
        query["page"] = cursor.map { .string($0) }
        return .properties(query)
    }
}
