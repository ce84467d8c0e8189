import CaptureCore
import CaptureSystem
import MediaExamination

/// One picture. Frames that are broken are passed over. Thread-bound to the writer's thread.
final class PictureOutput: MediaOutput {
    /// How a frame becomes a picture.
    enum Coding {
        /// A camera's JPEG, after the decoder has found it whole.
        case asItIs(JPEGDecoder)
        case jpeg(JPEGEncoder)
        case png(PNGEncoder)
    }

    /// How long a whole picture is waited for, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    private let coding: Coding
    private let format: VideoFormat
    private let origin: CaptureOrigin
    private let file: RecorderFile
    private let counters: RecorderCounters
    private let begun = Timestamp.now
    private(set) var isComplete = false

    /// An output of one picture of `format`, which says that it is from `origin`.
    init(
        _ coding: Coding,
        of format: VideoFormat,
        _ origin: CaptureOrigin,
        file: RecorderFile,
        counters: RecorderCounters
    ) throws(CaptureError) {
        self.coding = coding
        self.format = format
        self.origin = origin
        self.file = file
        self.counters = counters
        let name =
            switch coding {
            case .asItIs: "copy"
            case .jpeg: "mjpeg"
            case .png: "png"
            }
        counters.update { $0.videoEncoder = name }
    }

    func write(video buffer: MediaBuffer) throws(CaptureError) {
        guard !isComplete else { return }
        let facts = FileFacts(origin, at: buffer.info.timestamp)
        let image: [UInt8]
        switch coding {
        case .asItIs(let decoder):
            guard unsafe decoder.isWhole(buffer.bytes), let whole = unsafe JPEGFile.complete(buffer.bytes) else {
                return try passOver()
            }
            counters.feed { $0.frames = 1 }
            image = try PhotoFacts.jpeg(whole, facts, width: format.width, height: format.height)
        case .jpeg(let encoder):
            counters.feed { $0.frames = 1 }
            let plain = try unsafe Array(encoder.encode(buffer))
            image = try PhotoFacts.jpeg(plain, facts, width: format.width, height: format.height)
        case .png(let encoder):
            counters.feed { $0.frames = 1 }
            let packet = try encoder.encode(buffer)
            let (width, height) = (format.width, format.height)
            image = try unsafe PhotoFacts.png(
                packet.bytes,
                facts,
                colors: encoder.colorCodes,
                width: width,
                height: height
            )
        }
        try file.write(image)
        isComplete = true
        counters.update { $0.bytes = UInt64(file.size) }
    }

    func idle() throws(CaptureError) {
        guard !isComplete, Timestamp.now - begun > PictureOutput.patience else { return }
        throw CaptureError(.timedOut, "no whole picture came from the camera within ten seconds")
    }

    func finish() throws(CaptureError) {
        guard isComplete else {
            throw CaptureError(.inputOutput, "the camera's stream ended before a whole picture came")
        }
        file.trim()
        try file.sync()
    }

    func salvage() {
        // Nobody wants half a picture.
        file.truncate(to: 0)
        counters.update { $0.frames = 0 }
    }

    private func passOver() throws(CaptureError) {
        counters.update { $0.missedFrames += 1 }
        try idle()
    }
}
