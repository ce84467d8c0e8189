import CLibAV
import CaptureCore

/// What libavcodec and libavformat say, in this program's words.
enum LibAV {
    /// Turns a negative result into an error.
    ///
    /// - Parameters:
    ///   - action: What was tried, as in `open the encoder libx264`.
    ///   - result: What the library returned.
    @discardableResult
    static func check(_ action: @autoclosure () -> String, _ result: Int32) throws(CaptureError) -> Int32 {
        if result >= 0 { return result }
        throw CaptureError(.internalFault, "could not \(action()): \(text(of: result))")
    }

    /// The object that the library was asked for, unless it has no memory to give.
    static func made<Object>(_ object: Object?) throws(CaptureError) -> Object {
        guard let object else { throw CaptureError(.internalFault, "the media libraries ran out of memory") }
        return object
    }

    /// The library's words for an error.
    static func text(of code: Int32) -> String {
        var characters = [CChar](repeating: 0, count: 128)
        unsafe av_strerror(code, &characters, characters.count)
        return unsafe characters.withUnsafeBufferPointer { characters in
            unsafe String(
                decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
        }
    }

    /// Lets the libraries write their errors, and nothing else, to standard error.
    static func quieten() {
        av_log_set_level(AV_LOG_ERROR)
    }
}

/// An encoded frame or stretch of sound, before or after its container's header is written.
@safe
final class EncodedPacket {
    /// Picture or sound.
    let kind: MediaType
    /// The packet; its times are in the time base of its encoder.
    let packet: UnsafeMutablePointer<AVPacket>

    /// An empty packet.
    init(_ kind: MediaType) throws(CaptureError) {
        self.kind = kind
        unsafe packet = try LibAV.made(av_packet_alloc())
    }

    /// A packet that lends the bytes of a buffer: nothing is copied.
    init(_ kind: MediaType, lending buffer: MediaBuffer, count: Int? = nil) throws(CaptureError) {
        self.kind = kind
        unsafe packet = try LibAV.made(av_packet_alloc())
        unsafe packet.pointee.buf = try LibAV.lend(buffer)
        unsafe packet.pointee.data = packet.pointee.buf.pointee.data
        unsafe packet.pointee.size = Int32(clamping: count ?? buffer.count)
    }

    /// A packet with a copy of some bytes.
    init(_ kind: MediaType, copying bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        self.kind = kind
        unsafe packet = try LibAV.made(av_packet_alloc())
        try unsafe LibAV.check("make a packet", av_new_packet(packet, Int32(clamping: bytes.count)))
        unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: bytes.count).copyMemory(from: bytes)
    }

    /// A packet with room for some bytes, and zeros behind them.
    init(_ kind: MediaType, room: Int) throws(CaptureError) {
        self.kind = kind
        unsafe packet = try LibAV.made(av_packet_alloc())
        try unsafe LibAV.check("make a packet of \(room) bytes", av_new_packet(packet, Int32(clamping: room)))
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av_packet_free(&packet)
    }

    /// The encoded bytes; valid as long as the packet.
    var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    }

    /// The encoded bytes, to be filled; valid as long as the packet.
    var mutableBytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    }

    /// Whether it holds nothing but what is beside the bytes.
    var isEmpty: Bool { unsafe packet.pointee.size == 0 }

    /// Whether decoding can begin here.
    var isKeyframe: Bool {
        get { unsafe packet.pointee.flags & AV_PKT_FLAG_KEY != 0 }
        set { unsafe packet.pointee.flags = newValue ? AV_PKT_FLAG_KEY : 0 }
    }
}

extension LibAV {
    /// The bytes of a buffer as one of the library's own, which gives them back when it is done.
    static func lend(_ buffer: MediaBuffer) throws(CaptureError) -> UnsafeMutablePointer<AVBufferRef> {
        let held = unsafe Unmanaged.passRetained(buffer)
        let bytes = unsafe buffer.mutableBytes
        let reference = unsafe av_buffer_create(
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count,
            { opaque, _ in
                if let opaque = unsafe opaque { unsafe Unmanaged<MediaBuffer>.fromOpaque(opaque).release() }
            },
            held.toOpaque(),
            AV_BUFFER_FLAG_READONLY
        )
        guard let reference = unsafe reference else {
            unsafe held.release()
            throw CaptureError(.internalFault, "the media libraries ran out of memory")
        }
        return unsafe reference
    }
}
