import CLibAV
import CaptureCore

/// From the times of encoders to those of a container. Thread-bound.
struct PacketClock {
    /// Nanoseconds from the file's start to time 0 of the encoder.
    var offset: Int64
    /// The encoder's unit.
    let from: AVRational
    /// The container's unit.
    let to: AVRational
    /// Units of the container by which everything is shifted, and an edit list shifts back: the sound's padding, or the time
    /// by which pictures are decoded early.
    var shift: Int64 = 0
    private var lastDecoded: Int64 = .min

    /// A clock of a stream.
    init(offset: Int64, from: AVRational, to: AVRational, shift: Int64 = 0) {
        self.offset = offset
        self.from = from
        self.to = to
        self.shift = shift
    }

    /// Sets a packet's times; those of decoding rise always.
    ///
    /// - Parameter duration: Nanoseconds, for packets whose encoder does not say.
    /// - Returns: The packet's time before rounding, in nanoseconds from the file's start.
    mutating func stamp(_ packet: UnsafeMutablePointer<AVPacket>, duration: Int64) -> Int64 {
        let nanoseconds = AVRational(num: 1, den: 1_000_000_000)
        let own = unsafe packet.pointee.pts
        let exact = offset + av_rescale_q(own, from, nanoseconds)
        let rounding = AV_ROUND_NEAR_INF
        // Whole samples stay whole where both sides count samples.
        let start = av_rescale_q_rnd(offset, nanoseconds, to, rounding)
        let isSame = to.den == from.den && to.num == from.num
        let time = shift + (isSame ? start + own : av_rescale_q_rnd(exact, nanoseconds, to, rounding))
        let early = unsafe packet.pointee.dts == cav_no_pts ? 0 : max(own - packet.pointee.dts, 0)
        var decoded = time - av_rescale_q(early, from, to)
        // A container that takes the shift away has no time before its 0.
        if shift > 0 { decoded = max(decoded, 0) }
        if lastDecoded != .min { decoded = max(decoded, lastDecoded + 1) }
        lastDecoded = decoded
        unsafe packet.pointee.pts = max(time, decoded)
        unsafe packet.pointee.dts = decoded
        unsafe packet.pointee.duration =
            packet.pointee.duration > 0
            ? av_rescale_q(packet.pointee.duration, from, to) : av_rescale_q(duration, nanoseconds, to)
        unsafe packet.pointee.time_base = to
        return exact
    }
}
