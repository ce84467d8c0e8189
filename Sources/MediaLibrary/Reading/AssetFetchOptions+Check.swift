public import CaptureCore

extension AssetFetchOptions.Order {
    /// What an index or a statement orders by.
    var key: String { self == .name ? "name COLLATE NOCASE" : rawValue }

    /// Its part of the name of an index.
    var word: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

extension AssetFetchOptions {
    /// Refuses what means nothing.
    func check() throws(CaptureError) {
        guard (1...AssetFetchOptions.largestPage).contains(pageSize) else {
            throw CaptureError(
                .invalidArgument,
                "a page of \(pageSize) assets is not possible; ask for 1 to \(AssetFetchOptions.largestPage)"
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
            throw CaptureError(.invalidArgument, "assets only have a position in an album; say in which")
        }
    }

    /// All that a page depends on but its place and size, so that no place of one query is taken for one of another.
    var identity: String {
        let parts: [String] = [
            MediaAssetKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: "+"),
            from.map { "\($0)" } ?? "", until.map { "\($0)" } ?? "", album ?? "", program ?? "",
            isFavourite.map { "\($0)" } ?? "", "\(isBinned)", order.rawValue, "\(isAscending)",
        ]
        return parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
    }
}

/// A page of assets.
public struct AssetPage: Hashable, Sendable {
    /// The assets, in the order of the query.
    public var assets: [MediaAsset] = []
    /// Where the next page begins; `nil` when this is the last. For the same query and the same reader alone, and opaque:
    /// sealed, of the same length whatever it says.
    public var next: String?
}
