public import CaptureBus
public import CaptureCore

extension AssetFetchOptions: BusCodable {
    /// `kinds` as, `from` and `until` x, `album`, `program` and `page` s, `favourite` and `binned` b, `order` s,
    /// `ascending` b, `limit` u.
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "a query")
        self.init()
        kinds = try reader.assetKinds()
        from = try reader.number("from", Int64.min...Int64.max)
        until = try reader.number("until", Int64.min...Int64.max)
        album = try reader.text("album")
        program = try reader.text("program", longest: 4096)
        isFavourite = try reader.flag("favourite")
        isBinned = try reader.flag("binned") ?? false
        order = try reader.word("order", Order.self) ?? order
        isAscending = try reader.flag("ascending") ?? false
        pageSize = try reader.number("limit", 1...AssetFetchOptions.largestPage) ?? pageSize
        page = try reader.text("page", longest: 1024)
        try reader.end()
    }

    /// The query of a call that counts: in which order, how many at once and from where is not looked at.
    ///
    /// - Throws: `.invalidArgument` that names the key.
    public init(counting value: BusValue) throws(CaptureError) {
        let ignored: Set<String> = ["order", "limit", "page"]
        let facts = value.properties?.filter { !ignored.contains($0.key) }
        try self.init(busValue: facts.map { .properties($0) } ?? value)
    }

    /// The query as `a{sv}`.
    public var busValue: BusValue {
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
        query["page"] = page.map { .string($0) }
        return .properties(query)
    }
}

extension PropertyReader {
    /// The kinds of assets that are wanted; empty for all.
    mutating func assetKinds() throws(CaptureError) -> Set<MediaAssetKind> {
        var kinds: Set<MediaAssetKind> = []
        for word in try texts("kinds", most: MediaAssetKind.allCases.count) ?? [] {
            guard let kind = MediaAssetKind(rawValue: word) else {
                throw fault("kinds", "among \(MediaAssetKind.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            kinds.insert(kind)
        }
        return kinds
    }
}
