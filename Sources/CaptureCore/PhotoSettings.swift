/// The settings of the photos that a program takes with one call.
public struct PhotoSettings: Hashable, Sendable {
    /// The most pictures of a burst.
    public static let longestBurst = 16
    /// The most files of one call: a burst with companions has at most half as many pictures.
    public static let mostFiles = 16
    /// How much darker or brighter the pictures of a bracket may be, in EV: stops of exposure.
    public static let biases: ClosedRange<Double> = -8...8
    /// The formats of a companion, and those that can have one.
    public static let pairedFormats = ["jpeg", "png", "dng"]

    /// `jpeg`, `png`, or `dng`: a sensor's own numbers, of a camera that runs in a Bayer format.
    public var format: String
    /// JPEG's quality, 1 to 100. A camera's own JPEG stays as it is.
    public var quality: Int
    /// The size in which the camera delivers the pictures, one that it has. If it runs in another one, it changes for these
    /// pictures: other outputs of the session get nothing meanwhile, which is counted. `nil` for the size that it has.
    public var size: PictureSize?
    /// How many consecutive pictures are taken, 1 to `longestBurst`, each into a file of its own.
    public var burst: Int
    /// The format of a second file of each picture, which is made of the same frame: `jpeg` beside a `dng`, for example. One
    /// of `pairedFormats`; `nil` for one file. For the library only a `jpeg` with a `dng`, which then has it inside.
    public var companion: String?
    /// A picture for each of these exposures, in this order: in EV, so many stops brighter than the camera's own exposure, or
    /// darker if negative. At most `mostFiles`, each within `biases`. Empty for pictures of the camera's own exposure.
    public var bracket: [Double]
    /// Whether the camera's lamp shines while the pictures are taken; `nil` if it stays as it is.
    public var flash: PhotoFlash?
    /// Where in the media library the pictures are saved; `nil` for files of the client's.
    public var library: LibraryDestination?
    /// Bytes that each of the client's files may have, as its own limit for files has it (`ulimit -f`); 0 for no limit.
    public var sizeLimit: Int64

    /// The given settings.
    public init(
        format: String = "jpeg",
        quality: Int = 90,
        size: PictureSize? = nil,
        burst: Int = 1,
        companion: String? = nil,
        bracket: [Double] = [],
        flash: PhotoFlash? = nil,
        library: LibraryDestination? = nil,
        sizeLimit: Int64 = 0
    ) {
        self.format = format
        self.quality = quality
        self.size = size
        self.burst = burst
        self.companion = companion
        self.bracket = bracket
        self.flash = flash
        self.library = library
        self.sizeLimit = sizeLimit
    }

    /// How many pictures are taken.
    public var pictureCount: Int { bracket.isEmpty ? burst : bracket.count }

    /// Whether the camera is set for the pictures, and put back.
    public var setsCamera: Bool { !bracket.isEmpty || flash != nil }

    /// Whether a picture has a sensor's own numbers.
    public var isRaw: Bool { format == "dng" || companion == "dng" }

    /// Whether the companion is inside its picture's file: the library keeps one file of a photo.
    public var embedsCompanion: Bool { companion != nil && library != nil }

    /// How many files each picture has.
    public var filesPerPicture: Int { companion == nil || embedsCompanion ? 1 : 2 }

    /// How many files are written: those of the first picture first.
    public var fileCount: Int { pictureCount * filesPerPicture }

    /// Refuses settings that cannot be.
    ///
    /// - Parameter files: How many files came for the pictures.
    /// - Throws: An error of the given code, which names the value and what would be right.
    public func check(files: Int, _ code: CaptureError.Code = .invalidArgument) throws(CaptureError) {
        guard (1...100).contains(quality) else {
            throw CaptureError(code, "a quality of \(quality) is out of range: 1 to 100")
        }
        try size?.check(code)
        guard (1...PhotoSettings.longestBurst).contains(burst) else {
            throw CaptureError(code, "a burst of \(burst) is out of range: 1 to \(PhotoSettings.longestBurst)")
        }
        try checkBracket(code)
        try checkCompanion(code)
        guard files == (library == nil ? fileCount : 0) else {
            throw CaptureError(
                code,
                library == nil
                    ? "\(fileCount) files are needed for these photos; \(files) were given"
                    : "photos for the media library take no files"
            )
        }
    }

    private func checkBracket(_ code: CaptureError.Code) throws(CaptureError) {
        if let wrong = bracket.first(where: { !PhotoSettings.biases.contains($0) }) {
            throw CaptureError(code, "an exposure bias of \(wrong) EV is out of range: -8 to 8")
        }
        guard bracket.count <= PhotoSettings.mostFiles else {
            throw CaptureError(
                code,
                "a bracket of \(bracket.count) photos is too long: at most \(PhotoSettings.mostFiles)"
            )
        }
        guard bracket.isEmpty || burst == 1 else {
            throw CaptureError(code, "a bracket takes one photo for each exposure; leave the burst out")
        }
    }

    private func checkCompanion(_ code: CaptureError.Code) throws(CaptureError) {
        guard let companion else { return }
        let paired = PhotoSettings.pairedFormats
        guard paired.contains(companion), paired.contains(format), companion != format else {
            throw CaptureError(
                code,
                "a \(format) and a \(companion) are not made of one picture; two different ones of "
                    + "\(paired.joined(separator: ", ")) are"
            )
        }
        guard !embedsCompanion || format == "dng" && companion == "jpeg" else {
            throw CaptureError(
                code,
                "the media library keeps one file of a photo, and only a dng can have a jpeg inside; save the \(format) or "
                    + "the \(companion), or give two files"
            )
        }
        guard fileCount <= PhotoSettings.mostFiles else {
            throw CaptureError(
                code,
                "\(pictureCount) pictures of two files each are too many: at most \(PhotoSettings.mostFiles / 2)"
            )
        }
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

/// The use of a camera's lamp for a photo.
public enum PhotoFlash: String, Hashable, Sendable, CaseIterable {
    /// It is dark.
    case off
    /// It shines from before the picture is taken until that is there. V4L2 calls that a torch: it has no flash that knows
    /// which frame of a stream it is for.
    case on
}

/// A picture that was taken, as its recorder tells of it: once for each of its files, so twice with a companion
/// in a file of its own.
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
