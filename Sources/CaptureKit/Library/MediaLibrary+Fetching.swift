import CaptureBus
public import CaptureCore
import CaptureMessages
public import CaptureSystem

/// Some of the assets that were asked for.
public struct AssetPage: Hashable, Sendable {
    /// In the order that was asked for.
    public var assets: [MediaAsset]
    /// The cursor for the next page, which `fetch(_:page:)` takes; `nil` on the last page.
    public var next: String?
    /// How the program stands with reading, which tells why there may be none.
    public var status: AuthorizationStatus
}

/// The pages of a fetch, each fetched when it is wanted.
public struct AssetPages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = AssetPage
    /// The error of a refused call.
    public typealias Failure = CaptureError

    let library: MediaLibrary
    let options: AssetFetchOptions

    /// Goes from page to page.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let library: MediaLibrary
        let options: AssetFetchOptions
        var cursor: String?
        var isAtEnd = false

        /// The next page; `nil` after the last one. The first may be empty, and is there always.
        public mutating func next() async throws(CaptureError) -> AssetPage? {
            try await next(isolation: nil)
        }

        /// The next page; `nil` after the last one.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(CaptureError) -> AssetPage? {
            guard !isAtEnd else { return nil }
            let page = try await library.fetch(options, page: cursor)
            // A page that names itself as the next one would never end.
            guard page.next == nil || page.next != cursor else { throw CaptureDaemon.malformed("Fetch") }
            cursor = page.next
            isAtEnd = page.next == nil
            return page
        }
    }

    /// From the first page on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(library: library, options: options)
    }
}

extension MediaLibrary {
    /// A page of assets.
    ///
    /// - Parameters:
    ///   - options: Which, and in what order.
    ///   - cursor: The `next` of the page before; `nil` for the first page.
    /// - Throws: `noSuchAlbum` for an album that is not there, `invalidArgument` for options that are out of range,
    ///   `staleToken` for a cursor that is not of these options.
    public func fetch(
        _ options: AssetFetchOptions = AssetFetchOptions(),
        page cursor: String? = nil
    ) async throws(CaptureError) -> AssetPage {
        let answer = try await call("Fetch", [options.from(cursor).busValue])
        guard answer.count == 3, let next = answer[1].text,
            let status = AuthorizationPanel.status(answer[2])
        else { throw CaptureDaemon.malformed("Fetch") }
        return AssetPage(
            assets: try CaptureDaemon.records(answer[0], "Fetch"),
            next: next.isEmpty ? nil : next,
            status: status
        )
    }

    /// The assets of some ids, as far as the program may see them. If reading is undecided, asks first.
    ///
    /// A program that was refused reading finds nothing, and a limited one finds the chosen assets and its own.
    ///
    /// - Parameter ids: The `assetID` of what was picked for this program, and ids of assets; 1 to 1000, each once.
    /// - Returns: One page, in the order of the ids. Assets that are gone, in the bin or not visible are left out, and so
    ///   is any text that is no id of this program.
    /// - Throws: `invalidArgument` for too many ids, none, or one given twice.
    public func fetch(withIDs ids: [String]) async throws(CaptureError) -> AssetPage {
        let answer = try await call("GetAssets", [.strings(ids)])
        guard answer.count == 2, let status = AuthorizationPanel.status(answer[1]) else {
            throw CaptureDaemon.malformed("GetAssets")
        }
        return AssetPage(assets: try CaptureDaemon.records(answer[0], "GetAssets"), next: nil, status: status)
    }

    /// All pages of assets, one after the other.
    public func pages(_ options: AssetFetchOptions = AssetFetchOptions()) -> AssetPages {
        AssetPages(library: self, options: options)
    }

    /// The number of assets that the program may see.
    ///
    /// - Parameter options: Which; their order and page size do not matter.
    public func count(_ options: AssetFetchOptions = AssetFetchOptions()) async throws(CaptureError) -> UInt64 {
        try CaptureDaemon.understood(try await call("Count", [options.busValue]).first?.unsigned, "Count")
    }

    /// The facts about one asset.
    ///
    /// - Throws: `noSuchAsset` for one that does not exist or that the program may not see.
    public func asset(_ id: MediaAsset.ID) async throws(CaptureError) -> MediaAsset {
        let answer = try await call("GetAsset", [.string(id)])
        return try CaptureDaemon.understood(answer.first.flatMap(MediaAsset.init), "GetAsset")
    }

    /// The ids that begin with some digits, as a person types them.
    ///
    /// - Parameters:
    ///   - beginnings: The first 6 to 32 digits of ids, hexadecimal and in lower case; 1 to 1000, each once.
    ///   - isBinned: Whether those in the bin are looked for, in place of the others.
    /// - Returns: In the order of the beginnings, ten of each at most; none of what the program may not see.
    /// - Throws: `invalidArgument` for what no id begins with; `notPermitted` for the bin, to a program that does not see
    ///   everything.
    public func ids(
        beginningWith beginnings: [String],
        isBinned: Bool = false
    ) async throws(CaptureError) -> [MediaAsset.ID] {
        let answer = try await call("FindAssets", [.strings(beginnings), .bool(isBinned)])
        return try CaptureDaemon.understood(answer.first?.texts, "FindAssets")
    }

    /// An asset's content, open for reading from its beginning.
    ///
    /// - Throws: `noSuchAsset`; `inputOutput` when it is not there any more.
    public func contents(
        of id: MediaAsset.ID,
        version: AssetVersion = .current
    ) async throws(CaptureError) -> Descriptor {
        try await file("Open", id, version.rawValue)
    }

    /// A JPEG picture of an asset, open for reading from its beginning.
    ///
    /// - Throws: `noSuchAsset`; `badData` if the asset has no picture.
    public func thumbnail(
        of id: MediaAsset.ID,
        size: ThumbnailSize = .small
    ) async throws(CaptureError) -> Descriptor {
        try await file("Thumbnail", id, size.rawValue)
    }

    private func file(_ member: String, _ id: String, _ word: String) async throws(CaptureError) -> Descriptor {
        try CaptureDaemon.understood(try await call(member, [.string(id), .string(word)]).first?.file, member)
    }
}

extension AssetFetchOptions {
    /// The same, from a page on.
    ///
    /// - Parameter cursor: What the page before said of the next one; `nil` for the page that the options name.
    package func from(_ cursor: String?) -> AssetFetchOptions {
        var options = self
        options.page = cursor ?? page
        return options
    }
}
