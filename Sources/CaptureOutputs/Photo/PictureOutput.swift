import CaptureCore
import CaptureSystem
import MediaConversion
import MediaExamination

/// One picture, or a burst of consecutive ones, each in a file of its own, or in two of different formats. Frames that are
/// broken are passed over. Thread-bound to the writer's thread.
final class PictureOutput: MediaOutput {
    /// How long a whole picture is waited for, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    /// Of each picture's files.
    private let codings: [PictureCoding]
    /// Makes a part for each coding of a frame; `nil` for one coding.
    private let pairs: PairConverter?
    private let format: VideoFormat
    private let turn: PictureOrientation
    private let origin: CaptureOrigin
    private let files: [RecorderFile]
    private let counters: RecorderCounters
    /// The pictures that are to be taken, the next one first; `nil` if the camera is not set for each.
    private var orders: [(order: PictureOrder, time: Timestamp)]?
    /// Whether the next picture follows frames that are passed over on purpose.
    private var followsOthers = false
    private var waitsSince = Timestamp.now
    /// One for each file that is written.
    private var pictures: [CapturedPicture] = []
    /// The number of the last picture's frame, in the camera's own count.
    private var last: UInt64 = 0
    private var lost: UInt64 = 0

    /// An output of one picture of `format` into each file, or into as many as there are codings. The files say that they are
    /// from `origin`. Pictures that are ordered wait for their orders.
    init(
        _ codings: [PictureCoding],
        pairs: PairConverter? = nil,
        of format: VideoFormat,
        turned turn: PictureOrientation = .upright,
        _ origin: CaptureOrigin,
        files: [RecorderFile],
        isOrdered: Bool = false,
        counters: RecorderCounters
    ) {
        self.codings = codings
        self.pairs = pairs
        self.format = format
        self.turn = turn
        self.origin = origin
        self.files = files
        self.counters = counters
        orders = isOrdered ? [] : nil
        counters.update { $0.videoEncoder = codings.map(\.name).joined(separator: "+") }
    }

    var isComplete: Bool { pictures.count >= files.count }

    /// How many pictures are complete.
    private var taken: Int { pictures.count / codings.count }

    /// How many pictures it takes.
    private var wanted: Int { files.count / codings.count }

    func shoot(_ order: PictureOrder, at time: Timestamp) {
        waitsSince = .now
        orders?.append((order, time))
    }

    /// Whether a frame is to be taken, which has an order if pictures wait for one.
    private func isDue(_ buffer: MediaBuffer) -> Bool {
        guard let orders else { return true }
        guard let (order, time) = orders.first, buffer.info.timestamp > time else { return false }
        guard order.passing > 0 else { return true }
        self.orders?[0].order.passing -= 1
        (followsOthers, waitsSince) = (true, .now)
        return false
    }

    /// What the next picture is made with.
    private var originNow: CaptureOrigin {
        guard let order = orders?.first?.order else { return origin }
        var set = origin
        (set.exposure, set.isLit) = (order.exposure, order.isLit)
        if let bias = order.bias { (set.exposureBias, set.exposureMode) = (bias, .bracket) }
        return set
    }

    func write(video buffer: MediaBuffer) throws(CaptureError) {
        guard !isComplete, isDue(buffer) else { return }
        let facts = FileFacts(originNow, at: buffer.info.timestamp)
        lost += buffer.lostBefore
        let parts = pairs?.parts(of: buffer) ?? [buffer]
        guard zip(codings, parts).allSatisfy({ $0.isWhole($1) }) else { return try passOver() }
        if orders?.isEmpty == false { orders?.removeFirst() }
        noteFrame()
        // All of them before the first is written: a fault leaves no half of a pair behind it.
        var made: [[UInt8]] = []
        for (coding, part) in zip(codings, parts) {
            made.append(try coding.file(of: part, format, facts, turned: turn))
        }
        var sizes: [UInt64] = []
        for (file, bytes) in zip(files[pictures.count...], made) {
            try file.write(bytes)
            sizes.append(UInt64(file.size))
        }
        note(buffer.info, sizes, facts)
    }

    /// The next frame is there: the camera is not needed any more once the last one is.
    private func noteFrame() {
        let frames = taken + 1
        if frames == wanted {
            counters.feed { $0.frames = UInt64(frames) }
        } else {
            counters.update { $0.frames = UInt64(frames) }
            // The camera may be set for the next one.
            if orders != nil { counters.note(.progress(counters.report())) }
        }
    }

    private func note(_ info: BufferInfo, _ sizes: [UInt64], _ facts: FileFacts) {
        // A camera that starts anew counts from 0.
        let passed = info.deviceSequence > last ? info.deviceSequence - last - 1 : lost
        let before = pictures.isEmpty || followsOthers ? 0 : passed
        followsOthers = false
        for bytes in sizes {
            pictures.append(
                CapturedPicture(
                    time: facts.date.seconds * 1_000_000_000 + facts.date.nanoseconds,
                    lostBefore: before,
                    bytes: bytes
                )
            )
        }
        (last, lost, waitsSince) = (info.deviceSequence, 0, .now)
        let pictures = pictures
        counters.update { counters in
            counters.bytes += sizes.reduce(0, +)
            counters.pictures = pictures
        }
    }

    func idle() throws(CaptureError) {
        guard !isComplete, orders?.isEmpty != true, Timestamp.now - waitsSince > PictureOutput.patience else { return }
        throw CaptureError(.timedOut, "no whole picture came from the camera within ten seconds")
    }

    func finish() throws(CaptureError) {
        guard isComplete else {
            let rest = pictures.isEmpty ? "a whole picture" : "picture \(taken + 1) of \(wanted)"
            throw CaptureError(.inputOutput, "the camera's stream ended before \(rest) came")
        }
        for file in files {
            file.trim()
            try file.sync()
        }
    }

    func salvage() {
        // Nobody wants half a picture, or half a burst.
        for file in files { file.truncate(to: 0) }
        counters.update { counters in
            counters.frames = 0
            counters.bytes = 0
            counters.pictures = []
        }
    }

    private func passOver() throws(CaptureError) {
        lost += 1
        counters.update { $0.missedFrames += 1 }
        try idle()
    }
}
