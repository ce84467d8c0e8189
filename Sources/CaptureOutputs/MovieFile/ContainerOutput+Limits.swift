import CLibAV
import CaptureCore
import CaptureSystem
import MediaExamination

/// How large a container gets with what is on its way into it. Thread-bound.
struct ContainerLoad {
    /// Bytes, at most, of the file once all packets that were granted room are in it.
    var size: Int64 { flushedSize + written.bytes + granted.bytes }
    /// How many packets were granted room and are not flushed.
    var packets: Int64 { written.packets + granted.packets }
    private var flushedSize: Int64 = 0
    private var written: (bytes: Int64, packets: Int64) = (0, 0)
    private var granted: (bytes: Int64, packets: Int64) = (0, 0)
    /// Bytes of the largest packet of pictures so far.
    private(set) var largestPicture: Int64 = 0
    /// The kinds of which packets had no room: nothing more of them is written.
    var cut: Set<MediaType> = []

    /// Whether packets had no room.
    var isCut: Bool { !cut.isEmpty }

    /// Bytes that a packet takes, with what a container writes around it, amply.
    static func bytes(of packet: EncodedPacket) -> Int64 { bytes(of: unsafe Int64(packet.packet.pointee.size)) }

    /// The same for a packet of so many bytes.
    static func bytes(of size: Int64) -> Int64 { size + size / 128 + 64 }

    /// Looks how large packets are.
    mutating func measure(_ packet: EncodedPacket) {
        if packet.kind == .video { largestPicture = max(largestPicture, ContainerLoad.bytes(of: packet)) }
    }

    /// A packet is to be written.
    mutating func grant(_ packet: EncodedPacket) {
        granted.bytes += ContainerLoad.bytes(of: packet)
        granted.packets += 1
    }

    /// A packet that was granted room is written, but not flushed.
    mutating func write(_ packet: EncodedPacket) {
        let bytes = ContainerLoad.bytes(of: packet)
        (granted.bytes, granted.packets) = (granted.bytes - bytes, granted.packets - 1)
        (written.bytes, written.packets) = (written.bytes + bytes, written.packets + 1)
    }

    /// Some text is to be written, with a sample behind it that ends it.
    mutating func write(text bytes: Int64) {
        (written.bytes, written.packets) = (written.bytes + bytes, written.packets + 2)
    }

    /// Everything that was written is in the file.
    mutating func flushed(to size: Int64) {
        flushedSize = size
        // What is written around the next packets together.
        written = (512, 0)
    }
}

/// Ends a movie before it takes more room than it may.
///
/// It ends at the time of the first picture that might have no room: what the encoders still hold, the sound up to
/// there and the index are reckoned amply. Should it take more nevertheless, packets are left out.
extension ContainerOutput {
    /// Nanoseconds of sound that resampler and encoder may hold.
    private static let heldSound: Int64 = 200_000_000

    /// Nothing from that time on is taken.
    func end(at time: Timestamp, by cause: RecordingLimit?) {
        reachedLimit = reachedLimit ?? cause
        if let limit, limit.time <= time { return }
        setLimit(time, by: cause)
    }

    /// A size that a file may come to: its bytes, and those that fill a hole in it.
    private typealias Size = (bytes: Int64, filling: Int64)

    /// Whether sizes are reckoned at all.
    var hasSizes: Bool { budget.isLimited || limits.segmentSize ?? 0 > 0 }

    /// Which limit one more picture may break, with the sound beside it; `nil` for none.
    func limit(beforePicture buffer: MediaBuffer) throws(CaptureError) -> RecordingLimit? {
        guard budget.isLimited else { return nil }
        return try limit(reachedBy: size(withPicture: buffer))
    }

    /// Whether a segment has no room for one more picture.
    func isFull(for buffer: MediaBuffer) -> Bool {
        guard let most = limits.segmentSize, most > 0 else { return false }
        return (video == nil ? size(withSound: buffer) : size(withPicture: buffer)).bytes > most
    }

    /// Which limit one more stretch of sound may break; `nil` for none.
    func limit(beforeSound buffer: MediaBuffer) throws(CaptureError) -> RecordingLimit? {
        guard budget.isLimited else { return nil }
        return try limit(reachedBy: size(withSound: buffer))
    }

    private func limit(reachedBy size: Size) throws(CaptureError) -> RecordingLimit? {
        try budget.limit(reachedBy: size.bytes, filling: size.filling)
    }

    private func size(withPicture buffer: MediaBuffer) -> Size {
        let isCopied = video?.isCopied ?? false
        let own = isCopied ? ContainerLoad.bytes(of: Int64(buffer.count)) : load.largestPicture
        return size(adding: own, soundUntil: buffer.info.timestamp.advanced(by: video?.nominal ?? 0))
    }

    private func size(withSound buffer: MediaBuffer) -> Size {
        let length = timeline.map { $0.duration(of: Int64(buffer.count / $0.bytesPerFrame)) } ?? 0
        return size(adding: 0, soundUntil: buffer.info.timestamp.advanced(by: length))
    }

    private func size(adding bytes: Int64, soundUntil time: Timestamp) -> Size {
        let pictures = Int64(video?.pending ?? 0)
        var (more, packets) = (bytes + pictures * load.largestPicture, pictures + 1)
        if let sound, !ended.contains(.audio) {
            let end = soundEnd ?? epoch ?? time
            // A damaged ring may say any time.
            let length = min(max(time - end, 0), 60_000_000_000) + ContainerOutput.heldSound
            more += av_rescale(sound.mostBytesPerSecond, length, 1_000_000_000)
            packets += length / 5_000_000
        }
        for packet in held { more += ContainerLoad.bytes(of: packet) }
        return size(adding: more, packets: packets + Int64(held.count))
    }

    private func size(adding bytes: Int64, packets: Int64) -> Size {
        // Until there is a header, as much is kept for it as any container needs: MP4 has what it says twice.
        let said = tags.values.reduce(0) { $0 + 2 * Int64($1.utf8.count) }
        let chapters = markers.reckonSize(resumes: resumes.count)
        let ending =
            muxer?.ending(packets: load.packets + packets, chapters: chapters)
            ?? (growth: 16_384 + said + chapters, filling: 0)
        return (load.size + bytes + ending.growth, ending.filling)
    }

    /// Whether a text is still written.
    func hasRoom(forMetadata text: String) throws(CaptureError) -> Bool {
        guard hasSizes else { return true }
        let bytes = ContainerLoad.bytes(of: Int64(text.utf8.count)) + ContainerLoad.bytes(of: 0)
        if budget.isLimited, try limit(reachedBy: size(adding: bytes, packets: 2)) != nil { return false }
        load.write(text: bytes)
        return true
    }

    /// Whether a packet is still written. If it is not, the movie ends where it would begin.
    func hasRoom(for packet: EncodedPacket, at time: Int64) throws(CaptureError) -> Bool {
        guard hasSizes else { return true }
        // The last packet of some encoders tells the header something, and is empty.
        let isCut = !packet.isEmpty && load.cut.contains(packet.kind)
        guard !isCut else { return false }
        if budget.isLimited, !packet.isEmpty,
            let limit = try limit(reachedBy: size(adding: ContainerLoad.bytes(of: packet), packets: 1))
        {
            load.cut.insert(packet.kind)
            if packet.kind == .video { videoIsDone = true }
            end(at: (epoch ?? .now).advanced(by: max(time, 0)), by: limit)
            return false
        }
        load.grant(packet)
        return true
    }
}
