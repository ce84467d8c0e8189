import CLibAV
import CaptureCore
import Glibc
import MediaConversion

/// A file of streams, demuxed by libavformat over a descriptor: it knows no path, opens nothing else, and is told what
/// demuxer to use. Thread-bound.
@safe
final class MediaContainer {
    /// What a file may not have more of.
    private static let mostStreams: Int32 = 64
    private static let bufferSize: Int32 = 256 << 10

    /// The demuxer's state.
    let context: UnsafeMutablePointer<AVFormatContext>
    /// Bytes of the file.
    let size: Int64
    private let input: UnsafeMutablePointer<AVIOContext>
    private let cursor: FileCursor
    private let signature: MediaSignature

    /// Opens the container and looks at its first packets.
    ///
    /// - Throws: `badData` for what cannot be read.
    init(_ file: ExaminedFile, _ signature: MediaSignature) throws(CaptureError) {
        self.signature = signature
        size = file.size
        cursor = FileCursor(file)
        guard let demuxer = unsafe av_find_input_format(signature.demuxer) else {
            throw CaptureError(.badData, "\(signature.name) files are not known to the libavformat that is installed")
        }
        let buffer = unsafe av_malloc(Int(MediaContainer.bufferSize))?.assumingMemoryBound(to: UInt8.self)
        unsafe input = try LibAV.made(
            avio_alloc_context(
                buffer,
                MediaContainer.bufferSize,
                0,
                Unmanaged.passUnretained(cursor).toOpaque(),
                { opaque, memory, count in unsafe FileCursor.read(opaque, memory, count) },
                nil,
                { opaque, offset, whence in unsafe FileCursor.seek(opaque, offset, whence) }
            )
        )
        var opened: UnsafeMutablePointer<AVFormatContext>? = unsafe avformat_alloc_context()
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        for (key, value) in [
            ("format_whitelist", "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,wav,flac,ogg,mp3"),
            ("protocol_whitelist", "none"), ("codec_whitelist", StreamDecoder.known.joined(separator: ",")),
            ("max_streams", "\(MediaContainer.mostStreams)"),
        ] { unsafe _ = av_dict_set(&options, key, value, 0) }
        unsafe opened?.pointee.pb = unsafe input
        unsafe opened?.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        unsafe opened.map { unsafe cav_refuse_references($0) }
        let result =
            unsafe opened == nil ? cav_error_from_errno(ENOMEM) : avformat_open_input(&opened, nil, demuxer, &options)
        guard result >= 0, let context = unsafe opened else {
            unsafe MediaContainer.free(input)
            throw cursor.failure ?? MediaContainer.refusal(signature, result)
        }
        unsafe self.context = unsafe context
        let found = unsafe avformat_find_stream_info(context, nil)
        guard found >= 0 else { throw cursor.failure ?? MediaContainer.refusal(signature, found) }
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe avformat_close_input(&context)
        unsafe MediaContainer.free(input)
    }

    private static func free(_ input: UnsafeMutablePointer<AVIOContext>) {
        var input: UnsafeMutablePointer<AVIOContext>? = unsafe input
        unsafe av_free(input?.pointee.buffer)
        unsafe avio_context_free(&input)
    }

    private static func refusal(_ signature: MediaSignature, _ code: Int32) -> CaptureError {
        if code == cav_error_from_errno(ENOMEM) {
            return CaptureError(.badData, "the \(signature.name) file takes more memory than looking into one may take")
        }
        let advice = signature == .heic ? "; older libavformats do not know HEIC, a JPEG is always known" : ""
        return CaptureError(.badData, "the \(signature.name) file cannot be read: \(LibAV.text(of: code))\(advice)")
    }

    /// What kind of container it is, as a person calls it.
    var name: String { signature.name }

    /// The first stream of a kind; pictures that are a cover, or a cut's small picture, do not count.
    func stream(_ type: AVMediaType) -> UnsafeMutablePointer<AVStream>? {
        for index in unsafe 0..<Int(context.pointee.nb_streams) {
            guard let stream = unsafe context.pointee.streams[index] else { continue }
            let isAside =
                unsafe stream.pointee.disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS) != 0
            if unsafe stream.pointee.codecpar.pointee.codec_type == type, !isAside { return unsafe stream }
        }
        return nil
    }

    /// Reads the next packet into one that is empty.
    ///
    /// - Returns: Whether there was one; `false` at the end of the file.
    /// - Throws: `badData` for a packet that is cut off or cannot be read.
    func read(_ packet: EncodedPacket) throws(CaptureError) -> Bool {
        unsafe av_packet_unref(packet.packet)
        let result = unsafe av_read_frame(context, packet.packet)
        if let failure = cursor.failure { throw failure }
        if result == cav_error_eof { return false }
        guard result >= 0 else { throw MediaContainer.refusal(signature, result) }
        return true
    }

    /// Goes to the last keyframe of a stream before a time, in the stream's time base.
    ///
    /// - Returns: Whether the container could.
    func seek(_ stream: UnsafeMutablePointer<AVStream>, to time: Int64) -> Bool {
        unsafe av_seek_frame(context, stream.pointee.index, time, AVSEEK_FLAG_BACKWARD) >= 0
    }

    /// When the container says that it was made, in milliseconds since 1970.
    var created: Int64? {
        for key in ["com.apple.quicktime.creationdate", "creation_time", "date"] {
            if let date = text(key).flatMap(MediaDate.iso) { return date }
        }
        return nil
    }

    /// What the file says under a key, or its first stream, in whose comments Ogg has it.
    private func text(_ key: String) -> String? {
        let stream = unsafe context.pointee.nb_streams > 0 ? context.pointee.streams[0] : nil
        let entry = unsafe av_dict_get(context.pointee.metadata, key, nil, 0)
        guard let entry = unsafe entry ?? av_dict_get(stream?.pointee.metadata, key, nil, 0) else { return nil }
        return unsafe String(cString: entry.pointee.value)
    }

    /// Nanoseconds of a time in a stream's time base; no more than can be added up, whatever a file says.
    static func nanoseconds(_ time: Int64, _ base: AVRational) -> Int64 {
        guard time != cav_no_pts, base.num > 0, base.den > 0 else { return 0 }
        return min(max(0, av_rescale_q(time, base, AVRational(num: 1, den: 1_000_000_000))), 1 << 60)
    }
}

/// Where libavformat stands in a file, and the first fault of reading it. Thread-bound.
private final class FileCursor {
    private let file: ExaminedFile
    private var position: Int64 = 0
    private(set) var failure: CaptureError?

    init(_ file: ExaminedFile) {
        self.file = file
    }

    static func read(_ opaque: UnsafeMutableRawPointer?, _ memory: UnsafeMutablePointer<UInt8>?, _ count: Int32)
        -> Int32
    {
        guard let opaque = unsafe opaque, count > 0 else { return cav_error_eof }
        let cursor = unsafe Unmanaged<FileCursor>.fromOpaque(opaque).takeUnretainedValue()
        do throws(CaptureError) {
            let target = unsafe UnsafeMutableRawBufferPointer(start: memory, count: Int(count))
            let came = try unsafe cursor.file.read(into: target, at: cursor.position)
            cursor.position += Int64(came)
            return came == 0 ? cav_error_eof : Int32(came)
        } catch {
            cursor.failure = cursor.failure ?? error
            return cav_error_from_errno(EIO)
        }
    }

    static func seek(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
        guard let opaque = unsafe opaque else { return -1 }
        let cursor = unsafe Unmanaged<FileCursor>.fromOpaque(opaque).takeUnretainedValue()
        let base: Int64
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return cursor.file.size
        case SEEK_SET: base = 0
        case SEEK_CUR: base = cursor.position
        case SEEK_END: base = cursor.file.size
        default: return Int64(cav_error_from_errno(EINVAL))
        }
        let (place, overflows) = base.addingReportingOverflow(offset)
        guard !overflows, place >= 0 else { return Int64(cav_error_from_errno(EINVAL)) }
        cursor.position = place
        return place
    }
}
