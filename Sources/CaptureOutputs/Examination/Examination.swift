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
            self = try Examination.photo(file, signature)
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

    private static func photo(_ file: ExaminedFile, _ signature: MediaSignature) throws(CaptureError) -> Examination {
        let loaded = try file.load()
        let bytes = unsafe ByteView(loaded.bytes)
        let structure = try PhotoStructure(signature, bytes)
        let picture: Raster
        var size: (width: Int, height: Int)
        if signature == .jpeg {
            let photo = try JPEGPhoto(bytes)
            size = photo.size
            try check(size.width, size.height)
            picture = try photo.decode()
        } else {
            if let size = structure.size { try check(size.width, size.height) }
            let codecs: [MediaSignature: AVCodecID] = [
                .png: AV_CODEC_ID_PNG, .webp: AV_CODEC_ID_WEBP, .tiff: AV_CODEC_ID_TIFF, .gif: AV_CODEC_ID_GIF,
            ]
            // The decoder of TIFF takes a tag that it does not know for a fault when it is strict; places beyond the end of
            // the file it refuses always.
            let isStrict = signature != .tiff
            let decoder = try unsafe StreamDecoder(codecs[signature] ?? AV_CODEC_ID_NONE, isStrict: isStrict)
            let fault = PictureDecoding.decode(loaded, by: decoder)
            guard fault == 0, decoder.isIntact else {
                throw CaptureError(
                    .badData,
                    "the \(signature.name) is cut off or damaged: \(fault == 0 ? "parts are missing" : LibAV.text(of: fault))"
                )
            }
            size = unsafe (Int(decoder.frame.pointee.width), Int(decoder.frame.pointee.height))
            try check(size.width, size.height)
            let fitting = Raster.fit(size.width, size.height, within: ExaminedMedia.thumbnailEdges.max() ?? 1)
            picture = try unsafe Raster(decoder.frame, width: fitting.width, height: fitting.height)
        }
        let orientation = structure.exif?.orientation ?? .upright
        if orientation.swapsSides { size = (size.height, size.width) }
        let media = ExaminedMedia(
            kind: .photo,
            mediaType: signature.mediaType(.photo),
            codec: signature == .jpeg ? "mjpeg" : signature.name.lowercased(),
            width: UInt32(size.width),
            height: UInt32(size.height),
            created: structure.exif?.date
        )
        return Examination(media, try Thumbnails.make(picture, orientation))
    }
}

/// Decoding of one packet to one picture.
enum PictureDecoding {
    /// Sends all that there is, and takes the first frame.
    ///
    /// - Returns: 0, or the library's number for a fault.
    static func decode(_ packet: EncodedPacket, by decoder: StreamDecoder) -> Int32 {
        let sent = decoder.send(packet)
        guard sent >= 0 else { return sent }
        let received = decoder.receive()
        guard received == cav_error_eagain else { return received }
        _ = decoder.send(nil)
        return decoder.receive()
    }
}
