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
    /// When each picture was captured, also of those that the encoder still holds.
    private var times: [Timestamp] = []
    /// Bytes of the packets.
    private(set) var bytes: Int64 = 0

    init(length: Int64, mostBytes: Int64 = OutputDescription.mostPreRollBytes) {
        self.length = length
        self.mostBytes = mostBytes
    }

    /// When the newest picture was captured.
    var newest: Timestamp? { times.last }

    /// When the oldest picture was captured that is kept.
    var oldest: Timestamp? { packets.first?.time ?? times.first }

    /// Keeps a picture's time when the encoder takes it.
    mutating func note(_ time: Timestamp) {
        times.append(time)
        trim()
    }

    /// Keeps what the encoder made.
    mutating func add(_ packet: EncodedPacket, _ time: Timestamp) {
        packets.append((packet, time))
        bytes += ContainerLoad.bytes(of: packet)
        trim()
    }

    /// Forgets what is too old, or too much: from one keyframe to the next.
    private mutating func trim() {
        while let next = packets.dropFirst().firstIndex(where: \.packet.isKeyframe),
            bytes > mostBytes || newest.map({ $0 - packets[next].time >= length }) ?? false
        {
            for (packet, _) in packets[..<next] { bytes -= ContainerLoad.bytes(of: packet) }
            packets.removeFirst(next)
        }
        if let oldest = packets.first?.time { times.removeAll { $0 < oldest } }
    }

    /// What a movie has that begins with what was shown at a time: its pictures' times, and the packets that are made.
    func cut(at time: Timestamp) -> (times: [Timestamp], packets: [EncodedPacket]) {
        let first = packets.lastIndex { $0.time <= time && $0.packet.isKeyframe } ?? packets.startIndex
        guard first < packets.endIndex else { return (times.filter { $0 >= time }, []) }
        let start = packets[first].time
        return (times.filter { $0 >= start }, packets[first...].map(\.packet))
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
        preRoll?.note(time)
        for packet in try video.encode(buffer, at: (time - origin) / 1000, isWaiting: true) {
            preRoll?.add(packet, captureTime(of: packet))
        }
        pausedBefore = buffer.paused
        forgetEarlySound()
        counters.update { counters in
            counters.duration = preRoll.flatMap { roll in roll.oldest.map { time - $0 } } ?? 0
            counters.bytes = UInt64(max(preRoll?.bytes ?? 0, 0))
        }
    }

    /// Keeps sound for as long as it may be wanted.
    func hold(audio buffer: MediaBuffer) {
        early.hold(buffer)
        if video == nil { pausedBefore = buffer.paused }
        forgetEarlySound()
    }

    /// Sound is kept as far back as pictures are, and some more: a buffer may reach into them.
    private func forgetEarlySound() {
        guard let preRoll, let newest = early.newest else { return }
        let wanted = newest.advanced(by: -preRoll.length)
        early.forget(before: min(preRoll.oldest ?? wanted, wanted).advanced(by: -ContainerOutput.patience))
    }

    /// Begins the file with what was captured so long before a time.
    func begin(at time: Timestamp) throws(CaptureError) {
        guard let roll = preRoll else { return }
        preRoll = nil
        counters.update { counters in
            (counters.duration, counters.bytes, counters.isWaiting) = (0, 0, false)
        }
        let start = time.advanced(by: -roll.length)
        early.wake()
        guard video != nil else { return soundStart = start }
        let (times, packets) = roll.cut(at: start)
        guard let first = times.first else { return }
        firstVideo = first
        begunWith = first
        begin(from: first)
        for time in times { interval.note(time) }
        lastVideo = times.last
        frames = times.count
        counters.update { $0.frames = UInt64(times.count) }
        for packet in packets { try submit(packet) }
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
