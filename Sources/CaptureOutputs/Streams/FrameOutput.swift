import CaptureCore
import MediaConversion

/// Frames one behind the other into a pipe, socket or file. Thread-bound to the writer's thread.
final class FrameOutput: MediaOutput {
    /// How a frame is written.
    enum Coding {
        /// As the converter left it.
        case bytes(name: String)
        case jpeg(JPEGEncoder)
        case y4m(Y4MHeader)
    }

    private let coding: Coding
    private let limits: OutputLimits
    private let interval: FrameInterval
    private let file: RecorderFile
    private let counters: RecorderCounters
    private var first: Timestamp?
    private var latest: Timestamp?
    /// The last picture of a stream that has a pace.
    private var last: MediaBuffer?
    private var frames = 0
    private var budget: FileBudget
    private(set) var reachedLimit: RecordingLimit?
    var isComplete: Bool { reachedLimit != nil }

    /// An output of frames.
    init(
        _ coding: Coding,
        limits: OutputLimits,
        interval: FrameInterval,
        file: RecorderFile,
        counters: RecorderCounters
    ) throws(CaptureError) {
        budget = try FileBudget(file, limits)
        self.coding = coding
        self.limits = limits
        self.interval = interval
        self.file = file
        self.counters = counters
        let name =
            switch coding {
            case .bytes(let name): name
            case .jpeg: "mjpeg"
            case .y4m: "rawvideo"
            }
        counters.update { $0.videoEncoder = name }
    }

    func write(video buffer: MediaBuffer) throws(CaptureError) {
        guard !isComplete else { return }
        let time = buffer.info.timestamp
        var start = first ?? time
        if let latest {
            let filled = max(FrameOutput.mostFilled, interval.nanoseconds)
            start = start.advanced(by: max(time - latest - filled, 0))
        }
        if limits.duration > 0, time - start >= limits.duration {
            try keepPace(until: limits.duration)
            note(length: limits.duration, lost: buffer.lostBefore)
            reachedLimit = reachedLimit ?? .duration
            return
        }
        // Times jitter; a whole picture's time without one is a loss.
        if let latest, time - latest > interval.nanoseconds / 2 * 3 { try keepPace(until: time - start) }
        guard !isComplete else { return note(length: time - start, lost: buffer.lostBefore) }
        switch coding {
        case .bytes: try unsafe write(whole: buffer.bytes)
        case .jpeg(let encoder): try unsafe write(whole: encoder.encode(buffer))
        case .y4m(let header):
            try write(buffer, after: first == nil ? header.bytes : [])
            last = buffer
        }
        guard !isComplete else { return note(length: time - start, lost: buffer.lostBefore) }
        first = start
        latest = time
        count()
        note(length: time - start + interval.nanoseconds, lost: buffer.lostBefore)
    }

    /// Writes a picture behind what comes before it, or neither if there is no room for both.
    private func write(
        whole bytes: UnsafeRawBufferPointer,
        after head: [UInt8] = []
    ) throws(CaptureError) {
        reachedLimit = try budget.limit(reachedBy: file.size + Int64(head.count + bytes.count))
        guard !isComplete else { return }
        try file.write(head)
        try unsafe file.write(bytes)
    }

    private func write(_ picture: MediaBuffer, after header: [UInt8] = []) throws(CaptureError) {
        try unsafe write(whole: picture.bytes, after: header + Y4MHeader.frame)
    }

    var shortfall: CaptureError? { frames == 0 ? FileBudget.shortfall(reachedLimit, "a frame") : nil }

    /// Nanoseconds of a gap that are filled with frames. The rest of a longer gap, as after a night without a signal, is left out.
    private static let mostFilled: Int64 = 10_000_000_000

    /// Repeats the last picture until as many are written as belong before a time, in nanoseconds from the first: a Y4M
    /// stream knows no times, each of its pictures lasts as long as the others.
    private func keepPace(until time: Int64) throws(CaptureError) {
        guard let last, interval.nanoseconds > 0 else { return }
        let wanted = Int((time + interval.nanoseconds / 2) / interval.nanoseconds)
        while frames < wanted, !isComplete {
            try write(last)
            if !isComplete { count() }
        }
    }

    private func count() {
        frames += 1
        if limits.frameCount > 0, frames >= limits.frameCount { reachedLimit = .frameCount }
    }

    private func note(length: Int64, lost: UInt64) {
        counters.update { counters in
            counters.frames = UInt64(frames)
            counters.missedFrames += lost
            counters.duration = length
            counters.bytes = UInt64(file.size)
        }
    }

    func streamEnded(_ kind: MediaType, lost: UInt64) throws(CaptureError) {
        if !isComplete { counters.update { $0.missedFrames += lost } }
    }

    func finish() throws(CaptureError) {
        file.trim()
        try file.sync()
    }
}

/// The first line of a YUV4MPEG2 stream.
struct Y4MHeader {
    /// What stands before each frame.
    static let frame = Array("FRAME\n".utf8)

    let layout: PictureLayout
    let color: ColorMeaning
    let interval: FrameInterval
    let fields: FieldOrder

    /// The line; 30 frames a second where the driver does not say.
    var bytes: [UInt8] {
        let isKnown = interval.numerator > 0
        let rate = isKnown ? "\(interval.denominator):\(interval.numerator)" : "30:1"
        let chroma = layout.samples == .yuv420 ? "420jpeg" : layout.samples == .yuv422 ? "422" : "444"
        let order = fields == .progressive ? "p" : fields == .topFirst ? "t" : "b"
        let range = color.isFullRange ? "FULL" : "LIMITED"
        return Array(
            "YUV4MPEG2 W\(layout.width) H\(layout.height) F\(rate) I\(order) A1:1 C\(chroma) XCOLORRANGE=\(range)\n"
                .utf8
        )
    }
}
