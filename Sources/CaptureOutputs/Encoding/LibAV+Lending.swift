import CLibAV
import CaptureCore
import MediaConversion
import MediaExamination

extension EncodedPacket {
    /// A packet that lends the bytes of a buffer: nothing is copied.
    convenience init(_ kind: MediaType, lending buffer: MediaBuffer, count: Int? = nil) throws(CaptureError) {
        try self.init(kind)
        unsafe packet.pointee.buf = try LibAV.lend(buffer)
        unsafe packet.pointee.data = packet.pointee.buf.pointee.data
        unsafe packet.pointee.size = Int32(clamping: count ?? buffer.count)
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

extension CodecContext {
    /// The packets that an encoder has made of what it was sent; `action` is for the message.
    func receive(_ kind: MediaType, _ action: @autoclosure () -> String) throws(CaptureError) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while true {
            let encoded = try EncodedPacket(kind)
            let result = unsafe avcodec_receive_packet(pointer, encoded.packet)
            if result == cav_error_eagain || result == cav_error_eof { return packets }
            try LibAV.check(action(), result)
            packets.append(encoded)
        }
    }
}
