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
    ///   - preRoll: How much is kept in memory until `CaptureSession.beginRecording`; the movie begins with it. At most 64 MiB
    ///     of encoded pictures are kept. `nil` for a movie that begins at once.
    ///   - hasMetadata: Whether it has a track for what `CaptureSession.append` tells.
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
        hasMetadata: Bool = false
    ) throws(CaptureError) {
        try self.init(
            file,
            nil,
            name: name,
            format: format,
            videoCodec: videoCodec,
            audioCodec: audioCodec,
            bitRate: bitRate,
            quality: quality,
            encoderPreset: encoderPreset,
            duration: duration,
            maxFileSize: maxFileSize,
            minFreeSpace: minFreeSpace,
            segments: segments,
            preRoll: preRoll,
            hasMetadata: hasMetadata
        )
    }

    /// A movie that is saved into the media library, which needs the consent to add to it. The start asks if that was
    /// never decided. A movie that cannot be saved in the end is kept for the person, to save or discard.
    ///
    /// - Parameters:
    ///   - destination: Its name and album there.
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
    ///   - preRoll: How much is kept in memory until `CaptureSession.beginRecording`; the movie begins with it. At most 64 MiB
    ///     of encoded pictures are kept. `nil` for a movie that begins at once.
    ///   - hasMetadata: Whether it has a track for what `CaptureSession.append` tells.
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
        hasMetadata: Bool = false
    ) throws(CaptureError) {
        try self.init(
            nil,
            destination,
            name: name,
            format: format,
            videoCodec: videoCodec,
            audioCodec: audioCodec,
            bitRate: bitRate,
            quality: quality,
            encoderPreset: encoderPreset,
            duration: duration,
            maxFileSize: maxFileSize,
            minFreeSpace: minFreeSpace,
            segments: nil,
            preRoll: preRoll,
            hasMetadata: hasMetadata
        )
    }

    private init(
        _ file: Descriptor?,
        _ library: LibraryDestination?,
        name: String,
        format: String,
        videoCodec: String,
        audioCodec: String,
        bitRate: Int,
        quality: Int,
        encoderPreset: String,
        duration: Double?,
        maxFileSize: Int64?,
        minFreeSpace: Int64?,
        segments: SegmentRule?,
        preRoll: Duration?,
        hasMetadata: Bool
    ) throws(CaptureError) {
        try Self.check(format, among: OutputDescription.formats(of: .movie), of: "movie format")
        try Self.check(videoCodec, among: Self.videoCodecs, of: "video codec")
        try Self.check(audioCodec, among: Self.audioCodecs, of: "audio codec")
        guard bitRate >= 0, bitRate <= 1_000_000_000 else {
            throw CaptureError(.usage, "\(bitRate) bits a second is out of range: 0 to 1000000000")
        }
        guard (1...100).contains(quality) else {
            throw CaptureError(.usage, "a quality of \(quality) is out of range: 1 to 100")
        }
        try Self.check(encoderPreset, among: Self.encoderPresets, of: "encoder preset")
        self.name = name
        self.file = file
        description = OutputDescription(
            name: name,
            kind: .movie,
            format: format,
            videoCodec: videoCodec,
            audioCodec: audioCodec,
            videoBitRate: bitRate,
            quality: quality,
            encoderPreset: encoderPreset,
            duration: try Self.nanoseconds(duration),
            library: library,
            maxFileSize: try Self.maxFileSize(maxFileSize),
            minFreeSpace: try Self.minFreeSpace(minFreeSpace),
            segments: segments,
            preRoll: preRoll?.nanoseconds ?? 0,
            hasMetadata: hasMetadata
        )
        do throws(CaptureError) {
            try description.checkSegments()
            try description.checkPreRoll()
        } catch {
            throw CaptureError(.usage, error.message)
        }
    }
}
