import CaptureCore
import CaptureSystem
import MediaConversion

/// Samples as they come, into a WAV file, a pipe of WAV, or raw. Thread-bound to the writer's thread.
final class SampleOutput: MediaOutput {
    private let format: AudioFormat
    private var header: WAVHeader?
    private var hasDate = false
    private let limits: OutputLimits
    private let file: RecorderFile
    private let counters: RecorderCounters
    private let timeline: AudioTimeline
    private var budget: FileBudget
    /// Which limit is the nearest.
    private var nearest = RecordingLimit.duration
    private let headerSize: Int64
    private var disk: DiskSync?
    private var data: Int64 = 0
    private var refreshed: Int64 = 0
    private var zeros: [UInt8] = []
    /// What is to be written with one call.
    private var gathered: [UInt8] = []
    private static let most = 1 << 16

    /// An output of sound of `format`; the header is written at once.
    init(
        _ format: AudioFormat,
        header: WAVHeader?,
        limits: OutputLimits,
        file: RecorderFile,
        counters: RecorderCounters
    ) throws(CaptureError) {
        self.format = format
        self.header = header
        self.limits = limits
        self.file = file
        self.counters = counters
        timeline = AudioTimeline(format, counters)
        headerSize = Int64(header?.size ?? 0)
        budget = try FileBudget(file, limits)
        try setLimit()
        if file.isSeekable { disk = try DiskSync(file) }
        if let header { try file.write(header.bytes(data: file.isSeekable ? 0 : nil)) }
        counters.update { $0.audioEncoder = header == nil ? "copy" : "pcm" }
    }

    var isComplete: Bool { timeline.isFull }
    var reachedLimit: RecordingLimit? { isComplete ? nearest : nil }
    var isQuick: Bool { true }
    var shortfall: CaptureError? { timeline.frames == 0 ? FileBudget.shortfall(reachedLimit, "sound") : nil }

    /// Sound ends at the nearest limit, to the sample.
    private func setLimit() throws(CaptureError) {
        var most = limits.duration > 0 ? timeline.frameCount(of: limits.duration) : .max
        nearest = .duration
        if let largest = try budget.largest() {
            // A WAV file of an odd number of bytes gets one more.
            let padding: Int64 = header != nil && format.bytesPerFrame % 2 == 1 ? 1 : 0
            let frames = (largest.size - headerSize - padding) / Int64(max(format.bytesPerFrame, 1))
            if frames < most { (most, nearest) = (frames, largest.by) }
        }
        timeline.limit = max(most, timeline.frames)
    }

    func write(audio buffer: MediaBuffer) throws(CaptureError) {
        if budget.isLimited { try setLimit() }
        try timeline.take(buffer) { (piece) throws(CaptureError) in
            switch piece {
            case .samples(let bytes):
                try unsafe gather(bytes)
            case .silence(let frames):
                let count = frames * format.bytesPerFrame
                if zeros.count < count { zeros = [UInt8](repeating: 0, count: count) }
                try unsafe zeros.withUnsafeBufferPointer { (zeros) throws(CaptureError) in
                    try unsafe gather(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(zeros)[..<count]))
                }
            }
        }
        if !hasDate, let start = timeline.start {
            hasDate = true
            counters.update { $0.start = max(WallTime(start).sinceEpoch, 0) }
            if let facts = header?.facts { header?.facts = FileFacts(facts.origin, facts.tags, at: start) }
        }
        // Twice a second, so that a power cut costs less than one.
        if data - refreshed >= Int64(format.sampleRate * format.bytesPerFrame / 2) { try refresh() }
        let frames = timeline.frames
        counters.update { $0.samples = UInt64(frames) }
    }

    private func gather(_ bytes: UnsafeRawBufferPointer) throws(CaptureError) {
        if gathered.count + bytes.count > SampleOutput.most { try rest() }
        if bytes.count > SampleOutput.most {
            try unsafe file.write(bytes)
        } else {
            unsafe gathered.append(contentsOf: bytes)
        }
        data += Int64(bytes.count)
    }

    func rest() throws(CaptureError) {
        guard !gathered.isEmpty else { return }
        try file.write(gathered)
        gathered.removeAll(keepingCapacity: true)
        // Players go by what it says of a file that breaks off.
        if file.isSeekable, let header { try file.overwrite(header.bytes(data: data), at: 0) }
        counters.update { $0.bytes = UInt64(file.size) }
    }

    func idle() throws(CaptureError) {
        if data != refreshed { try refresh() }
    }

    func finish() throws(CaptureError) {
        defer { disk?.stop() }
        try rest()
        if header != nil, data & 1 == 1 { try file.write([0]) }
        try refresh()
        file.trim()
        try file.sync()
        counters.update { $0.bytes = UInt64(file.size) }
    }

    func salvage() {
        disk?.stop()
        gathered = []
        guard file.isSeekable else { return }
        // Whole sample frames that reached the file, and a header that says so: it lies in room that is there already.
        let start = Int64(header?.size ?? 0)
        let kept = max(file.size - start, 0) / Int64(max(format.bytesPerFrame, 1)) * Int64(format.bytesPerFrame)
        guard kept > 0 else {
            file.truncate(to: 0)
            return counters.update { $0.bytes = 0 }
        }
        file.truncate(to: start + kept)
        data = kept
        do throws(CaptureError) { try refresh() } catch { file.truncate(to: start + kept) }
        counters.update { $0.bytes = UInt64(file.size) }
    }

    private func refresh() throws(CaptureError) {
        try rest()
        refreshed = data
        let length = timeline.duration(of: data / Int64(format.bytesPerFrame))
        counters.update { $0.duration = length }
        guard file.isSeekable else { return }
        if let header { try file.overwrite(header.bytes(data: data), at: 0) }
        disk?.request()
    }
}
