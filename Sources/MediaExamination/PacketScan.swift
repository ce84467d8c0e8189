import CLibAV
import CaptureCore

/// Reads every packet of a file, for what only its end tells.
struct PacketScan {
    /// From the first to the end of the last, in nanoseconds.
    let duration: Int64
    /// Packets that were whole.
    let count: Int

    /// Reads from where the container stands.
    ///
    /// - Parameter isLenient: Whether a packet that cannot be read is the end and no fault.
    init(_ container: MediaContainer, isLenient: Bool) throws(CaptureError) {
        let packet = try EncodedPacket(.video)
        var (first, last): (Int64?, Int64) = (nil, 0)
        var count = 0
        reading: while true {
            do throws(CaptureError) {
                guard try container.read(packet) else { break reading }
            } catch {
                if isLenient { break reading }
                throw error
            }
            guard unsafe packet.packet.pointee.flags & AV_PKT_FLAG_CORRUPT == 0 else {
                if isLenient { break }
                throw CaptureError(
                    .badData,
                    "the file is cut off: its packet at byte \(unsafe packet.packet.pointee.pos) is not whole"
                )
            }
            let index = unsafe Int(packet.packet.pointee.stream_index)
            guard let stream = unsafe container.context.pointee.streams[index] else { continue }
            let time =
                unsafe packet.packet.pointee.pts == cav_no_pts ? packet.packet.pointee.dts : packet.packet.pointee.pts
            guard time != cav_no_pts else { continue }
            count += 1
            let base = unsafe stream.pointee.time_base
            let start = MediaContainer.nanoseconds(time, base)
            first = min(first ?? start, start)
            last = max(last, start + MediaContainer.nanoseconds(unsafe max(packet.packet.pointee.duration, 0), base))
        }
        duration = max(0, last - (first ?? 0))
        self.count = count
    }
}
