import CaptureCore
import GRDB

extension MediaAsset {
    /// What is selected of an asset; goes with `origin`.
    static let columns = """
        asset.id, asset.kind, asset.name, asset.created, asset.modified, asset.added, asset.device, asset.latitude,
        asset.longitude, asset.favourite, asset.program, asset.edit IS NOT NULL AS edited, asset.binned,
        asset.original,
        content.hash, content.kind AS contentKind, content.size, content.mediaType, content.codec, content.width, content.height,
        content.duration
        """

    /// Assets with their current content.
    static let origin = "asset JOIN content ON content.hash = coalesce(asset.edit, asset.original)"

    /// Reads a row of `columns`.
    init(_ row: Row) throws {
        self.init()
        id = try row.decode(forColumn: "id")
        kind = try MediaAssetKind(column: "kind", of: row)
        name = try row.decode(forColumn: "name")
        created = try row.decode(forColumn: "created")
        modified = try row.decode(forColumn: "modified")
        added = try row.decode(forColumn: "added")
        device = try row.decode(forColumn: "device")
        // Of the content, which has one of its own.
        _ = try MediaAssetKind(column: "contentKind", of: row)
        mediaType = try row.decode(forColumn: "mediaType")
        codec = try row.decode(forColumn: "codec")
        width = try row.decode(forColumn: "width")
        height = try row.decode(forColumn: "height")
        duration = try row.decode(forColumn: "duration")
        size = UInt64(clamping: try row.decode(Int64.self, forColumn: "size"))
        if let latitude = try row.decode(Double?.self, forColumn: "latitude") {
            place = try MediaPlace(latitude: latitude, longitude: row.decode(forColumn: "longitude")).checked()
        }
        isFavourite = try row.decode(forColumn: "favourite")
        program = try row.decode(forColumn: "program")
        isEdited = try row.decode(forColumn: "edited")
        sha256 = try row.decode(forColumn: "hash")
        originalSHA256 = isEdited ? try row.decode(forColumn: "original") : nil
        binned = try row.decode(Int64?.self, forColumn: "binned")
    }
}

extension MediaAssetKind {
    /// The kind in a column; an unknown word means that the index is damaged.
    init(column: String, of row: Row) throws {
        let word: String = try row.decode(forColumn: column)
        guard let kind = MediaAssetKind(rawValue: word) else {
            throw CaptureError(.inputOutput, "the media library's index is damaged: '\(word)' is no kind of asset")
        }
        self = kind
    }
}
