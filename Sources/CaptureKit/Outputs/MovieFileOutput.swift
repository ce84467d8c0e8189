/// Picture and sound into a movie file.
public struct MovieFileOutput: CaptureOutput {
    /// The name in the session.
    public let name: String
    /// The open file; `nil` for one that is saved into the media library.
    public let file: Descriptor?
    /// The output's description for the recorder.
    public let description: OutputDescription
    /// One camera, one microphone, or one of both.
    public var mediaTypes: [MediaType] { [.video, .audio] }

    /// The codecs that can be asked for, `auto` being what suits camera and container.
    public static let videoCodecs = ["auto", "h264", "mjpeg", "copy"]
    /// The encoder's presets that can be asked for, `auto` being what this machine is fast enough for.
    public static let encoderPresets = OutputDescription.encoderPresets
    /// The sound codecs that can be asked for, `auto` being what suits the container.
    public static let audioCodecs = ["auto", "aac", "opus", "flac", "pcm"]

    /// A movie file.
    ///
    /// - Parameters:
    ///   - file: Open for reading and writing; a pipe serves for Matroska.
    ///   - name: The name in the session.
    ///   - format: `mkv`, `mp4` or `mov`.
    ///   - videoCodec: One of `videoCodecs`.
    ///   - audioCodec: One of `audioCodecs`.
    ///   - bitRate: Bits a second for pictures; 0 leaves it to `quality`.
    ///   - quality: Of JPEG and H.264, 1 to 100.
    ///   - encoderPreset: One of `encoderPresets`: a slower one makes smaller files.
    ///   - duration: Seconds after which the file is finished by itself; `nil` for no end.
    ///   - maxFileSize: Bytes, at least 65536, that the file may have: it is finished before it grows beyond. `nil` for no
    ///     end.
    ///   - minFreeSpace: Bytes that stay free on the file's disk: it is finished before there are fewer. `nil` for no end.
    ///   - segments: When the movie goes on in the next file, which `SegmentFiles` or `CaptureSession.addSegment` hands
    ///     over; `nil` for one file.
    ///   - preRoll: How much is kept in memory until `CaptureSession.beginRecording`; the movie begins with it. It is
    ///     shorter if the encoded pictures take more memory than the administrator allows, 64 MiB by default. `nil` for a
    ///     movie that begins at once.
    ///   - hasMetadata: Whether it has a track for what `CaptureSession.append` tells.
    ///   - fragmentInterval: How often the newest part is brought into the file, 0.1 s to 30 s. A crash of the machine
    ///     costs as much, and about a second more. A fragment has at most 64 MiB.
    ///   - tags: Texts about it for its file, such as the title: those of `FileTag.known(to:)`, each of at most 1000 bytes.
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        file: Descriptor,
        name: String = "movie",
        format: String = "mkv",
        videoCodec: String = "auto",
        audioCodec: String = "auto",
        bitRate: Int = 0,
        quality: Int = 90,
        encoderPreset: String = "auto",
        duration: Double? = nil,
        maxFileSize: Int64? = nil,
        minFreeSpace: Int64? = nil,
        segments: SegmentRule? = nil,
        preRoll: Duration? = nil,
        hasMetadata: Bool = false,
        fragmentInterval: Duration = .milliseconds(500),
        tags: [FileTag: String] = [:]
    ) throws(CaptureError) {
        try self.init(
            file,
            OutputDescription(
                name: name,
                kind: .movie,
                format: format,
                videoCodec: videoCodec,
                audioCodec: audioCodec,
                videoBitRate: bitRate,
                quality: quality,
                encoderPreset: encoderPreset,
                duration: try Self.nanoseconds(duration),
                maxFileSize: try Self.maxFileSize(maxFileSize),
                minFreeSpace: try Self.minFreeSpace(minFreeSpace),
                segments: segments,
                preRoll: preRoll?.nanoseconds ?? 0,
                hasMetadata: hasMetadata,
                fragmentInterval: fragmentInterval.nanoseconds,
                tags: tags
            )
        )
    }

    /// A movie that is saved into the media library, which needs the consent to add to it. The start asks if that was
    /// never decided. A movie that cannot be saved in the end is kept for the person, to save or discard.
    ///
    /// `destination` says its name and album there; the other parameters are those of a file.
    ///
    /// - Throws: `CaptureError.Code.usage` naming the value that is unknown or out of range.
    public init(
        toLibrary destination: LibraryDestination,
        name: String = "movie",
        format: String = "mkv",
        videoCodec: String = "auto",
        audioCodec: String = "auto",
        bitRate: Int = 0,
        quality: Int = 90,
        encoderPreset: String = "auto",
        duration: Double? = nil,
        maxFileSize: Int64? = nil,
        minFreeSpace: Int64? = nil,
        preRoll: Duration? = nil,
        hasMetadata: Bool = false,
        fragmentInterval: Duration = .milliseconds(500),
        tags: [FileTag: String] = [:]
    ) throws(CaptureError) {
        try self.init(
            nil,
            OutputDescription(
                name: name,
                kind: .movie,
                format: format,
                videoCodec: videoCodec,
                audioCodec: audioCodec,
                videoBitRate: bitRate,
                quality: quality,
                encoderPreset: encoderPreset,
                duration: try Self.nanoseconds(duration),
                library: destination,
                maxFileSize: try Self.maxFileSize(maxFileSize),
                minFreeSpace: try Self.minFreeSpace(minFreeSpace),
                preRoll: preRoll?.nanoseconds ?? 0,
                hasMetadata: hasMetadata,
                fragmentInterval: fragmentInterval.nanoseconds,
                tags: tags
            )
        )
    }

    /// The output of a description.
    package init(_ file: Descriptor?, _ description: OutputDescription) throws(CaptureError) {
        try Self.check(description.format, among: OutputDescription.formats(of: .movie), of: "movie format")
        try Self.check(description.videoCodec, among: Self.videoCodecs, of: "video codec")
        try Self.check(description.audioCodec, among: Self.audioCodecs, of: "audio codec")
        guard (0...1_000_000_000).contains(description.videoBitRate) else {
            throw CaptureError(.usage, "\(description.videoBitRate) bits a second is out of range: 0 to 1000000000")
        }
        try Self.check(quality: description.quality)
        try Self.check(description.encoderPreset, among: Self.encoderPresets, of: "encoder preset")
        do throws(CaptureError) {
            try description.checkSegments()
            try description.checkPreRoll()
            try description.checkFragments()
            try description.checkTags()
        } catch {
            throw CaptureError(.usage, error.message)
        }
        name = description.name
        self.file = file
        self.description = description
    }
}
