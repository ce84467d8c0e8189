/// Something with a time, of one of the streams that are aligned.
protocol AlignedData {
    /// When it was captured, in nanoseconds of the clock that all streams share.
    var start: Int64 { get }
    /// How long it lasts, or until the next one; 0 if nobody knows.
    var length: Int64 { get }
    /// The part captured from one time to before another, each sample in one part only; `nil` if there is none.
    func part(from: Int64, to: Int64) -> Self?
}

/// Puts together what several streams captured at one time. Pure arithmetic, with bounded memory. Thread-bound.
///
/// The first stream is the master. Each of its frames is put together with the frame of each other camera that is
/// nearest, at most half a frame of the master away, and with the sound from there to the next. The sound of one stream
/// follows on without a gap, also where frames of the master are missing.
struct Alignment<Data: AlignedData & Sendable>: Sendable {
    /// A stream's part of a set.
    enum Part: Sendable {
        /// One frame, or the sound in its order.
        case data([Data])
        /// Nothing of that time came, or not early enough.
        case missing
        case late
    }
    /// What belongs to one time.
    struct Set: Sendable {
        let time: Int64
        /// One for each stream.
        let parts: [Part]
    }

    /// Frames of the master that wait for the other streams at most.
    static var mostWaiting: Int { 8 }
    /// How long a frame of the master waits at most, in nanoseconds of the streams' clock.
    static var patience: Int64 { 250_000_000 }
    /// What waits at most of another stream: fewer frames, and fewer periods of sound, than an output can hold.
    static func mostKept(isSound: Bool) -> Int { isSound ? 128 : 10 }
    /// The length of a master's frame if nothing tells it.
    private static var usualLength: Int64 { 33_333_333 }
    /// Sound that is further behind than this belongs to no frame any more.
    private static var longestGap: Int64 { 1_000_000_000 }

    private struct Stream: Sendable {
        let isSound: Bool
        var waiting: [Data] = []
        var isOver = false
        /// Up to where sound was handed over.
        var soundEnd: Int64?
    }
    private var streams: [Stream]
    private var lastLength: Int64 = 0
    private var lastTime: Int64?

    /// An alignment of streams.
    ///
    /// - Parameter isSound: For each stream whether it is sound; the first is the master.
    init(isSound: [Bool]) {
        streams = isSound.map { Stream(isSound: $0) }
    }

    /// Takes the next of a stream.
    ///
    /// - Returns: How many older ones were thrown away because too many wait.
    mutating func put(_ data: Data, _ index: Int) -> Int {
        streams[index].isOver = false
        streams[index].waiting.append(data)
        let most = Alignment.mostKept(isSound: streams[index].isSound)
        guard index > 0, streams[index].waiting.count > most else { return 0 }
        streams[index].waiting.removeFirst()
        return 1
    }

    /// A stream is over: nobody waits for it.
    mutating func end(_ index: Int) { streams[index].isOver = true }

    /// Whether the master is over and nothing of it is left.
    var isOver: Bool { streams[0].isOver && streams[0].waiting.isEmpty }

    /// The next set, once it is complete or nothing more is waited for.
    mutating func next() -> Set? {
        guard let first = streams[0].waiting.first, let newest = streams[0].waiting.last else { return nil }
        let time = first.start
        let length = length(of: first)
        let isLate =
            streams[0].waiting.count > Alignment.mostWaiting || newest.start &- time >= Alignment.patience &+ length
            || streams[0].isOver
        for index in streams.indices.dropFirst() where !isLate && !isDecided(index, time, length) { return nil }
        let parts = streams.indices.map { index in
            if index == 0 { return Part.data([first]) }
            let isMissing = isDecided(index, time, length)
            let found = streams[index].isSound ? sound(index, time, length) : frame(index, time, length)
            return found.isEmpty ? (isMissing ? .missing : .late) : .data(found)
        }
        streams[0].waiting.removeFirst()
        lastTime = time
        return Set(time: time, parts: parts)
    }

    private mutating func length(of data: Data) -> Int64 {
        if data.length > 0 {
            lastLength = data.length
        } else if let lastTime, data.start > lastTime {
            lastLength = lastLength == 0 ? data.start - lastTime : min(lastLength, data.start - lastTime)
        }
        return lastLength > 0 ? lastLength : Alignment.usualLength
    }

    /// Whether what a stream brings next cannot belong to the set of this time.
    private func isDecided(_ index: Int, _ time: Int64, _ length: Int64) -> Bool {
        guard !streams[index].isOver else { return true }
        guard let last = streams[index].waiting.last else { return false }
        return streams[index].isSound ? last.start &+ last.length >= time &+ length : last.start >= time
    }

    /// The frame that is nearest, if it is near enough. Older ones belong to nothing.
    private mutating func frame(_ index: Int, _ time: Int64, _ length: Int64) -> [Data] {
        func distance(_ data: Data) -> UInt64 { (data.start &- time).magnitude }
        let waiting = streams[index].waiting
        let nearest = waiting.indices.min { distance(waiting[$0]) < distance(waiting[$1]) }
        if let nearest, distance(waiting[nearest]) <= UInt64(length / 2) {
            streams[index].waiting.removeFirst(nearest + 1)
            return [waiting[nearest]]
        }
        streams[index].waiting.removeAll { $0.start < time &- length / 2 }
        return []
    }

    /// The sound that was not handed over yet, up to the next frame.
    private mutating func sound(_ index: Int, _ time: Int64, _ length: Int64) -> [Data] {
        let to = time &+ length
        let end = streams[index].soundEnd ?? .min
        // At the start and after a break sound begins with the frame; what was before it belongs to nothing.
        if end > to || end < time &- Alignment.longestGap {
            streams[index].waiting = streams[index].waiting.compactMap { $0.part(from: time, to: .max) }
        }
        let parts = streams[index].waiting.compactMap { $0.part(from: .min, to: to) }
        streams[index].waiting = streams[index].waiting.compactMap { $0.part(from: to, to: .max) }
        streams[index].soundEnd = to
        return parts
    }
}
