import CLibAV
import CaptureCore
import CaptureSystem
import MediaExamination

/// The newest pictures of a movie that has not begun, encoded and in memory alone. Thread-bound.
///
/// Each can be the first of the file: an encoder makes keyframes only, and a copied stream is kept from a keyframe on.
struct PreRoll {
    /// How much is kept, in nanoseconds.
    let length: Int64
    private let mostBytes: Int64
    /// In the order of decoding, with the time of each.
    private var packets: [(packet: EncodedPacket, time: Timestamp)] = []
    /// When each picture was captured, also of those that the encoder still holds, and the pauses before it.
    private var times: [(time: Timestamp, paused: Int64)] = []
    /// Bytes of the packets.
    private(set) var bytes: Int64 = 0
    /// Whether something was forgotten because it took too much memory.
    var isFull = false

    init(length: Int64, mostBytes: Int64) {
        self.length = length
        self.mostBytes = mostBytes
    }

    /// When the newest picture was captured.
    var newest: Timestamp? { times.last?.time }

    /// When the oldest picture was captured that is kept.
    var oldest: Timestamp? { packets.first?.time ?? times.first?.time }

    /// Keeps a picture's time when the encoder takes it.
    mutating func note(_ time: Timestamp, paused: Int64 = 0) {
        times.append((time, paused))
        trim()
    }

    /// Keeps what the encoder made. Without a keyframe before it, it is worth nothing.
    mutating func add(_ packet: EncodedPacket, _ time: Timestamp) {
        guard packet.isKeyframe || !packets.isEmpty else {
            // A packet tells its time to the microsecond below.
            return times.removeAll { $0.time < time.advanced(by: 1000) }
        }
        packets.append((packet, time))
        bytes += ContainerLoad.bytes(of: packet)
        trim()
    }

    /// Forgets what is too old, or too much: from one keyframe to the next, or all of it if none comes.
    private mutating func trim() {
        while let next = packets.dropFirst().firstIndex(where: \.packet.isKeyframe),
            bytes > mostBytes || newest.map({ $0 - packets[next].time >= length }) ?? false
        {
            if bytes > mostBytes { isFull = true }
            for (packet, _) in packets[..<next] { bytes -= ContainerLoad.bytes(of: packet) }
            packets.removeFirst(next)
        }
        if bytes > mostBytes {
            isFull = true
            if let last = packets.last?.time { times.removeAll { $0.time < last.advanced(by: 1000) } }
            (packets, bytes) = ([], 0)
        }
        if let oldest = packets.first?.time { times.removeAll { $0.time < oldest } }
    }

    /// The beginning of a movie.
    struct Beginning {
        /// When its pictures were captured.
        var times: [Timestamp]
        /// Those of them that are made.
        var packets: [EncodedPacket]
        /// Nanoseconds of pauses before the first.
        var paused: Int64
    }

    /// What a movie has that begins with what was shown at a time.
    ///
    /// - Parameter stale: A picture that is older by so many nanoseconds, since none came for a while, is no beginning.
    func beginning(at time: Timestamp, stale: Int64) -> Beginning {
        let shown = packets.lastIndex { $0.time <= time && $0.packet.isKeyframe }
        // A copied stream may have keyframes far apart.
        let newest = packets.last { $0.time <= time }
        let isStale = newest.map { time - $0.time > stale } ?? false
        let first =
            isStale ? packets.firstIndex { $0.time >= time && $0.packet.isKeyframe } : shown ?? packets.indices.first
        guard let first else {
            // Packets are of no use without their keyframe. Pictures that are still in the encoder come out as keyframes.
            let made = packets.last?.time.advanced(by: 1000)
            let later = times.filter { one in one.time >= time && made.map { one.time > $0 } ?? true }
            return Beginning(
                times: later.map(\.time),
                packets: [],
                paused: later.first?.paused ?? times.last?.paused ?? 0
            )
        }
        let start = packets[first].time
        let kept = times.filter { $0.time >= start }
        return Beginning(
            times: kept.map(\.time),
            packets: packets[first...].map(\.packet),
            paused: kept.first?.paused ?? 0
        )
    }
}

/// A movie that waits until somebody has it begin, and begins with what was before.
extension ContainerOutput {
    var isWaiting: Bool { preRoll != nil }

    /// Keeps a picture for as long as it may be wanted.
    func hold(video buffer: MediaBuffer) throws(CaptureError) {
        let time = buffer.info.timestamp
        guard let video, preRoll != nil else { return }
        if origin == nil {
            guard video.canBegin(with: buffer) else { return }
            origin = time
        }
        guard let origin, time >= origin, video.canGoOn(with: buffer) else { return }
        preRoll?.note(time, paused: buffer.paused)
        for packet in try video.encode(buffer, at: (time - origin) / 1000, isWaiting: true) {
            preRoll?.add(packet, captureTime(of: packet))
        }
        forgetEarlySound()
        counters.update { counters in
            counters.duration = preRoll.flatMap { roll in roll.oldest.map { time - $0 } } ?? 0
            counters.bytes = UInt64(max(preRoll?.bytes ?? 0, 0))
            counters.preRollIsFull = preRoll?.isFull ?? false
        }
    }

    /// Keeps sound for as long as it may be wanted.
    func hold(audio buffer: MediaBuffer) {
        early.hold(buffer)
        if early.keepNewest(Int(limits.preRollBytes) / max(buffer.count, 1)) { preRoll?.isFull = true }
        forgetEarlySound()
        let peak = timeline?.peak(of: buffer) ?? 0
        counters.update { counters in
            counters.peak = max(counters.peak, peak)
            guard video == nil, let preRoll else { return }
            counters.duration = min(early.length, preRoll.length)
            counters.bytes = UInt64(early.bytes)
            counters.preRollIsFull = preRoll.isFull
        }
    }

    /// Sound is kept as far back as the pictures that may be wanted, and some more: a buffer may reach into them.
    private func forgetEarlySound() {
        guard let preRoll, let newest = early.newest else { return }
        let wanted = newest.advanced(by: -preRoll.length)
        // For the old pictures of a camera that stalls, no sound is kept.
        let isStalled = preRoll.newest.map { newest - $0 > ContainerOutput.stale } ?? false
        let oldest = preRoll.oldest ?? wanted
        let pictures = isStalled ? max(oldest, wanted.advanced(by: -ContainerOutput.stale)) : oldest
        early.forget(before: min(pictures, wanted).advanced(by: -ContainerOutput.patience))
    }

    /// A picture that is shown for so long, in nanoseconds, is no beginning of a movie: nothing came from the camera.
    static let stale: Int64 = 5_000_000_000

    /// Begins the file with what was captured so long before a time.
    func begin(at time: Timestamp) throws(CaptureError) {
        guard let roll = preRoll else { return }
        preRoll = nil
        counters.update { counters in
            (counters.duration, counters.bytes) = (0, 0)
            (counters.isWaiting, counters.preRollIsFull) = (false, false)
        }
        let start = time.advanced(by: -roll.length)
        _ = metadata?.take(before: start)
        early.wake()
        // What the encoder still holds from before is left out.
        begunWith = start
        guard video != nil else {
            pausedBefore = early.paused(at: start)
            return soundStart = start
        }
        let beginning = roll.beginning(at: start, stale: ContainerOutput.stale)
        guard let first = beginning.times.first else { return soundStart = start }
        firstVideo = first
        begunWith = first
        _ = metadata?.take(before: first)
        pausedBefore = beginning.paused
        begin(from: first)
        for time in beginning.times { interval.note(time) }
        lastVideo = beginning.times.last
        frames = beginning.times.count
        counters.update { $0.frames = UInt64(beginning.times.count) }
        for packet in beginning.packets { try submit(packet) }
        try takeEarlySound()
        try settle()
    }

    /// Whether a picture that the encoder held when the movie began was captured before its beginning.
    func isTooOld(_ packet: EncodedPacket) -> Bool {
        guard packet.kind == .video, !packet.isEmpty, let begunWith else { return false }
        // Its packet tells the time to the microsecond below.
        return captureTime(of: packet).advanced(by: 1000) <= begunWith
    }

    /// When a picture was captured, to the microsecond that its packet tells.
    private func captureTime(of packet: EncodedPacket) -> Timestamp {
        let time = unsafe packet.packet.pointee.pts * 1000
        return (origin ?? Timestamp(nanoseconds: 0)).advanced(by: time)
    }
}
