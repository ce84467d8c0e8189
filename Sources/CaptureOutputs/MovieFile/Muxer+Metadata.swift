import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

/// A movie's metadata: a track of text, each a JSON object, which players list among the subtitles and do not show by
/// themselves. Matroska has it as `S_TEXT/UTF8`, MP4 and MOV as `tx3g` (3GPP TS 26.245).
extension Muxer {
    /// Nanoseconds of a tick of that track. A text lasts one, since it is of a moment.
    static let metadataTick: Int64 = 1_000_000
    /// How a player of MP4 is to show a text: at the bottom, in white on black. The font is ffmpeg's usual one, so that it
    /// prints the text without tags.
    private static let style: [UInt8] =
        // No flags; centred, at the bottom; the background; the box that it is in.
        [0, 0, 0, 0, 1, 0xff] + [0, 0, 0, 0xff] + [0, 0, 0, 0, 0, 0, 0, 0]
        // For all characters: the first font, plain.
        + [0, 0, 0, 0, 0, 1, 0, 16, 0xff, 0xff, 0xff, 0xff]
        // The list of fonts has one.
        + [0, 0, 0, 18] + Array("ftab".utf8) + [0, 1, 0, 1, 5] + Array("Arial".utf8)

    /// Adds the track, before the header is written.
    func addMetadata() throws(CaptureError) {
        let stream = try unsafe newStream()
        let parameters = unsafe stream.pointee.codecpar
        unsafe parameters?.pointee.codec_type = AVMEDIA_TYPE_SUBTITLE
        unsafe parameters?.pointee.codec_id = container.isISO ? AV_CODEC_ID_MOV_TEXT : AV_CODEC_ID_SUBRIP
        if container.isISO { try unsafe Muxer.setHeader(Muxer.style, of: parameters) }
        unsafe stream.pointee.time_base = AVRational(num: 1, den: Int32(1_000_000_000 / Muxer.metadataTick))
        // No language at all (ISO 639-2).
        unsafe av_dict_set(&stream.pointee.metadata, "language", "zxx", 0)
        unsafe av_dict_set(&stream.pointee.metadata, container.isISO ? "handler_name" : "title", "metadata", 0)
        unsafe metadata = unsafe stream
    }

    /// Writes a text.
    ///
    /// - Parameter time: Nanoseconds of the file; later than that of the text before by a tick at least.
    func write(metadata text: String, at time: Int64) throws(CaptureError) {
        guard let stream = unsafe metadata else { return }
        var bytes = Array(text.utf8)
        if container.isISO { bytes = [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes }
        var packet = unsafe av_packet_alloc()
        defer { unsafe av_packet_free(&packet) }
        let made = try unsafe LibAV.made(packet)
        try unsafe LibAV.check("make a packet of text", av_new_packet(made, Int32(clamping: bytes.count)))
        unsafe UnsafeMutableRawBufferPointer(start: made.pointee.data, count: bytes.count).copyBytes(from: bytes)
        let nanoseconds = AVRational(num: 1, den: 1_000_000_000)
        let unit = unsafe stream.pointee.time_base
        unsafe made.pointee.pts = av_rescale_q(time, nanoseconds, unit)
        unsafe made.pointee.dts = made.pointee.pts
        unsafe made.pointee.duration = av_rescale_q(Muxer.metadataTick, nanoseconds, unit)
        unsafe made.pointee.flags = AV_PKT_FLAG_KEY
        unsafe made.pointee.stream_index = stream.pointee.index
        try unsafe writeUnlisted(made)
    }
}
