import CLibAV
import CaptureCore
import Glibc
import MediaConversion
import MediaExamination

/// A container, written by libavformat into the client's file. Thread-bound.
///
/// What is flushed is in the file, and stays playable whatever happens to the process. MP4 and MOV are written in
/// fragments and turned into ordinary files when they end (`HybridMP4`).
@safe
final class Muxer {
    /// Units of a second in the pictures' times in MP4 and MOV: whole numbers for 24, 25, 30, 50, 60 and 29.97 pictures a
    /// second. A picture lasts at most `Int32.max` of them in libavformat, here 19 h 53 min: a night without a signal.
    private static let videoTimescale: Int32 = 30_000

    /// The kinds of container.
    enum Container: String {
        case matroska
        case mp4
        case mov
        /// MP4 of sound alone; libavformat names it after the player that knew it first.
        case m4a = "ipod"
        case ogg
        case flac

        /// Whether it is of the family of ISO/IEC 14496-12.
        var isISO: Bool { self == .mp4 || self == .mov || self == .m4a }
        /// Whether players find chapters in it.
        var hasChapters: Bool { isISO || self == .matroska }
    }

    /// Which.
    let container: Container
    private let context: UnsafeMutablePointer<AVFormatContext>
    private var transport: UnsafeMutablePointer<AVIOContext>?
    private let sink: MuxerSink
    private var streams: [MediaType: UnsafeMutablePointer<AVStream>] = unsafe [:]
    /// The stream of text, if there is one.
    var metadata: UnsafeMutablePointer<AVStream>?
    private var index = SparseIndex()
    private var hasHeader = false
    private var goodEnd: Int64 = 0

    /// A container without streams.
    ///
    /// - Parameters:
    ///   - duration: Nanoseconds that it will last; 0 if that is not known.
    ///   - size: Bytes that it is to have at most; 0 for any size.
    init(_ container: Container, _ file: RecorderFile, duration: Int64, size: Int64) throws(CaptureError) {
        self.container = container
        var made: UnsafeMutablePointer<AVFormatContext>?
        try unsafe LibAV.check(
            "make a \(container.rawValue) file",
            avformat_alloc_output_context2(&made, nil, container.rawValue, nil)
        )
        unsafe context = try LibAV.made(made)
        sink = MuxerSink(
            file,
            hybrid: container.isISO ? HybridMP4(file, duration: duration, size: size) : nil,
            head: container == .matroska && file.isSeekable ? MatroskaHead(file) : nil
        )
        // As much as half a second of most recordings, after which all of it is written.
        let size = 1 << 18
        let buffer = unsafe av_malloc(size)
        // Fragments are written in one go: a sink that cannot go back suits them, and their index is made here.
        let canSeek = file.isSeekable && !container.isISO
        unsafe transport = avio_alloc_context(
            buffer?.assumingMemoryBound(to: UInt8.self),
            Int32(size),
            1,
            Unmanaged.passUnretained(sink).toOpaque(),
            nil,
            { opaque, bytes, count in
                guard let opaque = unsafe opaque, let bytes = unsafe bytes else { return cav_error_from_errno(EINVAL) }
                let sink = unsafe Unmanaged<MuxerSink>.fromOpaque(opaque).takeUnretainedValue()
                return unsafe sink.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            },
            canSeek
                ? { opaque, offset, whence in
                    guard let opaque = unsafe opaque else { return Int64(cav_error_from_errno(EINVAL)) }
                    let sink = unsafe Unmanaged<MuxerSink>.fromOpaque(opaque).takeUnretainedValue()
                    return sink.seek(offset, whence)
                } : nil
        )
        unsafe context.pointee.pb = try LibAV.made(transport)
        unsafe context.pointee.avoid_negative_ts = 0
        unsafe context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    }

    deinit {
        unsafe avformat_free_context(context)
        if let made = unsafe transport {
            unsafe av_free(made.pointee.buffer)
            unsafe avio_context_free(&transport)
        }
    }

    /// Adds the stream of an encoder.
    func addStream(_ kind: MediaType, encoder: UnsafeMutablePointer<AVCodecContext>) throws(CaptureError) {
        let stream = try unsafe newStream()
        try unsafe LibAV.check("add a stream", avcodec_parameters_from_context(stream.pointee.codecpar, encoder))
        unsafe stream.pointee.time_base = encoder.pointee.time_base
        unsafe streams[kind] = unsafe stream
    }

    /// Adds a stream of pictures that were compressed elsewhere.
    ///
    /// - Parameter header: Parameter sets that a player needs first; empty for none.
    func addStream(compressed format: VideoFormat, as codec: AVCodecID, header: [UInt8]) throws(CaptureError) {
        let stream = try unsafe newStream()
        let parameters = unsafe stream.pointee.codecpar
        unsafe parameters?.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters?.pointee.codec_id = codec
        unsafe parameters?.pointee.width = Int32(format.width)
        unsafe parameters?.pointee.height = Int32(format.height)
        if codec == AV_CODEC_ID_MJPEG {
            unsafe parameters?.pointee.format = AV_PIX_FMT_YUVJ422P.rawValue
            unsafe parameters?.pointee.color_range = AVCOL_RANGE_JPEG
        }
        if !header.isEmpty { try unsafe Muxer.setHeader(header, of: parameters) }
        unsafe stream.pointee.time_base = AVRational(num: 1, den: Self.videoTimescale)
        unsafe streams[.video] = unsafe stream
    }

    /// A stream that is still to be described.
    func newStream() throws(CaptureError) -> UnsafeMutablePointer<AVStream> {
        try unsafe LibAV.made(avformat_new_stream(context, nil))
    }

    /// Gives a stream what a decoder needs first.
    static func setHeader(_ header: [UInt8], of parameters: UnsafeMutablePointer<AVCodecParameters>?)
        throws(CaptureError)
    {
        let room = unsafe av_mallocz(header.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        let bytes = try unsafe LibAV.made(room).assumingMemoryBound(to: UInt8.self)
        unsafe parameters?.pointee.extradata = unsafe bytes
        unsafe parameters?.pointee.extradata_size = Int32(header.count)
        for (index, byte) in header.enumerated() { unsafe bytes[index] = byte }
    }

    /// Says how often pictures come, nominally. A Matroska file says how often they came, if it can be gone back in.
    func setFrameRate(_ interval: FrameInterval) {
        let rate: AVRational
        if container == .matroska {
            guard sink.head != nil else { return }
            let room = max(interval.nanoseconds, MatroskaHead.placeholder)
            rate = AVRational(num: 1_000_000_000, den: Int32(clamping: room))
        } else {
            guard interval.numerator > 0 else { return }
            rate = AVRational(num: Int32(clamping: interval.denominator), den: Int32(clamping: interval.numerator))
        }
        unsafe streams[.video]?.pointee.avg_frame_rate = rate
    }

    /// Says when and with which devices it is made.
    func describe(_ facts: FileFacts) {
        for (key, value) in facts.tags(of: container) {
            unsafe av_dict_set(&context.pointee.metadata, key, value, 0)
        }
        guard let key = container.isISO ? "handler_name" : container == .matroska ? "title" : nil else { return }
        for kind in [MediaType.video, .audio] {
            guard let stream = unsafe streams[kind], !facts.name(of: kind).isEmpty else { continue }
            unsafe av_dict_set(&stream.pointee.metadata, key, facts.name(of: kind), 0)
        }
    }

    /// Writes the header; no stream can be added afterwards.
    ///
    /// - Parameters:
    ///   - audioPadding: Samples of nothing before the first of the sound, for containers that can say so.
    ///   - reordering: Nanoseconds by which pictures are decoded before they are shown, for containers that can say so.
    ///   - fragments: Nanoseconds from one `flush` to the next.
    func writeHeader(
        audioPadding: Int,
        reordering: Int64,
        fragments: Int64 = OutputDescription.usualFragmentInterval
    ) throws(CaptureError) {
        sink.hybrid?.audioPadding = audioPadding
        sink.hybrid?.reordering = reordering
        sink.hybrid?.hasVideo = unsafe streams[.video] != nil
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        let settings: [(String, String)] =
            switch container {
            case .mp4, .mov, .m4a:
                [
                    (
                        "movflags",
                        "frag_custom+empty_moov+default_base_moof+frag_discont+skip_trailer+use_metadata_tags"
                    ),
                    ("use_editlist", "0"), ("video_track_timescale", "\(Self.videoTimescale)"),
                ]
            case .matroska:
                // A cluster ends when it is flushed; one of a pipe, and one whose flush is late, by itself. A sum over each
                // took a quarter of the time of a recording that is copied, and no player looks.
                [
                    ("cluster_time_limit", "\(fragments / 500_000)"), ("reserve_index_space", "0"),
                    ("write_crc32", "0"),
                ] + (sink.file.isSeekable ? [("cluster_size_limit", "\(ContainerOutput.mostUnflushed)")] : [])
            case .ogg: [("page_duration", "200000")]
            case .flac: []
            }
        for (key, value) in settings { unsafe av_dict_set(&options, key, value, 0) }
        try check("write the header of a \(container.rawValue) file", unsafe avformat_write_header(context, &options))
        hasHeader = true
        try flush(length: 0)
        if case .expected = sink.projection {
            throw CaptureError(.internalFault, "the header of a matroska file has no projection to correct")
        }
        sink.head?.headerEnded()
    }

    /// The stream of pictures.
    var video: UnsafeMutablePointer<AVStream>? { unsafe streams[.video] }

    /// The header of a Matroska file will say how pictures lie in space, which are to be flat.
    func setsProjection() { sink.projection = .expected }

    /// The unit in which times of a stream are written; known once the header is.
    func timeBase(of kind: MediaType) -> AVRational {
        unsafe streams[kind]?.pointee.time_base ?? AVRational(num: 1, den: 1000)
    }

    /// Nanoseconds of a stretch of time in a stream's unit.
    func nanoseconds(_ time: Int64, _ kind: MediaType) -> Int64 {
        av_rescale_q(time, timeBase(of: kind), AVRational(num: 1, den: 1_000_000_000))
    }

    /// Writes a packet, whose times are already in the stream's unit.
    func write(_ encoded: EncodedPacket) throws(CaptureError) {
        guard let stream = unsafe streams[encoded.kind] else { return }
        unsafe encoded.packet.pointee.stream_index = stream.pointee.index
        let time = nanoseconds(unsafe encoded.packet.pointee.pts, encoded.kind)
        if container == .matroska, !index.takes(encoded, at: time, hasVideo: unsafe streams[.video] != nil) {
            return try unsafe writeUnlisted(encoded.packet)
        }
        try unsafe write(packet: encoded.packet)
    }

    /// Writes a packet that the index of a Matroska file does not point at.
    func writeUnlisted(_ packet: UnsafeMutablePointer<AVPacket>) throws(CaptureError) {
        // libavformat notes a place in the index if it could go back, and asks for nothing else here (tried, 5.1).
        let seekable = unsafe transport?.pointee.seekable ?? 0
        unsafe transport?.pointee.seekable = 0
        defer { unsafe transport?.pointee.seekable = seekable }
        try unsafe write(packet: packet)
    }

    private func write(packet: UnsafeMutablePointer<AVPacket>) throws(CaptureError) {
        try check("write to a \(container.rawValue) file", unsafe av_write_frame(context, packet))
    }

    /// Brings everything that was written into the file.
    ///
    /// - Parameters:
    ///   - length: Nanoseconds that the file lasts then.
    ///   - interval: Nanoseconds from one picture to the next, if they are known.
    func flush(length: Int64, interval: Int64? = nil) throws(CaptureError) {
        guard hasHeader else { return }
        let result = unsafe av_write_frame(context, nil)
        unsafe avio_flush(transport)
        try check("write to a \(container.rawValue) file", result)
        goodEnd = sink.file.position
        try sink.head?.set(length: length)
        if let interval { try sink.head?.set(interval: interval) }
    }

    /// What the end of the file takes: bytes by which it grows, and bytes that fill a hole in it.
    ///
    /// - Parameters:
    ///   - packets: How many are not flushed, or still to be written.
    ///   - chapters: Bytes of the chapters.
    func ending(packets: Int64, chapters: Int64) -> (growth: Int64, filling: Int64) {
        if let hybrid = sink.hybrid { return hybrid.ending(samples: packets, chapters: chapters) }
        // A place in Matroska's index is at most 36 bytes, its header and the other trailers are short.
        return (1024 + 40 * (index.count + 1) + chapters, 0)
    }

    /// Ends the file, with its index.
    ///
    /// - Parameters:
    ///   - audioLength: Samples of the sound that are meant, for containers that can say so.
    ///   - interval: Nanoseconds from one picture to the next, if they are known.
    ///   - chapters: In the order of their times, for containers that can have them.
    func finish(audioLength: Int64, interval: Int64?, chapters: [Chapter]) throws(CaptureError) {
        guard hasHeader else { return }
        sink.hybrid?.audioLength = audioLength
        sink.hybrid?.chapters = chapters
        if container.isISO {
            try flush(length: 0)
            try sink.hybrid?.finish()
        } else {
            for chapter in chapters {
                let result = unsafe cav_add_chapter(context, chapter.start, chapter.end, chapter.title)
                try LibAV.check("add a chapter", result)
            }
            let result = unsafe av_write_trailer(context)
            unsafe avio_flush(transport)
            try check("end a \(container.rawValue) file", result)
            // libavformat has written the tracks once more.
            if sink.file.isSeekable, case .written(let place) = sink.projection {
                try sink.file.overwrite(MatroskaProjection.flat, at: place)
            }
            if let interval { try sink.head?.set(interval: interval) }
        }
    }

    /// After a fault of writing: cuts what was torn, and gives what is left an index where there is room for one.
    func salvage() {
        guard hasHeader, sink.file.isSeekable else { return }
        sink.file.truncate(to: goodEnd)
        guard let hybrid = sink.hybrid else { return }
        do throws(CaptureError) {
            try hybrid.finish(at: goodEnd)
        } catch {
            // Without an index the fragments are still a file.
            sink.file.truncate(to: goodEnd)
        }
    }

    private func check(_ action: @autoclosure () -> String, _ result: Int32) throws(CaptureError) {
        if let failure = sink.file.failure ?? sink.failure { throw failure }
        try LibAV.check(action(), result)
    }
}

/// Where libavformat's bytes go. Thread-bound.
final class MuxerSink {
    let file: RecorderFile
    let hybrid: HybridMP4?
    var head: MatroskaHead?
    /// Whether pictures with a pose are flat ones, and where the file says so.
    var projection = Projection.none

    enum Projection {
        case none
        case expected
        case written(at: Int64)
    }

    private(set) var failure: CaptureError?

    init(_ file: RecorderFile, hybrid: HybridMP4?, head: MatroskaHead?) {
        self.file = file
        self.hybrid = hybrid
        self.head = head
    }

    /// - Returns: How many bytes were taken, or libav's number of an error.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        do throws(CaptureError) {
            if let hybrid {
                try unsafe hybrid.write(bytes)
            } else if case .expected = projection, let header = unsafe MatroskaProjection.flattened(bytes) {
                projection = .written(at: file.position + Int64(header.place))
                try write(header: header.bytes)
            } else {
                unsafe head?.look(at: bytes, position: file.position)
                try unsafe file.write(bytes)
            }
            return Int32(clamping: bytes.count)
        } catch {
            if failure == nil { failure = error }
            return cav_error_from_errno(error.errno == 0 ? EIO : error.errno)
        }
    }

    private func write(header: [UInt8]) throws(CaptureError) {
        try unsafe header.withUnsafeBufferPointer { (bytes) throws(CaptureError) in
            unsafe head?.look(at: UnsafeRawBufferPointer(bytes), position: file.position)
            try unsafe file.write(UnsafeRawBufferPointer(bytes))
        }
    }

    /// - Returns: The new position, or the file's size when that is asked for.
    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return file.size
        case SEEK_SET: file.seek(to: offset)
        case SEEK_CUR: file.seek(to: file.position + offset)
        case SEEK_END: file.seek(to: file.size + offset)
        default: return Int64(cav_error_from_errno(EINVAL))
        }
        return file.position
    }
}
