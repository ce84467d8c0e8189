public import CaptureCore
import GRDB

/// An asset with the content that it had at a moment.
public struct AssetContent: Hashable, Sendable {
    /// The asset as it was.
    public let asset: MediaAsset
    let hash: String
}

/// Contents that a person picked for a program, to be opened later.
extension MediaLibrary {
    /// Assets with the contents that they have now, in the order given.
    ///
    /// - Parameters:
    ///   - ids: Those that are gone or in the bin are left out.
    ///   - kinds: Others are left out too; empty for all.
    /// - Throws: `invalidArgument` for what is no id.
    public func contents(of ids: [String], kinds: Set<MediaAssetKind> = []) throws(CaptureError) -> [AssetContent] {
        for id in ids { try LibraryID.check(id, of: "an asset") }
        return try read { database in
            try ids.compactMap { id in
                guard let number = try Visibility.asset(id, "", database) else { return nil }
                let asset = try database.asset(number: number)
                guard asset.binned == nil, kinds.isEmpty || kinds.contains(asset.kind) else { return nil }
                return AssetContent(asset: asset, hash: try database.key(id, .all).content(.current))
            }
        }
    }

    /// Opens the very content that an asset had, whatever was made of it since.
    ///
    /// - Returns: A descriptor, for reading alone; the caller's to close.
    /// - Throws: `noSuchAsset` when the asset or that content is not in the library any more.
    public func open(_ content: AssetContent) throws(CaptureError) -> Int32 {
        let gone = CaptureError(
            .noSuchAsset,
            "'\(content.asset.name)' is not in the media library any more as it was when it was picked"
        )
        let id = content.asset.id
        let isThere = try read { database in
            guard let number = try Visibility.asset(id, "", database) else { return false }
            return try database.asset(number: number).binned == nil
        }
        guard isThere, let file = try folder.openContent(content.hash) else { throw gone }
        return try file.duplicate()
    }
}
