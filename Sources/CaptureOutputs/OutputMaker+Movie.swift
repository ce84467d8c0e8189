import CLibAV
import CaptureCore
import CaptureSystem
import MediaConversion
import MediaExamination

/// Movies: which container, codecs and files.
extension OutputMaker {
    /// Bits a second below which no encoder works.
    private static let leastBitRate = 10_000

    func movie(_ video: VideoFormat?, _ audio: AudioFormat?, _ all: RecorderFiles) throws(CaptureError) -> OutputPlan {
        let container: Muxer.Container
        switch wanted.format {
        case "mkv": container = .matroska
        case "mp4": container = .mp4
        case "mov": container = .mov
        default: throw unknownFormat
        }
        var pictures: Pictures?
        var converter: (any BufferConverter)?
        if let video {
            let (coding, made) = try videoCoding(video)
            (pictures, converter) = (Pictures(format: video, first: coding, again: coding.again), made)
        }
        var samples: (format: AudioFormat, codec: String)?
        if let audio { samples = (audio, try soundCodec(audio)) }
        func output(_ file: RecorderFile, _ counters: RecorderCounters, _ limits: OutputLimits) throws(CaptureError)
            -> ContainerOutput
        {
            var track: VideoTrack?
            if let made = pictures {
                let coding = if let first = made.first { first } else { try made.again() }
                track = VideoTrack(made.format, coding, turned: PictureOrientation(wanted.settings))
                pictures?.first = nil
            }
            var sound: (encoder: AudioEncoder, format: AudioFormat)?
            if let (format, codec) = samples {
                sound = (try AudioEncoder(codec, format, canStretch: video != nil), format)
            }
            return try ContainerOutput(
                container,
                video: track,
                sound: sound,
                limits: limits,
                origin: origin,
                tags: wanted.tags,
                file: file,
                markers: markers,
                metadata: wanted.hasMetadata ? metadata : nil,
                counters: counters
            )
        }
        let sound = audio.map { CopyConverter(.audio($0)) }
        guard let rule = wanted.segments else {
            return OutputPlan(try output(file, counters, limits), video: converter, audio: sound)
        }
        let segmented = try SegmentedOutput(
            rule,
            limits: limits,
            first: file,
            files: all,
            counters: counters,
            make: output
        )
        return OutputPlan(segmented, video: converter, audio: sound)
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
                    "\(wanted.videoBitRate) bits per second are too few for video; give at least \(OutputMaker.leastBitRate), or 0 to leave it to the encoder"
                )
            }
            // H.264 of halved chroma has no odd sides.
            let picture = try pictures(video, as: .yuv420, isEven: true)
            let request = VideoEncoderRequest(
                layout: picture.layout,
                color: picture.color,
                interval: video.interval,
                bitRate: wanted.videoBitRate,
                quality: wanted.quality,
                preset: wanted.encoderPreset == "auto" ? nil : wanted.encoderPreset,
                fields: video.fields,
                isSoftware: wanted.segments != nil
            )
            if let encoder = try VideoEncoder.best(request) { return (.encoded(encoder), picture.converter) }
            let (converter, encoder) = try motionJPEG(video)
            return (.jpeg(encoder), converter)
        case ("mjpeg", _):
            let (converter, encoder) = try motionJPEG(video)
            return (.jpeg(encoder), converter)
        default:
            throw CaptureError(
                .invalidArgument,
                "'\(wanted.videoCodec)' is not a video codec; give auto, h264, mjpeg or copy"
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

    /// What a movie's files make of pictures.
    private struct Pictures {
        let format: VideoFormat
        /// For the first file.
        var first: VideoTrack.Coding?
        /// For each other.
        let again: () throws(CaptureError) -> VideoTrack.Coding
    }
}
