import CaptureCore
import CaptureSystem
import MediaConversion
import MediaExamination

/// One picture, or a burst of consecutive ones, each in a file of its own. Frames that are broken are passed over.
/// Thread-bound to the writer's thread.
final class PictureOutput: MediaOutput {
    /// How a frame becomes a picture.
    enum Coding {
        /// A camera's JPEG, after the decoder has found it whole.
        case asItIs(JPEGDecoder)
        case jpeg(JPEGEncoder)
        case png(PNGEncoder)
        case dng(DNGEncoder)
        case depth(DepthEncoder)

        /// As the statistics name it.
        fileprivate var name: String {
            switch self {
            case .asItIs: "copy"
            case .jpeg: "mjpeg"
            case .png: "png"
            case .dng: "dng"
            case .depth: "depth"
            }
        }
    }

    /// How long a whole picture is waited for, in nanoseconds.
    private static let patience: Int64 = 10_000_000_000

    private let coding: Coding
    private let format: VideoFormat
    private let turn: PictureOrientation
    private let origin: CaptureOrigin
    private let files: [RecorderFile]
    private let counters: RecorderCounters
    private var waitsSince = Timestamp.now
    private var pictures: [CapturedPicture] = []
    /// The number of the last picture's frame, in the camera's own count.
    private var last: UInt64 = 0
    private var lost: UInt64 = 0

    /// An output of one picture of `format` into each file, which says that it is from `origin`. A PNG comes turned already;
    /// a JPEG and a DNG say how they are to be turned.
    init(
        _ coding: Coding,
        of format: VideoFormat,
        turned turn: PictureOrientation = .upright,
        _ origin: CaptureOrigin,
        files: [RecorderFile],
        counters: RecorderCounters
    ) {
        self.coding = coding
        self.format = format
        self.turn = turn
        self.origin = origin
        self.files = files
        self.counters = counters
        counters.update { $0.videoEncoder = coding.name }
    }

    var isComplete: Bool { pictures.count == files.count }

    func write(video buffer: MediaBuffer) throws(CaptureError) {
        guard !isComplete else { return }
        let facts = FileFacts(origin, at: buffer.info.timestamp)
        lost += buffer.lostBefore
        let image: [UInt8]
        switch coding {
        case .asItIs(let decoder):
            guard unsafe decoder.isWhole(buffer.bytes), let whole = unsafe JPEGFile.complete(buffer.bytes) else {
                return try passOver()
            }
            noteFrame()
            image = try PhotoFacts.jpeg(whole, facts, width: format.width, height: format.height, turned: turn)
        case .jpeg(let encoder):
            noteFrame()
            let plain = try unsafe Array(encoder.encode(buffer))
            image = try PhotoFacts.jpeg(plain, facts, width: format.width, height: format.height, turned: turn)
        case .png(let encoder):
            noteFrame()
            let packet = try encoder.encode(buffer)
            let (width, height) =
                turn.swapsSides ? (format.height, format.width) : (format.width, format.height)
            image = try unsafe PhotoFacts.png(
                packet.bytes,
                facts,
                colors: encoder.colorCodes,
                pixels: buffer.bytes,
                width: width,
                height: height
            )
        case .dng(let encoder):
            guard unsafe encoder.isWhole(buffer.bytes) else { return try passOver() }
            noteFrame()
            image = try unsafe encoder.encode(buffer.bytes, facts, turned: turn)
        case .depth(let encoder):
            guard unsafe encoder.isWhole(buffer.bytes) else { return try passOver() }
            noteFrame()
            image = try unsafe encoder.encode(buffer.bytes, facts)
        }
        let file = files[pictures.count]
        try file.write(image)
        note(buffer.info, UInt64(file.size), facts)
    }

    /// The next frame is there: the camera is not needed any more once the last one is.
    private func noteFrame() {
        let frames = UInt64(pictures.count + 1)
        if frames == files.count {
            counters.feed { $0.frames = frames }
        } else {
            counters.update { $0.frames = frames }
        }
    }

    private func note(_ info: BufferInfo, _ bytes: UInt64, _ facts: FileFacts) {
        // A camera that starts anew counts from 0.
        let passed = info.deviceSequence > last ? info.deviceSequence - last - 1 : lost
        pictures.append(
            CapturedPicture(
                time: facts.date.seconds * 1_000_000_000 + facts.date.nanoseconds,
                lostBefore: pictures.isEmpty ? 0 : passed,
                bytes: bytes
            )
        )
        (last, lost, waitsSince) = (info.deviceSequence, 0, .now)
        let pictures = pictures
        counters.update { counters in
            counters.bytes += bytes
            counters.pictures = pictures
        }
    }

    func idle() throws(CaptureError) {
        guard !isComplete, Timestamp.now - waitsSince > PictureOutput.patience else { return }
        throw CaptureError(.timedOut, "no whole picture came from the camera within ten seconds")
    }

    func finish() throws(CaptureError) {
        guard isComplete else {
            let rest = pictures.isEmpty ? "a whole picture" : "picture \(pictures.count + 1) of \(files.count)"
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
