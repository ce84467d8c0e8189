package import CLibAV
package import CaptureCore

/// What libavcodec and libavformat say, in this program's words.
package enum LibAV {
    /// Turns a negative result into an error.
    ///
    /// - Parameters:
    ///   - action: What was tried, as in `open the encoder libx264`.
    ///   - result: What the library returned.
    @discardableResult
    package static func check(_ action: @autoclosure () -> String, _ result: Int32) throws(CaptureError) -> Int32 {
        if result >= 0 { return result }
        throw CaptureError(.internalFault, "could not \(action()): \(text(of: result))")
    }

    /// The object that the library was asked for, unless it has no memory to give.
    package static func made<Object>(_ object: Object?) throws(CaptureError) -> Object {
        guard let object else { throw CaptureError(.internalFault, "the media libraries ran out of memory") }
        return object
    }

    /// The library's words for an error.
    package static func text(of code: Int32) -> String {
        var characters = [CChar](repeating: 0, count: 128)
        unsafe av_strerror(code, &characters, characters.count)
        return unsafe characters.withUnsafeBufferPointer { characters in
            unsafe String(
                decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
        }
    }

    /// Loads the libraries, which then write their errors, and nothing else, to standard error.
    ///
    /// Only needed before the sandbox closes, by what makes its first call after that.
    package static func load() throws(CaptureError) {
        guard let why = unsafe cav_load() else { return }
        throw CaptureError(.internalFault, unsafe "libav cannot be loaded: \(String(cString: why))")
    }
}

/// An encoded frame or stretch of sound, before or after its container's header is written.
@safe
package final class EncodedPacket {
    /// Picture or sound.
    package let kind: MediaType
    /// The packet; its times are in the time base of its encoder.
    package let packet: UnsafeMutablePointer<AVPacket>

    /// An empty packet.
    package init(_ kind: MediaType) throws(CaptureError) {
        self.kind = kind
        unsafe packet = try LibAV.made(av_packet_alloc())
    }

    /// A packet with a copy of some bytes.
    package init(_ kind: MediaType, copying bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        self.kind = kind
        unsafe packet = try LibAV.made(av_packet_alloc())
        try unsafe LibAV.check("make a packet", av_new_packet(packet, Int32(clamping: bytes.count)))
        unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: bytes.count).copyMemory(from: bytes)
    }

    /// A packet with room for some bytes, and zeros behind them.
    package init(_ kind: MediaType, room: Int) throws(CaptureError) {
        self.kind = kind
        unsafe packet = try LibAV.made(av_packet_alloc())
        try unsafe LibAV.check("make a packet of \(room) bytes", av_new_packet(packet, Int32(clamping: room)))
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av_packet_free(&packet)
    }

    /// The encoded bytes; valid as long as the packet.
    package var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    }

    /// The encoded bytes, to be filled; valid as long as the packet.
    package var mutableBytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    }

    /// Whether it holds nothing but what is beside the bytes.
    package var isEmpty: Bool { unsafe packet.pointee.size == 0 }

    /// Whether decoding can begin here.
    package var isKeyframe: Bool {
        get { unsafe packet.pointee.flags & AV_PKT_FLAG_KEY != 0 }
        set { unsafe packet.pointee.flags = newValue ? AV_PKT_FLAG_KEY : 0 }
    }
}
