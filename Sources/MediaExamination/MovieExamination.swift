import CLibAV
import CaptureCore

/// Looks into a file with pictures in time, and into the photos that come in such a container. Thread-bound.
@safe
struct MovieExamination {
    /// Packets of the pictures' stream that are decoded at most until the first one comes.
    private static let patience = 300

    private let container: MediaContainer
    private let video: UnsafeMutablePointer<AVStream>
    private let signature: MediaSignature
    private let structure: ContainerStructure
    private let file: ExaminedFile
    private let isWhole: Bool

    init(
        _ container: MediaContainer,
        _ video: UnsafeMutablePointer<AVStream>,
        _ signature: MediaSignature,
        _ structure: ContainerStructure,
        _ file: ExaminedFile,
        isWhole: Bool
    ) {
        self.container = container
        unsafe self.video = unsafe video
        self.signature = signature
        self.structure = structure
        self.file = file
        self.isWhole = isWhole
    }

    func run() throws(CaptureError) -> Examination {
        let isPhoto = signature == .heic || signature == .avif
        let parameters = unsafe UnsafePointer(video.pointee.codecpar)
        guard let parameters = unsafe parameters else {
            throw CaptureError(.badData, "the movie's pictures have no form")
        }
        try unsafe Examination.check(Int(parameters.pointee.width), Int(parameters.pointee.height))
        if isWhole { try container.checkIndex() }
        let decoder = try unsafe StreamDecoder(parameters.pointee.codec_id, parameters, isStrict: false)
        guard let first = try picture(decoder) else {
            throw CaptureError(.badData, "no picture of the \(signature.name) file can be decoded")
        }
        guard decoder.isIntact || !isWhole else {
            throw CaptureError(.badData, "the first picture of the \(signature.name) file is damaged")
        }
        var duration: Int64 = 0
        if !isPhoto {
            duration = try length()
            guard duration > 0 else { throw CaptureError(.badData, "the \(signature.name) file has no length") }
        }
        // A place that cannot be decoded costs the file no more than that its first picture stands for it.
        let later = isPhoto ? nil : try? self.picture(at: duration / 10, decoder)
        let orientation = unsafe PictureOrientation(matrix: cav_display_matrix(video))
        let shown = try size(orientation)
        let sound = unsafe isPhoto ? nil : container.stream(AVMEDIA_TYPE_AUDIO)
        let codecs =
            unsafe [parameters.pointee.codec_id] + (sound.map { unsafe [$0.pointee.codecpar.pointee.codec_id] } ?? [])
        let media = ExaminedMedia(
            kind: isPhoto ? .photo : .movie,
            mediaType: signature.mediaType(isPhoto ? .photo : .movie),
            codec: codecs.map(StreamDecoder.name).joined(separator: "+"),
            width: UInt32(shown.width),
            height: UInt32(shown.height),
            duration: duration,
            created: container.created
        )
        return Examination(media, try Thumbnails.make(later ?? first, orientation))
    }

    /// Width and height as they are shown: with pixels that are square, upright.
    private func size(_ orientation: PictureOrientation) throws(CaptureError) -> (width: Int, height: Int) {
        let stored = unsafe stretched(
            Int(video.pointee.codecpar.pointee.width),
            Int(video.pointee.codecpar.pointee.height)
        )
        try Examination.check(stored.width, stored.height)
        return orientation.swapsSides ? (stored.height, stored.width) : stored
    }

    private func stretched(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
        let ratio = unsafe av_guess_sample_aspect_ratio(container.context, video, nil)
        guard ratio.num > 0, ratio.den > 0, ratio.num != ratio.den else { return (width, height) }
        let wide = av_rescale(Int64(width), Int64(ratio.num), Int64(ratio.den))
        return (Int(clamping: max(1, wide)), height)
    }

    /// The length, from the container; where it does not say, or says what a cut file can no longer know, by its packets.
    private func length() throws(CaptureError) -> Int64 {
        let said = unsafe container.context.pointee.duration
        if said > 0, said != cav_no_pts, !structure.isOpenEnded, isWhole {
            return MediaContainer.nanoseconds(said, AVRational(num: 1, den: AV_TIME_BASE))
        }
        // Opened anew: a file without an index cannot be gone back in.
        return try PacketScan(MediaContainer(file, signature), isLenient: !isWhole).duration
    }

    /// The first picture from here on.
    private func picture(_ decoder: StreamDecoder) throws(CaptureError) -> Raster? {
        let packet = try EncodedPacket(.video)
        var sent = 0
        while sent < MovieExamination.patience, try container.read(packet) {
            guard unsafe packet.packet.pointee.stream_index == video.pointee.index else { continue }
            sent += 1
            // What cannot be decoded is passed over: pictures begin with the first that can.
            guard decoder.send(packet) >= 0 else { continue }
            if decoder.receive() == 0 { return try raster(decoder) }
        }
        _ = decoder.send(nil)
        return decoder.receive() == 0 ? try raster(decoder) : nil
    }

    /// The picture at a time in nanoseconds, or the keyframe before it.
    private func picture(at time: Int64, _ decoder: StreamDecoder) throws(CaptureError) -> Raster? {
        let base = unsafe video.pointee.time_base
        let start = unsafe video.pointee.start_time == cav_no_pts ? 0 : video.pointee.start_time
        let wanted = av_rescale_q(time, AVRational(num: 1, den: 1_000_000_000), base)
        guard unsafe container.seek(video, to: start &+ wanted) else { return nil }
        decoder.flush()
        return try picture(decoder)
    }

    private func raster(_ decoder: StreamDecoder) throws(CaptureError) -> Raster {
        let (width, height) = unsafe (Int(decoder.frame.pointee.width), Int(decoder.frame.pointee.height))
        try Examination.check(width, height)
        let shown = stretched(width, height)
        let fitting = Raster.fit(shown.width, shown.height, within: ExaminedMedia.thumbnailEdges.max() ?? 1)
        return try unsafe Raster(decoder.frame, width: fitting.width, height: fitting.height)
    }
}
