/// The content of a media file, as the process that examined it reports.
public struct ExaminedMedia: Hashable, Sendable {
    /// The largest width and height, in pixels.
    public static let largestSide: UInt32 = 65_535
    /// The most pixels of a picture.
    public static let mostPixels: Int64 = 1 << 30
    /// How many thumbnails come with a file.
    public static let thumbnailCount = 3
    /// The longest edges of the thumbnails, in pixels, in the order in which they come.
    public static let thumbnailEdges: [Int] = [256, 1024, 2048]
    /// The most bytes of one thumbnail: what its pixels take without any compression, and a header.
    public static let largestThumbnail = 2048 * 2048 * 3 + 65_536

    /// Photo, movie or sound.
    public var kind: MediaAssetKind
    /// The media type (MIME), as in `image/jpeg`.
    public var mediaType: String
    /// The codecs as libavcodec names them, those of pictures first: `mjpeg`, `h264+opus`, `flac`.
    public var codec: String
    /// Width in pixels as it is to be shown, turned upright; 0 for sound.
    public var width: UInt32
    /// Height in pixels as it is to be shown, turned upright; 0 for sound.
    public var height: UInt32
    /// Length in nanoseconds; 0 for photos.
    public var duration: Int64
    /// When it was captured, in milliseconds since 1970, as the file itself says; `nil` when it does not.
    public var created: Int64?

    /// Facts of a file.
    public init(
        kind: MediaAssetKind,
        mediaType: String,
        codec: String,
        width: UInt32 = 0,
        height: UInt32 = 0,
        duration: Int64 = 0,
        created: Int64? = nil
    ) {
        self.kind = kind
        self.mediaType = mediaType
        self.codec = codec
        self.width = width
        self.height = height
        self.duration = duration
        self.created = created
    }
}

extension ExaminedMedia {
    /// Dates are from the year 1 to the year 9999.
    private static let dates: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    var pairs: [(String, String)] {
        [
            ("kind", kind.rawValue), ("type", mediaType), ("codec", codec), ("width", "\(width)"),
            ("height", "\(height)"), ("duration", "\(duration)"), ("created", created.map { "\($0)" } ?? ""),
        ]
    }

    /// Reads the facts from a report, and checks each: whoever sends them had a stranger's bytes to work on.
    init(_ words: inout MessageWords) throws(CaptureError) {
        let name = try words.word("kind")
        guard let kind = MediaAssetKind(rawValue: name) else {
            throw CaptureError(.badData, "'\(name)' is no kind of media; those are photo, movie and sound")
        }
        self.kind = kind
        mediaType = try words.word("type")
        codec = try words.word("codec")
        width = try words.number("width", in: 0...Self.largestSide)
        height = try words.number("height", in: 0...Self.largestSide)
        duration = try words.number("duration", in: Int64(0)...)
        let date = try words.word("created")
        created = date.isEmpty ? nil : Int64(date)
        guard date.isEmpty || created.map(Self.dates.contains) == true else {
            throw CaptureError(.badData, "'\(date)' is no date in milliseconds since 1970")
        }
        for text in [mediaType, codec] where !Self.isName(text) {
            throw CaptureError(.badData, "'\(text)' is neither a media type nor a codec")
        }
        let hasPicture = kind != .sound
        guard (width > 0) == hasPicture, (height > 0) == hasPicture, kind != .photo || duration == 0 else {
            throw CaptureError(.badData, "a \(kind.rawValue) is not \(width) x \(height) and \(duration) ns long")
        }
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || "/+-._".utf8.contains($0)
            }
    }
}
