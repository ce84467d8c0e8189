import CLibAV
import CaptureCore
import CaptureRing

/// What a job comes to with the formats that its rings really have: an output, and a converter for each ring.
struct OutputPlan {
    /// What the converted buffers are fed to.
    let output: any MediaOutput
    /// Makes of a frame's slot what the output takes; `nil` without pictures.
    let video: (any BufferConverter)?
    /// The same for sound.
    let audio: (any BufferConverter)?

    /// Decides.
    ///
    /// - Throws: `invalidArgument` for what does not fit together, with what would.
    init(
        _ job: RecordingJob,
        video: VideoFormat?,
        audio: AudioFormat?,
        file: OutputFile,
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
        let maker = OutputMaker(wanted: wanted, file: file, counters: counters)
        switch wanted.kind {
        case .movie:
            guard video != nil || audio != nil else {
                throw CaptureError(.invalidArgument, "a movie needs a camera or a microphone")
            }
            self = try maker.movie(video, audio)
        case .sound, .samples:
            guard let audio else {
                throw CaptureError(.invalidArgument, "a \(wanted.kind.rawValue) output needs a microphone")
            }
            self = try maker.sound(audio)
        case .photo:
            guard let video else { throw CaptureError(.invalidArgument, "a photo needs a camera") }
            self = try maker.photo(video)
        case .frames:
            guard let video else { throw CaptureError(.invalidArgument, "a frames output needs a camera") }
            self = try maker.frames(video)
        case .buffer:
            throw CaptureError(.invalidArgument, "a buffer output is the ring itself and needs no recorder")
        }
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
    let file: OutputFile
    let counters: RecorderCounters

    /// Bits a second below which no encoder works.
    private static let leastBitRate = 10_000

    private var limits: OutputLimits { OutputLimits(duration: wanted.duration, frameCount: wanted.frameCount) }

    func movie(_ video: VideoFormat?, _ audio: AudioFormat?) throws(CaptureError) -> OutputPlan {
        let container: Muxer.Container = wanted.format == "mkv" ? .matroska : wanted.format == "mp4" ? .mp4 : .mov
        var track: VideoTrack?
        var converter: (any BufferConverter)?
        if let video {
            let (coding, made) = try videoCoding(video)
            track = VideoTrack(video, coding)
            converter = made
        }
        var sound: (encoder: AudioEncoder, format: AudioFormat)?
        if let audio { sound = (try AudioEncoder(try soundCodec(audio), audio), audio) }
        let output = try ContainerOutput(
            container,
            video: track,
            sound: sound,
            limits: limits,
            file: file,
            counters: counters
        )
        return OutputPlan(output, video: converter, audio: audio.map { CopyConverter(.audio($0)) })
    }

    func sound(_ audio: AudioFormat) throws(CaptureError) -> OutputPlan {
        let converter = CopyConverter(.audio(audio))
        let own = ["wav": "pcm", "raw": "pcm"][wanted.format] ?? wanted.format
        guard wanted.audioCodec == "auto" || wanted.audioCodec == own else {
            throw CaptureError(
                .invalidArgument,
                "a \(wanted.format) file holds \(own), not \(wanted.audioCodec); leave the codec at auto"
            )
        }
        if own == "pcm" {
            let header = wanted.format == "wav" ? WAVHeader(audio) : nil
            let output = try SampleOutput(audio, header: header, limits: limits, file: file, counters: counters)
            return OutputPlan(output, audio: converter)
        }
        let output = try ContainerOutput(
            wanted.format == "flac" ? .flac : .ogg,
            video: nil,
            sound: (try AudioEncoder(own, audio), audio),
            limits: limits,
            file: file,
            counters: counters
        )
        return OutputPlan(output, audio: converter)
    }

    func photo(_ video: VideoFormat) throws(CaptureError) -> OutputPlan {
        if [.mjpeg, .jpeg].contains(video.pixelFormat), wanted.format == "jpeg" {
            let output = try PhotoOutput(.asItIs(JPEGDecoder(video, to: .yuv420)), file: file, counters: counters)
            return OutputPlan(output, video: CopyConverter(.video(video)))
        }
        let (converter, layout, color) = try pictures(video, chroma: nil)
        let coding: PhotoOutput.Coding =
            wanted.format == "png"
            ? .png(try PNGEncoder(layout, color: color))
            : .jpeg(try JPEGEncoder(layout, color: color, quality: wanted.quality))
        return OutputPlan(try PhotoOutput(coding, file: file, counters: counters), video: converter)
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
            let (made, layout, color) = try pictures(video, chroma: nil)
            converter = made
            coding = .jpeg(try JPEGEncoder(layout, color: color, quality: wanted.quality))
        default:
            let (made, layout, color) = try pictures(video, chroma: nil)
            converter = made
            coding = .y4m(Y4MHeader(layout: layout, color: color, interval: video.interval))
        }
        return OutputPlan(
            FrameOutput(coding, limits: limits, interval: video.interval, file: file, counters: counters),
            video: converter
        )
    }

    // MARK: Codecs

    private func videoCoding(_ video: VideoFormat) throws(CaptureError) -> (VideoTrack.Coding, any BufferConverter) {
        let isJPEG = [.mjpeg, .jpeg].contains(video.pixelFormat)
        let copied: AVCodecID? =
            switch video.pixelFormat {
            case .mjpeg, .jpeg: AV_CODEC_ID_MJPEG
            case .h264: AV_CODEC_ID_H264
            case .hevc: AV_CODEC_ID_HEVC
            default: nil
            }
        func copy(_ codec: AVCodecID) -> (VideoTrack.Coding, any BufferConverter) {
            (.copied(codec), CopyConverter(.video(video)))
        }
        switch (wanted.videoCodec, copied) {
        case ("auto", let codec?), ("copy", let codec?): return copy(codec)
        case ("copy", nil):
            throw CaptureError(
                .invalidArgument,
                "the camera delivers \(video.pixelFormat), which is not compressed; use h264 or mjpeg"
            )
        case ("mjpeg", let codec?) where isJPEG: return copy(codec)
        case ("h264", let codec?) where video.pixelFormat == .h264: return copy(codec)
        case ("h264", _), ("auto", _):
            guard wanted.videoBitRate == 0 || wanted.videoBitRate >= OutputMaker.leastBitRate else {
                throw CaptureError(
                    .invalidArgument,
                    "\(wanted.videoBitRate) bits a second are too few for pictures; from \(OutputMaker.leastBitRate) on they are enough, and 0 leaves it to the encoder"
                )
            }
            let (converter, layout, color) = try pictures(video, chroma: .yuv420)
            let request = VideoEncoderRequest(
                layout: layout,
                color: color,
                interval: video.interval,
                bitRate: wanted.videoBitRate
            )
            if let encoder = try VideoEncoder.best(request) { return (.encoded(encoder), converter) }
            return (.jpeg(try JPEGEncoder(layout, color: color, quality: wanted.quality)), converter)
        case ("mjpeg", _):
            let (converter, layout, color) = try pictures(video, chroma: nil)
            return (.jpeg(try JPEGEncoder(layout, color: color, quality: wanted.quality)), converter)
        default:
            throw CaptureError(
                .invalidArgument,
                "'\(wanted.videoCodec)' is no codec for pictures; those are auto, h264, mjpeg and copy"
            )
        }
    }

    private func soundCodec(_ audio: AudioFormat) throws(CaptureError) -> String {
        let known = ["mkv": ["aac", "opus", "flac", "pcm"], "mp4": ["aac", "opus", "flac"], "mov": ["aac", "pcm"]]
        let fitting = known[wanted.format] ?? []
        if wanted.audioCodec == "auto" { return "aac" }
        guard fitting.contains(wanted.audioCodec) else {
            throw CaptureError(
                .invalidArgument,
                "a \(wanted.format) file holds no sound of '\(wanted.audioCodec)', only \(fitting.joined(separator: ", "))"
            )
        }
        return wanted.audioCodec
    }

    /// A converter to planes, of the given chroma or of that which keeps what the camera delivers.
    private func pictures(
        _ video: VideoFormat,
        chroma: PictureLayout.Chroma?
    ) throws(CaptureError) -> (any BufferConverter, PictureLayout, ColorMeaning) {
        if let pixels = SourcePixels(video.pixelFormat) {
            let converter = RawConverter(video, pixels: pixels, to: chroma ?? pixels.chroma)
            return (converter, converter.layout, ColorMeaning(video.color, isRGB: pixels.isRGB))
        }
        if [.mjpeg, .jpeg].contains(video.pixelFormat) {
            let converter = try JPEGDecoder(video, to: chroma ?? .yuv422)
            return (converter, converter.layout, .jpeg)
        }
        if [.h264, .hevc].contains(video.pixelFormat) {
            throw CaptureError(
                .invalidArgument,
                "the camera delivers \(video.pixelFormat), which goes into mkv, mp4 and mov as it is and is not decoded here"
            )
        }
        let converter = try OddConverter(video)
        return (converter, converter.layout, ColorMeaning(video.color, isRGB: true))
    }
}
