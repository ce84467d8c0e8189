import CaptureCore

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
    private let file: OutputFile
    private let counters: RecorderCounters
    private var first: Timestamp?
    private var frames = 0
    private(set) var isComplete = false

    /// An output of frames.
    init(
        _ coding: Coding,
        limits: OutputLimits,
        interval: FrameInterval,
        file: OutputFile,
        counters: RecorderCounters
    ) {
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
        let start = first ?? time
        if limits.duration > 0, time - start >= limits.duration {
            isComplete = true
            return
        }
        switch coding {
        case .bytes: try unsafe file.write(buffer.bytes)
        case .jpeg(let encoder): try unsafe file.write(encoder.encode(buffer))
        case .y4m(let header):
            if first == nil { try file.write(header.bytes) }
            try file.write(Y4MHeader.frame)
            try unsafe file.write(buffer.bytes)
        }
        first = start
        frames += 1
        if limits.frameCount > 0, frames >= limits.frameCount { isComplete = true }
        let length = time - start + interval.nanoseconds
        let lost = buffer.lostBefore
        counters.update { counters in
            counters.frames += 1
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

    /// The line; 30 frames a second where the driver does not say.
    var bytes: [UInt8] {
        let isKnown = interval.numerator > 0
        let rate = isKnown ? "\(interval.denominator):\(interval.numerator)" : "30:1"
        let chroma = layout.chroma == .yuv420 ? "420jpeg" : "422"
        let range = color.isFullRange ? "FULL" : "LIMITED"
        return Array(
            "YUV4MPEG2 W\(layout.width) H\(layout.height) F\(rate) Ip A1:1 C\(chroma) XCOLORRANGE=\(range)\n".utf8
        )
    }
}
