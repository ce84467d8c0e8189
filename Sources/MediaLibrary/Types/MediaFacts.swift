public import CaptureCore

/// What a content says of itself once it has been examined.
public struct MediaFacts: Hashable, Sendable {
    /// What it is.
    public var kind: MediaAssetKind
    /// Its MIME type, as in `image/jpeg`.
    public var mediaType: String
    /// Its codec or codecs, as in `mjpeg`, `h264+opus`, `flac`.
    public var codec: String
    /// Pixels from side to side as shown; 0 for sound.
    public var width: UInt32
    /// Pixels from top to bottom as shown; 0 for sound.
    public var height: UInt32
    /// How long it lasts, in nanoseconds; 0 for photos.
    public var duration: Int64
    /// When it was made by its own account, in milliseconds since 1970; `nil` when it does not say.
    public var created: Int64?

    /// Facts of a content.
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

extension MediaFacts {
    /// Refuses what cannot be stored; examining would not say it.
    func check() throws(CaptureError) {
        guard duration >= 0 else { throw CaptureError(.badData, "the duration \(duration) ns is negative") }
        try LibraryName.checkText(mediaType, "the media type")
        try LibraryName.checkText(codec, "the codec")
        guard !mediaType.isEmpty else { throw CaptureError(.badData, "the media type is not known") }
    }

    /// When it was made by its own account, if that can be.
    var plausibleCreation: Int64? {
        guard let created, (try? AssetDraft.checkTime(created)) != nil else { return nil }
        return created
    }
}
