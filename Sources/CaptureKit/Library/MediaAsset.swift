/// What an asset is.
public enum MediaAssetKind: String, Hashable, Sendable, CaseIterable {
    /// A picture.
    case photo
    /// Moving pictures, with sound or without.
    case movie
    /// Sound alone.
    case sound
}

/// A place on the earth.
public struct MediaPlace: Hashable, Sendable, Codable {
    /// In degrees, -90 to 90, north of the equator.
    public var latitude: Double
    /// In degrees, -180 to 180, east of Greenwich.
    public var longitude: Double

    /// A place of the given coordinates.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// What the library knows of a photo, a movie or a sound. A value: it does not change with the library.
public struct MediaAsset: Hashable, Sendable, Identifiable {
    /// 32 hexadecimal digits.
    public var id: String
    /// What it is.
    public var kind: MediaAssetKind
    /// Its file's name.
    public var name: String
    /// The type of its content as a MIME type, as in `image/jpeg`.
    public var mediaType: String
    /// As in `mjpeg` or `h264+opus`.
    public var codec: String
    /// When it was taken, in milliseconds since 1970.
    public var created: Int64
    /// When it was last changed, in milliseconds since 1970.
    public var modified: Int64
    /// When it came into the library, in milliseconds since 1970.
    public var added: Int64
    /// In nanoseconds; 0 for a photo.
    public var duration: Int64
    /// In pixels; 0 for a sound.
    public var width: UInt32
    /// In pixels; 0 for a sound.
    public var height: UInt32
    /// Of what is current, in bytes.
    public var size: UInt64
    /// What it was taken with; empty where that is not known.
    public var device: String
    /// Where it was taken; `nil` where that is not known.
    public var place: MediaPlace?
    /// Whether the person marked it as a favourite.
    public var isFavourite: Bool
    /// The id of the program that made it.
    public var program: String
    /// Whether an edit stands in the place of the original.
    public var isEdited: Bool
    /// When it was put into the bin, in milliseconds since 1970; `nil` where it is in none.
    public var binned: Int64?
    /// The SHA-256 of what is current, in hexadecimal digits, by which a copy is known to be whole.
    public var sha256: String
    /// That of the original beside an edit; `nil` without one.
    public var originalSHA256: String?
}

/// How an asset's content is wanted.
public enum AssetVersion: String, Hashable, Sendable, CaseIterable {
    /// With its edit, where there is one.
    case current
    /// As it was added.
    case original
}

/// The sizes of thumbnails, by their longer edge.
public enum ThumbnailSize: String, Hashable, Sendable, CaseIterable {
    /// At most 256 pixels.
    case small
    /// At most 1024 pixels.
    case medium
    /// At most 2048 pixels.
    case large
}

/// A collection of assets that the person named. An asset may be in several.
public struct MediaAlbum: Hashable, Sendable, Identifiable {
    /// 32 hexadecimal digits.
    public var id: String
    /// Its name, which another album may have as well.
    public var name: String
    /// When it was made, in milliseconds since 1970.
    public var created: Int64
    /// When it was last changed, in milliseconds since 1970.
    public var modified: Int64
    /// How many assets it has, of those that the program may see.
    public var count: UInt64
}
