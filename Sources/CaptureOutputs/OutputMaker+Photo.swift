import CaptureCore
import MediaConversion
import MediaExamination

/// Plans of photos.
extension OutputMaker {
    /// What makes a file of a frame, and of the ring's slot what that takes.
    private typealias Maker = (coding: PictureCoding, converter: any BufferConverter)

    /// Photos of what a camera delivers.
    ///
    /// - Parameters:
    ///   - job: Has the format of every second file, or of what is inside each, and whether pictures wait for orders.
    ///   - files: One for each picture, or two with a companion in a file of its own.
    func photo(
        _ video: VideoFormat,
        as job: RecordingJob,
        into files: [RecorderFile]
    ) throws(CaptureError) -> OutputPlan {
        let turn = PictureOrientation(wanted.settings)
        let first = try picture(video, as: wanted.format, turned: turn)
        var (codings, converter) = ([first.coding], first.converter)
        var pairs: PairConverter?
        if let companion = job.companion {
            let paired = PhotoSettings.pairedFormats
            guard paired.contains(companion), paired.contains(wanted.format), companion != wanted.format else {
                throw CaptureError(
                    .invalidArgument,
                    "a \(wanted.format) and a \(companion) are not made of one picture"
                )
            }
            let second = try picture(video, as: companion, turned: turn)
            let both = PairConverter(first.converter, second.converter)
            if job.embedsCompanion {
                guard case .dng(let raw) = first.coding, case .jpeg(let shown) = second.coding else {
                    throw CaptureError(.invalidArgument, "a \(wanted.format) cannot have a \(companion) inside")
                }
                codings = [.pair(raw, shown, both)]
            } else {
                codings.append(second.coding)
                pairs = both
            }
            converter = both
        }
        let output = PictureOutput(
            codings,
            pairs: pairs,
            of: video,
            turned: turn,
            origin,
            files: files,
            isOrdered: job.isOrdered,
            counters: counters
        )
        return OutputPlan(output, video: converter)
    }

    private func picture(
        _ video: VideoFormat,
        as format: String,
        turned turn: PictureOrientation
    ) throws(CaptureError) -> Maker {
        if [.mjpeg, .jpeg].contains(video.pixelFormat), format == "jpeg" {
            return (
                .asItIs(WholeJPEG(try JPEGDecoder(video, to: video.picture(.yuv420)))), CopyConverter(.video(video))
            )
        }
        if format == "dng" { return (.dng(try DNGEncoder(video)), CopyConverter(.video(video))) }
        if video.pixelFormat.isDepth && format == "png" || format == "tiff" {
            guard turn == .upright else {
                throw CaptureError(.invalidArgument, "distances stay as they are: leave rotation and mirror out")
            }
            let encoder = try DepthEncoder(video, into: format == "png" ? .png : .tiff)
            return (.depth(encoder), CopyConverter(.video(video)))
        }
        switch format {
        case "png":
            // Few programs look at the orientation of a PNG.
            let picture = turned(try pictures(video, as: .rgb), turn)
            return (.png(try PNGEncoder(picture.layout, color: picture.color)), picture.converter)
        case "jpeg":
            let picture = try pictures(video, as: samplesForJPEG(video))
            let encoder = try JPEGEncoder(picture.layout, color: picture.color, quality: wanted.quality)
            return (.jpeg(encoder), picture.converter)
        default: throw unknownFormat
        }
    }
}
