/// The settings of the photos that a program takes with one call.
public struct PhotoSettings: Hashable, Sendable {
    /// The most pictures of a burst.
    public static let longestBurst = 16

    /// `jpeg`, `png`, or `dng`: a sensor's own numbers, of a camera that runs in a Bayer format.
    public var format: String
    /// JPEG's quality, 1 to 100. A camera's own JPEG stays as it is.
    public var quality: Int
    /// How many consecutive pictures are taken, 1 to `longestBurst`, each into a file of its own.
    public var burst: Int
    /// Where in the media library the pictures are saved; `nil` for files of the client's.
    public var library: LibraryDestination?
    /// Bytes that each of the client's files may have, as its own limit for files has it (`ulimit -f`); 0 for no limit.
    public var sizeLimit: Int64

    /// The given settings.
    public init(
        format: String = "jpeg",
        quality: Int = 90,
        burst: Int = 1,
        library: LibraryDestination? = nil,
        sizeLimit: Int64 = 0
    ) {
        self.format = format
        self.quality = quality
        self.burst = burst
        self.library = library
        self.sizeLimit = sizeLimit
    }

    /// The output that takes these pictures.
    public func output(named name: String) -> OutputDescription {
        OutputDescription(
            name: name,
            kind: .photo,
            format: format,
            quality: quality,
            library: library,
            sizeLimit: sizeLimit
        )
    }
}

/// A picture that was taken, as its recorder tells of it.
public struct CapturedPicture: Hashable, Sendable {
    /// When it was captured, in nanoseconds since 1970.
    public var time: Int64
    /// Frames that the camera captured between the picture before it and this one, and that are not there; 0 for the first.
    public var lostBefore: UInt64
    /// The size of its file.
    public var bytes: UInt64

    /// A picture of the given facts.
    public init(time: Int64, lostBefore: UInt64 = 0, bytes: UInt64) {
        self.time = time
        self.lostBefore = lostBefore
        self.bytes = bytes
    }
}

extension CapturedPicture {
    /// As recorders write it: `time:lost:bytes`.
    var text: String { "\(time):\(lostBefore):\(bytes)" }

    /// Reads what a recorder wrote; `nil` for anything else.
    init?(text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let time = Int64(parts[0]), (0...1 << 62).contains(time),
            let lost = UInt64(parts[1]), lost <= 1 << 62, let bytes = UInt64(parts[2]), bytes <= 1 << 62
        else { return nil }
        self.init(time: time, lostBefore: lost, bytes: bytes)
    }
}
