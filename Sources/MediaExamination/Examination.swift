import CLibAV
import CaptureCore

/// What a file holds, and small pictures of it.
///
/// A file from a stranger may lead a decoder anywhere: this is done in a process that can reach nothing, and that the
/// daemon ends when it takes too long.
struct Examination {
    /// The facts.
    let media: ExaminedMedia
    /// JPEG images, one for each of `ExaminedMedia.thumbnailEdges`: of the picture, of the movie's picture at a tenth of
    /// its length, or of the sound's wave.
    let thumbnails: [[UInt8]]

    /// Looks into a file.
    ///
    /// - Parameters:
    ///   - file: What is looked into.
    ///   - isWhole: Refuses what was cut off. Without, what is there counts, as after an interrupted recording.
    /// - Throws: `badData` for what is unknown, cut off or damaged, saying what is wrong.
    init(of file: ExaminedFile, isWhole: Bool) throws(CaptureError) {
        // What is wrong with a stranger's file is no news for the journal.
        av_log_set_level(AV_LOG_QUIET)
        let signature = try MediaSignature(file)
        if signature.isPlainPhoto {
            self = try PhotoExamination(file, signature).run()
            return
        }
        let structure = try ContainerStructure(file, signature, isWhole: isWhole)
        let container = try MediaContainer(file, signature)
        if let video = unsafe container.stream(AVMEDIA_TYPE_VIDEO) {
            let movie = unsafe MovieExamination(container, video, signature, structure, file, isWhole: isWhole)
            self = try movie.run()
        } else if let sound = unsafe container.stream(AVMEDIA_TYPE_AUDIO) {
            let examination = unsafe SoundExamination(container, sound, signature, structure, isWhole: isWhole)
            self = try examination.run()
        } else {
            throw CaptureError(.badData, "the \(signature.name) file holds neither pictures nor sound")
        }
    }

    init(_ media: ExaminedMedia, _ thumbnails: [[UInt8]]) {
        self.media = media
        self.thumbnails = thumbnails
    }

    /// Refuses sides that no decoder is to see.
    static func check(_ width: Int, _ height: Int) throws(CaptureError) {
        let most = Int(ExaminedMedia.largestSide)
        guard width > 0, height > 0, width <= most, height <= most,
            Int64(width) * Int64(height) <= ExaminedMedia.mostPixels
        else {
            throw CaptureError(
                .badData,
                "the picture is \(width) x \(height); sides are of 1 to \(most) pixels, and of \(ExaminedMedia.mostPixels) in all"
            )
        }
    }
}
