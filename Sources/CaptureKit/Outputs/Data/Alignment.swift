import CaptureCore

/// Something with a time, of one of the streams that are aligned.
protocol AlignedData {
    /// When it was captured, in nanoseconds of the clock that all streams share.
    var start: Int64 { get }
    /// How long it lasts, or until the next one; 0 if nobody knows.
    var length: Int64 { get }
    /// The part captured from one time to before another, each sample in one part only; `nil` if there is none.
    func part(from: Int64, to: Int64) -> Self?
}

/// How much waits to be put together, in nanoseconds.
enum AlignmentLimits {
    /// How long a frame of the master waits at most for the other streams, after the next frame should have come, by
    /// the times of what any stream brings.
    static let patience: Int64 = 250_000_000
    /// Sound that is further behind than this belongs to no frame any more.
    static let longestGap: Int64 = 1_000_000_000
    /// The sound of frames up to this long is kept whole.
    static let longestFrame: Int64 = 10_000_000_000
    /// So many times between frames of the master are measured.
    static let gaps = 8
    /// The length of a frame if nothing tells it.
    static let usualFrame: Int64 = 33_333_333
    private static let shortestFrame: Int64 = 1_000_000
    /// Sets that may always wait for a handler.
    private static let fewestReady = 3

    /// A frame's length that can be reckoned with.
    static func length(_ told: Int64) -> Int64 { max(told > 0 ? told : usualFrame, shortestFrame) }

    /// Frames of the master that wait at most.
    static func waiting(_ length: Int64) -> Int { Int(patience / length) + 2 }

    /// Frames of any camera that wait at most: those of a while, and the nearest to each waiting frame of the master.
    static func frames(_ interval: Int64) -> Int { 2 * waiting(length(interval)) + 4 }

    /// Sets that wait for a handler at most. When a stream brings what many frames waited for, all of these become
    /// complete before the handler's thread wakes.
    static func ready(_ interval: Int64) -> Int { max(waiting(length(interval)), fewestReady) }

    /// How far back sound is kept for a master whose frames last so long.
    static func sound(_ length: Int64) -> Int64 { longestGap + patience + 2 * min(length, longestFrame) }
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
        /// Why there is no part.
        case dropped(DropReason)
    }
    /// What belongs to one time.
    struct Set: Sendable {
        let time: Int64
        /// One for each stream.
        let parts: [Part]
    }

    private struct Waiting: Sendable {
        let data: Data
        /// Why something directly before it was lost.
        var loss: DropReason?
        /// The newest time of any stream when it came.
        let newest: Int64
    }
    private struct Stream: Sendable {
        let isSound: Bool
        var waiting: [Waiting] = []
        /// Why something was lost before what comes next.
        var loss: DropReason?
        var isOver = false
        /// When what came last was captured.
        var newest: Int64?
        /// Up to where sound was handed over.
        var soundEnd: Int64?
    }
    private var streams: [Stream]
    /// The times between the master's last frames, some of which may be lost.
    private var gaps: [Int64] = []
    /// How long the master's newest frame lasts.
    private var length = AlignmentLimits.usualFrame

    /// An alignment of streams.
    ///
    /// - Parameter isSound: For each stream whether it is sound; the first is the master.
    init(isSound: [Bool]) {
        streams = isSound.map { Stream(isSound: $0) }
    }

    /// Takes the next of a stream.
    ///
    /// - Returns: How many older stretches of sound were thrown away, because too much waits, that belong to a waiting
    ///   frame of the master.
    mutating func put(_ data: Data, _ index: Int) -> Int {
        if index == 0 { measure(data) }
        streams[index].isOver = false
        streams[index].newest = data.start
        streams[index].waiting.append(Waiting(data: data, loss: streams[index].loss, newest: newest))
        streams[index].loss = nil
        if index == 0 { return 0 }
        if streams[index].isSound { return forgetSound(index) }
        forgetFrames(index)
        return 0
    }

    /// A stream lost something before what comes next.
    mutating func lose(_ reason: DropReason, _ index: Int) { streams[index].loss = reason }

    /// A stream is over: nobody waits for it.
    mutating func end(_ index: Int) {
        streams[index].isOver = true
        streams[index].newest = nil
        if isOver { forget() }
    }

    /// Forgets what waits for a frame of the master, and where sound has got to.
    mutating func forget() {
        for index in streams.indices.dropFirst() {
            streams[index].waiting = []
            streams[index].loss = nil
            streams[index].soundEnd = nil
        }
    }

    /// Whether the master is over and nothing of it is left.
    var isOver: Bool { streams[0].isOver && streams[0].waiting.isEmpty }

    /// How many sets may wait for a handler.
    var mostReady: Int { AlignmentLimits.ready(length) }

    /// How many of a stream wait.
    func waiting(_ index: Int) -> Int { streams[index].waiting.count }

    /// The next set, once it is complete or nothing more is waited for.
    mutating func next() -> Set? {
        guard let one = streams[0].waiting.first else { return nil }
        let first = one.data
        let (time, length) = (first.start, length(of: first))
        let isLate =
            streams[0].waiting.count > AlignmentLimits.waiting(length) || streams[0].isOver
            || newest &- one.newest >= AlignmentLimits.patience &+ length
        for index in streams.indices.dropFirst() where !isLate && !isDecided(index, time, length) { return nil }
        let parts = streams.indices.map { index in
            if index == 0 { return Part.data([first]) }
            let reason = isDecided(index, time, length) ? DropReason.missing : .late
            let found = streams[index].isSound ? sound(index, time, length) : frame(index, time, length)
            if !found.isEmpty { return .data(found) }
            let waiting = streams[index].waiting
            return .dropped((waiting.isEmpty ? streams[index].loss : waiting[0].loss) ?? reason)
        }
        streams[0].waiting.removeFirst()
        if isOver { forget() }
        return Set(time: time, parts: parts)
    }

    /// The newest time of what the streams brought last.
    private var newest: Int64 { streams.lazy.compactMap(\.newest).max() ?? 0 }

    /// Notes how far apart the master's frames are.
    private mutating func measure(_ data: Data) {
        if streams[0].isOver {
            gaps = []
            // Its partners begin again with it, and may be slower.
            for index in streams.indices { streams[index].isOver = false }
        }
        if let before = streams[0].newest, data.start > before {
            let gap = Timestamp(nanoseconds: data.start) - Timestamp(nanoseconds: before)
            gaps = gaps.suffix(AlignmentLimits.gaps - 1) + [gap]
        }
        length = length(of: data)
    }

    /// In dim light, frames may come more slowly than their camera says. A few long gaps may be losses.
    private func length(of data: Data) -> Int64 {
        if data.length > 0, gaps.count < AlignmentLimits.gaps { return AlignmentLimits.length(data.length) }
        return AlignmentLimits.length(max(data.length, gaps.min() ?? 0))
    }

    /// Whether what a stream brings next cannot belong to the set of this time.
    private func isDecided(_ index: Int, _ time: Int64, _ length: Int64) -> Bool {
        guard !streams[index].isOver else { return true }
        guard let last = streams[index].waiting.last?.data else { return false }
        return streams[index].isSound ? last.start &+ last.length >= time &+ length : last.start >= time
    }

    /// The place of the frame that is nearest to a time.
    private func nearest(_ index: Int, _ time: Int64) -> Int? {
        let waiting = streams[index].waiting
        func distance(_ place: Int) -> UInt64 { (waiting[place].data.start &- time).magnitude }
        return waiting.indices.min { distance($0) < distance($1) }
    }

    /// The frame that is nearest, if it is near enough. Older ones belong to nothing.
    private mutating func frame(_ index: Int, _ time: Int64, _ length: Int64) -> [Data] {
        if let place = nearest(index, time) {
            let data = streams[index].waiting[place].data
            if (data.start &- time).magnitude <= UInt64(length / 2) {
                streams[index].waiting.removeFirst(place + 1)
                return [data]
            }
        }
        streams[index].waiting.removeAll { $0.data.start < time &- length / 2 }
        return []
    }

    /// The sound that was not handed over yet, up to the next frame. It stays in its order, also where stamps overlap:
    /// behind something that is kept, everything is.
    private mutating func sound(_ index: Int, _ time: Int64, _ length: Int64) -> [Data] {
        let to = time &+ length
        let end = streams[index].soundEnd ?? .min
        // At the start and after a break sound begins with the frame; what was before it belongs to nothing.
        if end > to || end < time &- AlignmentLimits.longestGap { cut(index, from: time) }
        streams[index].soundEnd = to
        return cut(index, from: to)
    }

    /// Takes out the sound before a time, up to the first stretch of which something is kept.
    @discardableResult
    private mutating func cut(_ index: Int, from time: Int64) -> [Data] {
        let waiting = streams[index].waiting
        var taken: [Data] = []
        for (place, one) in waiting.enumerated() {
            if let part = one.data.part(from: .min, to: time) { taken.append(part) }
            guard let rest = one.data.part(from: time, to: .max) else { continue }
            let kept = Waiting(data: rest, loss: one.loss, newest: one.newest)
            streams[index].waiting = [kept] + waiting[(place + 1)...]
            return taken
        }
        streams[index].waiting = []
        return taken
    }

    /// Leaves out sound that is too old.
    private mutating func forgetSound(_ index: Int) -> Int {
        guard let last = streams[index].waiting.last?.data else { return 0 }
        let first = streams[0].waiting.first?.data
        let oldest = last.start &+ last.length &- AlignmentLimits.sound(length)
        let count = streams[index].waiting.prefix { $0.data.start &+ $0.data.length < oldest }.count
        guard count > 0 else { return 0 }
        let isWanted = { (one: Waiting) in first.map { one.data.start &+ one.data.length > $0.start } ?? false }
        let lost = streams[index].waiting.prefix(count).count(where: isWanted)
        streams[index].waiting.removeFirst(count)
        if lost > 0, !streams[index].waiting.isEmpty { streams[index].waiting[0].loss = .late }
        return lost
    }

    /// Leaves out frames that are old and the nearest to no waiting frame of the master.
    private mutating func forgetFrames(_ index: Int) {
        guard let last = streams[index].waiting.last?.data else { return }
        let oldest = last.start &- AlignmentLimits.patience
        guard let first = streams[index].waiting.first?.data, first.start < oldest else { return }
        let wanted = streams[0].waiting.compactMap { nearest(index, $0.data.start) }
        streams[index].waiting = streams[index].waiting.enumerated()
            .filter { $0.element.data.start >= oldest || wanted.contains($0.offset) }.map(\.element)
    }
}
