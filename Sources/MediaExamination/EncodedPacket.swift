package import CLibAV
package import CaptureCore
import MediaConversion

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
    package convenience init(_ kind: MediaType, copying bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        try self.init(kind, room: bytes.count)
        unsafe mutableBytes.copyMemory(from: bytes)
    }

    /// A packet with room for some bytes, and zeros behind them.
    package convenience init(_ kind: MediaType, room: Int) throws(CaptureError) {
        try self.init(kind)
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
