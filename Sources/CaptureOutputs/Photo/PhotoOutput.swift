import CaptureCore
import CaptureSystem

/// One picture. Frames that are broken are passed over. Thread-bound to the writer's thread.
final class PhotoOutput: MediaOutput {
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
    private let file: OutputFile
    private let counters: RecorderCounters
    private let begun = Timestamp.now
    private var scratch: [UInt8] = []
    private(set) var isComplete = false

    /// An output of one picture.
    init(_ coding: Coding, file: OutputFile, counters: RecorderCounters) throws(CaptureError) {
        self.coding = coding
        self.file = file
        self.counters = counters
        if case .asItIs(let decoder) = coding { scratch = [UInt8](repeating: 0, count: decoder.capacity + 64) }
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
        switch coding {
        case .asItIs(let decoder):
            let isWhole = unsafe scratch.withUnsafeMutableBytes { scratch in
                unsafe decoder.decode(buffer.bytes, into: scratch) != nil
            }
            guard isWhole, let image = unsafe JPEGFile.complete(buffer.bytes) else { return try passOver() }
            try file.write(image)
        case .jpeg(let encoder): try unsafe file.write(encoder.encode(buffer))
        case .png(let encoder):
            let packet = try encoder.encode(buffer)
            try unsafe file.write(packet.bytes)
        }
        isComplete = true
        counters.update { counters in
            counters.frames = 1
            counters.bytes = UInt64(file.size)
        }
    }

    func idle() throws(CaptureError) {
        guard !isComplete, Timestamp.now - begun > PhotoOutput.patience else { return }
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
        // Half a picture is none.
        file.truncate(to: 0)
    }

    private func passOver() throws(CaptureError) {
        counters.update { $0.missedFrames += 1 }
        try idle()
    }
}
