extension VideoFormatRequest {
    /// An exact format from its text: `[PIXELS:]WIDTHxHEIGHT[@RATE]` or `PIXELS`, as in `YUYV:1280x720@30`, `640x480`,
    /// `MJPG`.
    ///
    /// - Throws: `CaptureError.Code.usage` telling which part is wrong.
    public init(text: String) throws(CaptureError) {
        func wrong(_ what: String) -> CaptureError {
            CaptureError(
                .usage,
                "'\(Printable.text(text))' is no video format: \(what); write it like YUYV:1280x720@30"
            )
        }
        var rest = Substring(text)
        var rate: Double?
        if let at = rest.lastIndex(of: "@") {
            guard let value = Double(rest[rest.index(after: at)...]), value > 0, value <= 1000 else {
                throw wrong("the rate is not a number between 0 and 1000")
            }
            rate = value
            rest = rest[..<at]
        }
        var size: PictureSize?
        var pixels: Substring? = rest
        let afterColon = rest.lastIndex(of: ":").map { rest[rest.index(after: $0)...] } ?? rest
        if let found = PictureSize(afterColon) {
            size = found
            pixels = rest.lastIndex(of: ":").map { rest[..<$0] }
        } else if rest.contains(":") {
            throw wrong("the size is not of the form WIDTHxHEIGHT, each between 1 and 65535")
        }
        var format: PixelFormat?
        if let pixels {
            guard let known = PixelFormat(name: pixels) else {
                throw wrong("the pixel format is not a name of one to four characters")
            }
            format = known
        }
        self.init(pixelFormat: format, width: size?.width, height: size?.height, framesPerSecond: rate, isExact: true)
    }
}

extension PictureSize {
    /// A size from its text: `WIDTHxHEIGHT`, as in `1920x1080`; `nil` for anything else, and unless both are between 1 and
    /// 65535.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]), (1...65535).contains(width),
            (1...65535).contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }
}

extension AudioFormatRequest {
    /// An exact format from its text: `[SAMPLES:]RATE[xCHANNELS]`, as in `S16_LE:48000x2`, `44100`.
    ///
    /// - Throws: `CaptureError.Code.usage` telling which part is wrong.
    public init(text: String) throws(CaptureError) {
        func wrong(_ what: String) -> CaptureError {
            CaptureError(
                .usage,
                "'\(Printable.text(text))' is no audio format: \(what); write it like S16_LE:48000x2"
            )
        }
        var rest = Substring(text)
        var samples: SampleFormat?
        if let colon = rest.firstIndex(of: ":") {
            guard let known = SampleFormat(rawValue: rest[..<colon].uppercased()) else {
                let names = SampleFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw wrong("the sample format is none of \(names)")
            }
            samples = known
            rest = rest[rest.index(after: colon)...]
        }
        let parts = rest.split(separator: "x", omittingEmptySubsequences: false)
        guard let first = parts.first, let rate = Int(first), (1000...768_000).contains(rate) else {
            throw wrong("the rate is not a number between 1000 and 768000")
        }
        var channels: Int?
        if parts.count > 1 {
            guard parts.count == 2, let number = Int(parts[1]), (1...32).contains(number) else {
                throw wrong("the number of channels is not between 1 and 32")
            }
            channels = number
        }
        self.init(sampleFormat: samples, sampleRate: rate, channels: channels, isExact: true)
    }
}

/// A container, as a file's extension or an option names it.
public struct FileFormat: Hashable, Sendable {
    /// Movie, sound or photo.
    public var kind: OutputKind
    /// The name, one of `OutputDescription.formats(of:)`.
    public var name: String

    /// A container of the given kind and name.
    public init(kind: OutputKind, name: String) {
        self.kind = kind
        self.name = name
    }

    /// The format of a recording's file.
    ///
    /// - Parameters:
    ///   - name: One of `OutputDescription.formats(of:)` for movies and sound; `nil` takes it from the extension, `mkv` without one.
    ///   - path: The file's path.
    /// - Throws: `CaptureError.Code.usage` for an unknown name or extension.
    public static func recording(_ name: String?, path: String) throws(CaptureError) -> FileFormat {
        let synonyms = ["ogg": "opus", "wave": "wav", "m4v": "mp4", "qt": "mov"]
        return try find(name, path: path, among: [.movie, .sound], synonyms: synonyms)
    }

    /// The format of a photo's file.
    ///
    /// - Parameters:
    ///   - name: One of `OutputDescription.formats(of:)` for photos; `nil` takes it from the extension, `jpeg` without one.
    ///   - path: The file's path.
    /// - Throws: `CaptureError.Code.usage` for an unknown name or extension.
    public static func photo(_ name: String?, path: String) throws(CaptureError) -> FileFormat {
        try find(name, path: path, among: [.photo], synonyms: ["jpg": "jpeg", "jpe": "jpeg", "tif": "tiff"])
    }

    private static func find(
        _ name: String?,
        path: String,
        among kinds: [OutputKind],
        synonyms: [String: String]
    ) throws(CaptureError) -> FileFormat {
        let all = kinds.flatMap { kind in OutputDescription.formats(of: kind).map { FileFormat(kind: kind, name: $0) } }
        let known = all.map(\.name).joined(separator: ", ")
        let suffix = fileExtension(of: path)
        guard let word = (name ?? suffix)?.lowercased() else { return all[0] }
        if let found = all.first(where: { $0.name == synonyms[word] ?? word }) { return found }
        if name != nil {
            throw CaptureError(.usage, "'\(Printable.text(word))' is no format; there are \(known)")
        }
        // A device such as /dev/null has no extension to go by; a file's unknown one is more likely a slip.
        throw CaptureError(
            .usage,
            "the extension .\(Printable.text(word)) is of no known format; give --format with one of \(known)"
        )
    }

    /// A path's extension without its dot; `nil` without one.
    public static func fileExtension(of path: String) -> String? {
        let file = path.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return nil }
        let suffix = file[file.index(after: dot)...]
        return suffix.isEmpty ? nil : String(suffix)
    }
}
