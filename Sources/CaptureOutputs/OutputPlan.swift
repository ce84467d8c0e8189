import CLibAV
import CaptureCore
import CaptureRing
import CaptureSystem
import MediaConversion
import MediaExamination

/// What a job comes to with the formats that its rings really have: an output, and a converter for each ring.
struct OutputPlan {
    /// What the converted buffers are fed to.
    let output: any MediaOutput
    /// Makes of a frame's slot what the output takes; `nil` without pictures.
    let video: (any BufferConverter)?
    /// The same for sound.
    private(set) var audio: (any BufferConverter)?
    /// The format of the sound that the output takes: it may take some channels alone.
    private(set) var sound: AudioFormat?

    /// Decides.
    ///
    /// - Parameters:
    ///   - files: One, but for a burst of photos.
    ///   - all: Has the files that a movie in segments goes on in.
    /// - Throws: `invalidArgument` for what does not fit together, with what would.
    init(
        _ job: RecordingJob,
        video: VideoFormat?,
        audio: AudioFormat?,
        files: [RecorderFile],
        all: RecorderFiles,
        markers: Markers,
        metadata: MetadataQueue = MetadataQueue(),
        counters: RecorderCounters
    ) throws(CaptureError) {
        let wanted = job.output
        let formats = OutputDescription.formats(of: wanted.kind)
        guard formats.contains(wanted.format) else {
            throw CaptureError(
                .invalidArgument,
                "'\(wanted.format)' is no format of \(wanted.kind.rawValue) outputs; those are \(formats.joined(separator: ", "))"
            )
        }
        guard let file = files.first, wanted.kind == .photo || files.count == 1 else {
            throw CaptureError(.invalidArgument, "a \(wanted.kind.rawValue) output came with \(files.count) files")
        }
        try wanted.checkSettings(hasPictures: video != nil, hasSound: audio != nil)
        let maker = OutputMaker(
            wanted: wanted,
            limits: OutputLimits(job),
            origin: job.origin,
            file: file,
            markers: markers,
            metadata: metadata,
            counters: counters
        )
        let whole = audio
        let audio = try whole?.taking(wanted.settings.channels)
        switch wanted.kind {
        case .movie:
            guard video != nil || audio != nil else {
                throw CaptureError(.invalidArgument, "a movie needs a camera or a microphone")
            }
            self = try maker.movie(video, audio, all)
        case .sound, .samples:
            guard let audio else {
                throw CaptureError(.invalidArgument, "a \(wanted.kind.rawValue) output needs a microphone")
            }
            self = try maker.sound(audio)
        case .photo:
            guard let video else { throw CaptureError(.invalidArgument, "a photo needs a camera") }
            self = try maker.photo(video, as: job, into: files)
        case .frames:
            guard let video else { throw CaptureError(.invalidArgument, "a frames output needs a camera") }
            self = try maker.frames(video)
        case .buffer, .photos:
            throw CaptureError(.invalidArgument, "a \(wanted.kind.rawValue) output needs no recorder")
        }
        if let whole, !wanted.settings.channels.isEmpty {
            self.audio = ChannelConverter(whole, wanted.settings.channels)
        }
        sound = audio
    }

    init(_ output: any MediaOutput, video: (any BufferConverter)? = nil, audio: (any BufferConverter)? = nil) {
        self.output = output
        self.video = video
        self.audio = audio
    }
}

/// Makes the parts of a plan. Thread-bound.
struct OutputMaker {
    let wanted: OutputDescription
    let limits: OutputLimits
    let origin: CaptureOrigin
    let file: RecorderFile
    let markers: Markers
    let metadata: MetadataQueue
    let counters: RecorderCounters

    /// For a name that `OutputDescription.formats(of:)` has, and for which there is no writer here.
    var unknownFormat: CaptureError {
        CaptureError(.noSuchFormat, "no recorder writes a \(wanted.kind.rawValue) as '\(wanted.format)'")
    }

    func sound(_ audio: AudioFormat) throws(CaptureError) -> OutputPlan {
        let converter = CopyConverter(.audio(audio))
        let own = ["wav": "pcm", "raw": "pcm", "m4a": "aac"][wanted.format] ?? wanted.format
        guard wanted.audioCodec == "auto" || wanted.audioCodec == own else {
            throw CaptureError(
                .invalidArgument,
                "a \(wanted.format) file holds \(own), not \(wanted.audioCodec); leave the codec at auto"
            )
        }
        if own == "pcm" {
            let facts = FileFacts(origin, wanted.tags, at: .now)
            let header = wanted.format == "wav" ? WAVHeader(audio, facts) : nil
            let output = try SampleOutput(
                audio,
                header: header,
                limits: limits,
                file: file,
                counters: counters
            )
            return OutputPlan(output, audio: converter)
        }
        let container: Muxer.Container
        switch wanted.format {
        case "flac": container = .flac
        case "opus": container = .ogg
        case "m4a": container = .m4a
        default: throw unknownFormat
        }
        let output = try ContainerOutput(
            container,
            video: nil,
            sound: (try AudioEncoder(own, audio), audio),
            limits: limits,
            origin: origin,
            tags: wanted.tags,
            file: file,
            markers: markers,
            counters: counters
        )
        return OutputPlan(output, audio: converter)
    }

    func frames(_ video: VideoFormat) throws(CaptureError) -> OutputPlan {
        let coding: FrameOutput.Coding
        let converter: any BufferConverter
        switch wanted.format {
        case "raw":
            converter = video.pixelFormat.isCompressed ? CopyConverter(.video(video)) : TightConverter(video)
            coding = .bytes(name: "copy")
        case "mjpeg" where [.mjpeg, .jpeg].contains(video.pixelFormat):
            converter = CopyConverter(.video(video))
            coding = .bytes(name: "copy")
        case "mjpeg":
            let (made, encoder) = try motionJPEG(video)
            converter = made
            coding = .jpeg(encoder)
        case "y4m":
            // Its readers know no red, green and blue.
            let held = PixelStructure(video.pixelFormat)?.samples ?? .yuv422
            let picture = try pictures(video, as: held == .rgb ? .yuv420 : held)
            converter = picture.converter
            coding = .y4m(
                Y4MHeader(layout: picture.layout, color: picture.color, interval: video.interval, fields: video.fields)
            )
        default: throw unknownFormat
        }
        return OutputPlan(
            try FrameOutput(coding, limits: limits, interval: video.interval, file: file, counters: counters),
            video: converter
        )
    }

    // MARK: Pictures

    /// Pictures, what makes them and what their numbers mean.
    typealias Picture = (converter: any BufferConverter, layout: PictureLayout, color: ColorMeaning)

    /// The same pictures, turned and mirrored.
    func turned(_ picture: Picture, _ turn: PictureOrientation) -> Picture {
        guard turn != .upright else { return picture }
        let converter = TurnedConverter(picture.converter, picture.layout, turn)
        return (converter, converter.layout, picture.color)
    }

    /// One JPEG image a frame, of no more chroma than players expect.
    func motionJPEG(_ video: VideoFormat) throws(CaptureError) -> (any BufferConverter, JPEGEncoder) {
        let picture = try pictures(video, as: samplesForJPEG(video))
        let encoder = try JPEGEncoder(
            picture.layout,
            color: picture.color,
            quality: wanted.quality,
            sampling: picture.layout.samples == .rgb ? .yuv420 : nil
        )
        return (picture.converter, encoder)
    }

    /// What the format holds, if its luma and chroma are those of JPEG but for the range; else red, green and blue, as at
    /// odd sizes, where the encoder asks for planes that are larger than the picture's.
    func samplesForJPEG(_ video: VideoFormat) -> PictureLayout.Samples {
        guard let structure = PixelStructure(video.pixelFormat) else { return .yuv422 }
        let color = ColorMeaning(video.color, structure.model)
        let isEven = video.width % 2 == 0 && video.height % 2 == 0
        return color.matrix == .bt601 && !color.needsRecoloring && isEven ? structure.samples : .rgb
    }

    /// A converter to pictures of the given samples.
    ///
    /// - Parameter isEven: Leaves out the last row or column of an odd size.
    func pictures(
        _ video: VideoFormat,
        as samples: PictureLayout.Samples,
        isEven: Bool = false
    ) throws(CaptureError) -> Picture {
        let layout = video.picture(samples, isEven: isEven)
        if let structure = PixelStructure(video.pixelFormat) {
            let converter = try RawConverter(video, structure, to: layout)
            return (converter, layout, converter.color)
        }
        if [.mjpeg, .jpeg].contains(video.pixelFormat) {
            return (try JPEGDecoder(video, to: layout), layout, samples == .rgb ? .jpeg.asRGB : .jpeg)
        }
        if [.h264, .hevc].contains(video.pixelFormat) {
            throw CaptureError(
                .invalidArgument,
                "the camera delivers \(video.pixelFormat), which goes into mkv, mp4 and mov as it is and is not decoded here"
            )
        }
        let converter = try OddConverter(video, to: samples)
        let color = ColorMeaning(video.color, .rgb)
        return (converter, converter.layout, converter.layout.samples == .rgb ? color.asRGB : color.mixed)
    }
}

extension VideoFormat {
    /// A picture of its size.
    ///
    /// - Parameter isEven: Leaves out the last row or column of an odd size.
    func picture(_ samples: PictureLayout.Samples, isEven: Bool = false) -> PictureLayout {
        let (width, height) = isEven ? (max(width & ~1, 2), max(height & ~1, 2)) : (width, height)
        return PictureLayout(width: width, height: height, samples: samples)
    }
}
