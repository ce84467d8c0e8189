import CLibAV
import CaptureCore
import CaptureSystem
import MediaConversion
import MediaExamination

/// A movie, or a sound file in a container: encodes, holds packets until every stream has begun, then muxes.
///
/// The first picture is the file's 0 and sound from before it is cut, so that both begin together; without a picture
/// in time, the first sample is. Thread-bound to the writer's thread.
final class ContainerOutput: MediaOutput {
    /// How long the other stream is waited for, in nanoseconds, both of the media's time and of ours.
    static let patience: Int64 = 1_000_000_000
    /// Bytes that are kept at most until they are brought into the file, however long a fragment is to be.
    static let mostUnflushed: Int64 = 64 << 20

    let container: Muxer.Container
    let file: RecorderFile
    let counters: RecorderCounters
    let video: VideoTrack?
    let sound: AudioEncoder?
    let timeline: AudioTimeline?
    let limits: OutputLimits
    let devices: CaptureOrigin
    let tags: [FileTag: String]
    let markers: Markers
    /// What a program tells of it; `nil` for a movie without that, and one that was cut off.
    var metadata: MetadataQueue?
    /// Whether it has a track for that.
    let hasMetadata: Bool
    /// Where it goes on behind pauses, without such a track.
    var resumes: [Resume] = []
    /// What its recorder notes, and what belongs into a file that was cut off.
    var ownMetadata: [MetadataQueue.Item] = []
    /// Nanoseconds of pauses before what was noted last.
    var notedPause: Int64?
    /// When the last text in the file is, in nanoseconds of it.
    var lastMetadata: Int64?
    var disk: DiskSync?

    var muxer: Muxer?
    var held: [EncodedPacket] = []
    var early = EarlySound()
    var good = WrittenMedia()
    var clocks: [MediaType: PacketClock] = [:]
    var ended: Set<MediaType> = []
    /// The encoder's time 0.
    var origin: Timestamp?
    /// What is kept while it waits to be begun; `nil` once it is.
    var preRoll: PreRoll?
    /// The first picture, if it was kept when the movie began.
    var begunWith: Timestamp?
    /// Where sound without pictures begins, if that was kept.
    var soundStart: Timestamp?
    var firstVideo: Timestamp?
    var lastVideo: Timestamp?
    var interval = PictureInterval()
    var begun: Timestamp?
    var frames = 0
    var videoIsDone = false
    /// Where it ends, and why: for a cut there is no reason.
    var limit: (time: Timestamp, by: RecordingLimit?)?
    /// Nanoseconds of pauses before its beginning.
    var pausedBefore: Int64 = 0
    var reachedLimit: RecordingLimit?
    var budget: FileBudget
    var load = ContainerLoad()
    var written: [MediaType: Int64] = [:]
    var flushed: [MediaType: Int64] = [:]
    var lastSync: Int64 = 0
    /// Bytes that were written and not brought into the file.
    var unflushed: Int64 = 0
    /// When that was done last.
    var lastFlush = Timestamp.now
    var lastPicture: (packet: EncodedPacket, time: Int64)?
    private var zeros: [UInt8] = []

    /// An output of the given streams; the header is written once they have begun.
    init(
        _ container: Muxer.Container,
        video: VideoTrack?,
        sound: (encoder: AudioEncoder, format: AudioFormat)?,
        limits: OutputLimits,
        origin: CaptureOrigin,
        tags: [FileTag: String],
        file: RecorderFile,
        markers: Markers,
        metadata: MetadataQueue? = nil,
        counters: RecorderCounters
    ) throws(CaptureError) {
        // The muxer is made when the first packets are there.
        try LibAV.load()
        self.container = container
        self.video = video
        self.sound = sound?.encoder
        self.limits = limits
        devices = origin
        self.tags = tags
        self.file = file
        self.markers = markers
        self.metadata = metadata
        hasMetadata = metadata != nil
        self.counters = counters
        budget = try FileBudget(file, limits)
        if limits.preRoll > 0 { preRoll = PreRoll(length: limits.preRoll, mostBytes: limits.preRollBytes) }
        let isWaiting = preRoll != nil
        // Sound alone keeps its samples; beside pictures it follows their clock.
        timeline = sound.map { sound in
            AudioTimeline(sound.format, counters, stretching: video == nil ? nil : sound.encoder.resampler)
        }
        if file.isSeekable { disk = try DiskSync(file) }
        counters.update { counters in
            counters.videoEncoder = video?.encoderName ?? ""
            counters.encoderPreset = video?.encoderPreset ?? ""
            counters.audioEncoder = sound?.encoder.name ?? ""
            counters.isWaiting = isWaiting
        }
    }

    var isComplete: Bool {
        guard limit != nil else { return false }
        let videoDone = video == nil || videoIsDone || ended.contains(.video)
        let soundDone = timeline.map { $0.isFull } ?? true || ended.contains(.audio)
        return videoDone && soundDone
    }

    /// Sound alone is encoded in a part of the time that it lasts, and its ring has room for seconds.
    var isQuick: Bool { video.map { $0.isCopied && sound == nil } ?? true }

    var needsPicture: Bool { video?.needsFirstFrame ?? false }

    // MARK: Pictures

    /// How many pictures are held before the header without a copy.
    private static let mostLent = 4

    func write(video buffer: MediaBuffer) throws(CaptureError) {
        if isWaiting { return try hold(video: buffer) }
        try take(video: buffer)
        if firstVideo != nil { try takeEarlySound() }
    }

    private func take(video buffer: MediaBuffer) throws(CaptureError) {
        let time = buffer.info.timestamp
        guard let video, !videoIsDone else { return }
        let isFirst = firstVideo == nil
        if isFirst {
            let isTooEarly = epoch.map { time < $0 } ?? false
            guard !isTooEarly, video.canBegin(with: buffer) else {
                return counters.update { $0.missedFrames += buffer.lostBefore + 1 }
            }
            firstVideo = time
            pausedBefore = buffer.paused
            begin(from: time)
        }
        countLost(before: buffer)
        if let limit, time >= limit.time {
            videoIsDone = true
            reachedLimit = reachedLimit ?? limit.by
            return
        }
        if let limit = try limit(beforePicture: buffer) {
            videoIsDone = true
            return end(at: time, by: limit)
        }
        guard video.canGoOn(with: buffer) else { return counters.update { $0.missedFrames += 1 } }
        if isFirst { try takeEarlySound() }
        guard let origin else { return }
        if muxer != nil { noteCapture(at: time, paused: buffer.paused) }
        // Pictures that wait for the first sound are copied. Else they would hold the buffers that new ones need.
        let isHeld = muxer == nil && held.count >= ContainerOutput.mostLent
        for packet in try video.encode(buffer, at: (time - origin) / 1000, isHeld: isHeld) { try submit(packet) }
        lastVideo = max(lastVideo ?? time, time)
        interval.note(time)
        frames += 1
        counters.update { $0.frames += 1 }
        if limits.frameCount > 0, frames >= limits.frameCount {
            videoIsDone = true
            end(at: (lastVideo ?? time).advanced(by: video.nominal), by: .frameCount)
        }
    }

    // MARK: Sound

    func write(audio buffer: MediaBuffer) throws(CaptureError) {
        if isWaiting { return hold(audio: buffer) }
        guard waitsForHeader || mayEndWithPicture else {
            try takeEarlySound()
            return try take(audio: buffer)
        }
        early.hold(buffer)
        // Where the header cannot be written without a picture, neither can the sound.
        if waitsForHeader, lacksFirstPicture {
            early.forgetOldest()
        } else if early.isTired {
            try takeEarlySound(all: true)
        } else if !waitsForHeader {
            try takeEarlySound()
        }
    }

    /// Whether the header cannot be written before the first picture, which has not come.
    var lacksFirstPicture: Bool { firstVideo == nil && needsPicture }

    /// Whether sound waits for the first picture.
    private var waitsForHeader: Bool {
        video != nil && firstVideo == nil && timeline?.start == nil && !ended.contains(.video)
    }

    /// Whether the file may end at the next picture, so that sound after it is not to be written.
    private var mayEndWithPicture: Bool {
        (budget.isLimited || limits.segmentSize != nil) && firstVideo != nil && !videoIsDone && !ended.contains(.video)
    }

    /// Takes the sound that waited: what is beside the pictures so far, or all of it where no picture is waited for.
    func takeEarlySound(all: Bool = false) throws(CaptureError) {
        let released = early.release { buffer in
            guard mayEndWithPicture, !all else { return true }
            // A cut lies at a picture, and splits the sound there.
            if limits.segmentSize != nil { return lastVideo.map { end(of: buffer) <= $0 } ?? false }
            return picturesEnd.map { buffer.info.timestamp < $0 } ?? true
        }
        for buffer in released { try take(audio: buffer) }
    }

    /// Ends at the time of a picture that goes into another file, or before a buffer of sound where there are no pictures.
    ///
    /// - Returns: The sound that waited for it, of which that file takes what belongs there.
    func cut(before buffer: MediaBuffer) throws(CaptureError) -> ArraySlice<MediaBuffer> {
        let time = buffer.info.timestamp
        videoIsDone = video != nil
        end(at: time, by: nil)
        // By the count of samples, not by time: without pictures sound keeps its own clock, which may drift from ours.
        if video == nil, let timeline { timeline.limit = max(timeline.place(of: buffer), timeline.frames) }
        cutMetadata(at: time)
        let held = early.release()
        for buffer in held { try take(audio: buffer) }
        return held
    }

    /// Up to when sound is in the file.
    var soundEnd: Timestamp? { timeline?.end }

    private func end(of sound: MediaBuffer) -> Timestamp {
        guard let timeline else { return sound.info.timestamp }
        return sound.info.timestamp.advanced(by: timeline.duration(of: Int64(sound.count / timeline.bytesPerFrame)))
    }

    /// Up to when the pictures so far last.
    private var picturesEnd: Timestamp? { (lastVideo ?? firstVideo)?.advanced(by: video?.nominal ?? 0) }

    func take(audio buffer: MediaBuffer) throws(CaptureError) {
        guard let sound, let timeline else { return }
        let known = firstVideo ?? soundStart
        if timeline.start == nil {
            let start = max(buffer.info.timestamp, known ?? buffer.info.timestamp)
            if video == nil { pausedBefore = buffer.paused }
            begin(from: start)
            if let limit { timeline.limit = max(timeline.frameCount(of: limit.time - start), 0) }
        }
        // A picture has room for the sound beside it, too.
        let isGranted = picturesEnd.map { buffer.info.timestamp < $0 } ?? false
        if !isGranted, let limit = try limit(beforeSound: buffer) {
            return end(at: timeline.end ?? buffer.info.timestamp, by: limit)
        }
        if muxer != nil, video == nil { noteCapture(at: buffer.info.timestamp, paused: buffer.paused) }
        var packets: [EncodedPacket] = []
        try timeline.take(buffer, notBefore: known) { (piece) throws(CaptureError) in
            switch piece {
            case .samples(let bytes): packets += try unsafe sound.encode(bytes)
            case .silence(let count): packets += try silence(sound, bytes: count * timeline.bytesPerFrame)
            }
        }
        counters.update { $0.samples = UInt64(timeline.frames) }
        if timeline.isFull, let limit { reachedLimit = reachedLimit ?? limit.by }
        for packet in packets { try submit(packet) }
        try settle()
    }

    private func silence(_ sound: AudioEncoder, bytes: Int) throws(CaptureError) -> [EncodedPacket] {
        if zeros.count < bytes { zeros = [UInt8](repeating: 0, count: bytes) }
        return try unsafe zeros.withUnsafeBufferPointer { (zeros) throws(CaptureError) in
            try unsafe sound.encode(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(zeros)[..<bytes]))
        }
    }

    /// Counts the frames that were lost on the way to this one, as far as they belong into the file.
    private func countLost(before buffer: MediaBuffer) {
        guard buffer.lostBefore > 0 else { return }
        var lost = buffer.lostBefore
        if let limit = limit?.time, buffer.info.timestamp >= limit {
            // The end lies among them; they came evenly.
            let last = lastVideo ?? limit
            let span = Double(max(buffer.info.timestamp - last, 1))
            lost = UInt64(Double(lost + 1) * Double(max(limit - last - 1, 0)) / span)
        }
        counters.update { $0.missedFrames += lost }
    }

    /// Counts everything that was taken as the file's length.
    func noteLength() {
        guard let epoch else { return }
        var end = lastVideo.map { $0.advanced(by: video?.nominal ?? 0) } ?? epoch
        if let soundEnd { end = max(end, soundEnd) }
        let length = max(limits.duration > 0 ? min(end - epoch, limits.duration) : end - epoch, 0)
        counters.update { $0.duration = length }
    }
}
