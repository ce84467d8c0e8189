/// The kind of an asset.
public enum MediaAssetKind: String, Hashable, Sendable, CaseIterable, Codable {
    /// One picture; of those that move by themselves, the first.
    case photo
    /// Pictures in time, with or without sound.
    case movie
    /// Sound alone; a cover does not count.
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

    /// The same, if it is on the earth.
    ///
    /// - Throws: `invalidArgument` for a latitude beyond 90 or a longitude beyond 180 degrees, or none at all.
    public func checked() throws(CaptureError) -> MediaPlace {
        guard (-90...90).contains(latitude) else {
            throw CaptureError(.invalidArgument, "the latitude \(latitude) is not between -90 and 90 degrees")
        }
        guard (-180...180).contains(longitude) else {
            throw CaptureError(.invalidArgument, "the longitude \(longitude) is not between -180 and 180 degrees")
        }
        return self
    }
}

/// The library's facts about a photo, a movie or a sound. A value: it does not change with the library.
public struct MediaAsset: Hashable, Sendable, Identifiable {
    /// 32 hexadecimal digits.
    public var id: String
    /// Its kind.
    public var kind = MediaAssetKind.photo
    /// Its file's name.
    public var name = ""
    /// The type of its content as a MIME type, as in `image/jpeg`.
    public var mediaType = ""
    /// As in `mjpeg` or `h264+opus`.
    public var codec = ""
    /// When it was taken, in milliseconds since 1970.
    public var created: Int64 = 0
    /// When it was last changed, in milliseconds since 1970.
    public var modified: Int64 = 0
    /// When it came into the library, in milliseconds since 1970.
    public var added: Int64 = 0
    /// In nanoseconds; 0 for a photo.
    public var duration: Int64 = 0
    /// In pixels; 0 for a sound.
    public var width: UInt32 = 0
    /// In pixels; 0 for a sound.
    public var height: UInt32 = 0
    /// Of what is current, in bytes.
    public var size: UInt64 = 0
    /// The device that it was taken with; empty if unknown.
    public var device = ""
    /// Where it was taken; `nil` if unknown.
    public var place: MediaPlace?
    /// Whether the person marked it as a favourite.
    public var isFavourite = false
    /// The id of the program that made it.
    public var program = ""
    /// Whether an edit stands in the place of the original.
    public var isEdited = false
    /// When it was put into the bin, in milliseconds since 1970; `nil` if it is not in the bin.
    public var binned: Int64?
    /// The SHA-256 of what is current, in hexadecimal digits, by which a copy is known to be whole.
    public var sha256 = ""
    /// That of the original beside an edit; `nil` without one.
    public var originalSHA256: String?
}

extension MediaAsset {
    /// An asset of which nothing is known.
    public init() { self.init(id: "") }
}

/// How an asset's content is wanted.
public enum AssetVersion: String, Hashable, Sendable, CaseIterable {
    /// With its edit, if it has one.
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

    /// Pixels of its longer edge, at most.
    public var edge: UInt32 {
        switch self {
        case .small: 256
        case .medium: 1024
        case .large: 2048
        }
    }
}
