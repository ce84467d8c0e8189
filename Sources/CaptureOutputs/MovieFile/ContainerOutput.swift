import CLibAV
import CaptureCore
import CaptureSystem

/// A movie, or a sound file in a container: encodes, holds packets until every stream has begun, then muxes.
///
/// The first picture is the file's 0 and sound from before it is cut, so that both begin together; without a picture
/// in time, the first sample is. Thread-bound to the writer's thread.
final class ContainerOutput: MediaOutput {
    /// How long the other stream is waited for, in nanoseconds, both of the media's time and of ours.
    private static let patience: Int64 = 1_000_000_000
    /// What a crash may cost, in nanoseconds.
    private static let flushInterval: Int64 = 500_000_000

    private let container: Muxer.Container
    private let file: OutputFile
    private let counters: RecorderCounters
    private let video: VideoTrack?
    private let sound: AudioEncoder?
    private let timeline: AudioTimeline?
    private let limits: OutputLimits
    private var disk: DiskSync?

    private var muxer: Muxer?
    private var held: [EncodedPacket] = []
    private var early = EarlySound()
    private var good = WrittenMedia()
    private var clocks: [MediaType: PacketClock] = [:]
    private var ended: Set<MediaType> = []
    private var origin: Timestamp?
    private var firstVideo: Timestamp?
    private var lastVideo: Timestamp?
    private var begun: Timestamp?
    private var frames = 0
    private var videoIsDone = false
    private var limit: Timestamp?
    private var passedLimit: Timestamp?
    private var isOverdue = false
    private var written: [MediaType: Int64] = [:]
    private var flushed: [MediaType: Int64] = [:]
    private var lastSync: Int64 = 0
    private var isDirty = false
    private var lastPicture: (packet: EncodedPacket, time: Int64)?
    private var zeros: [UInt8] = []

    /// An output of the given streams; the header is written once they have begun.
    init(
        _ container: Muxer.Container,
        video: VideoTrack?,
        sound: (encoder: AudioEncoder, format: AudioFormat)?,
        limits: OutputLimits,
        file: OutputFile,
        counters: RecorderCounters
    ) throws(CaptureError) {
        self.container = container
        self.video = video
        self.sound = sound?.encoder
        self.limits = limits
        self.file = file
        self.counters = counters
        timeline = sound.map { AudioTimeline($0.format, counters) }
        if file.isSeekable { disk = try DiskSync(file) }
        counters.update { counters in
            counters.videoEncoder = video?.encoderName ?? ""
            counters.audioEncoder = sound?.encoder.name ?? ""
        }
    }

    var isComplete: Bool {
        guard limit != nil else { return false }
        if isOverdue { return true }
        let videoDone = video == nil || videoIsDone || ended.contains(.video)
        let soundDone = timeline.map { $0.isFull } ?? true || ended.contains(.audio)
        return videoDone && soundDone
    }

    /// A stream that stands still must not keep the other one's end from coming: two seconds behind the end are enough,
    /// of the media's time and of ours.
    private func noteOverdue(_ time: Timestamp) {
        guard let limit, time >= limit else { return }
        let passed = passedLimit ?? .now
        passedLimit = passed
        isOverdue = time - limit > 2_000_000_000 && Timestamp.now - passed > 2_000_000_000
    }

    // MARK: Pictures

    func write(video buffer: MediaBuffer) throws(CaptureError) {
        let time = buffer.info.timestamp
        noteOverdue(time)
        guard let video, !videoIsDone else { return }
        let isFirst = firstVideo == nil
        if isFirst {
            let isTooEarly = epoch.map { time < $0 } ?? false
            guard !isTooEarly, video.canBegin(with: buffer) else {
                return counters.update { $0.missedFrames += buffer.lostBefore + 1 }
            }
            firstVideo = time
            begin(at: time)
        }
        countLost(before: buffer)
        if let limit, time >= limit {
            videoIsDone = true
            return
        }
        if isFirst { for buffer in early.release() { try take(audio: buffer) } }
        guard let origin else { return }
        for packet in try video.encode(buffer, at: (time - origin) / 1000) { try submit(packet) }
        lastVideo = max(lastVideo ?? time, time)
        frames += 1
        counters.update { $0.frames += 1 }
        if limits.frameCount > 0, frames >= limits.frameCount {
            videoIsDone = true
            setLimit((lastVideo ?? time).advanced(by: video.nominal))
        }
        noteProgress()
    }

    // MARK: Sound

    func write(audio buffer: MediaBuffer) throws(CaptureError) {
        noteOverdue(buffer.info.timestamp)
        guard let video, firstVideo == nil, timeline?.start == nil, !ended.contains(.video) else {
            return try take(audio: buffer)
        }
        early.hold(buffer)
        // Where the header cannot be written without a picture, neither can the sound.
        if video.needsFirstFrame { early.forgetOldest() } else if early.isTired { try beginWithoutPicture() }
    }

    private func beginWithoutPicture() throws(CaptureError) {
        for buffer in early.release() { try take(audio: buffer) }
    }

    private func take(audio buffer: MediaBuffer) throws(CaptureError) {
        guard let sound, let timeline else { return }
        let known = firstVideo
        if timeline.start == nil {
            let start = max(buffer.info.timestamp, known ?? buffer.info.timestamp)
            begin(at: start)
            if let limit { timeline.limit = max(timeline.frameCount(of: limit - start), 0) }
        }
        var packets: [EncodedPacket] = []
        try timeline.take(buffer, notBefore: known) { (piece) throws(CaptureError) in
            switch piece {
            case .samples(let bytes): packets += try unsafe sound.encode(bytes)
            case .silence(let count): packets += try silence(sound, bytes: count * timeline.bytesPerFrame)
            }
        }
        counters.update { $0.samples = UInt64(timeline.frames) }
        for packet in packets { try submit(packet) }
        try settle()
        noteProgress()
    }

    private func silence(_ sound: AudioEncoder, bytes: Int) throws(CaptureError) -> [EncodedPacket] {
        if zeros.count < bytes { zeros = [UInt8](repeating: 0, count: bytes) }
        return try unsafe zeros.withUnsafeBufferPointer { (zeros) throws(CaptureError) in
            try unsafe sound.encode(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(zeros)[..<bytes]))
        }
    }

    // MARK: Beginning

    /// The time that is the file's 0, as far as it is known.
    private var epoch: Timestamp? {
        [firstVideo, timeline?.start].compactMap { $0 }.min() ?? origin
    }

    private func begin(at time: Timestamp) {
        if origin == nil {
            origin = time
            begun = .now
        }
        if limits.duration > 0, limit == nil || muxer == nil {
            let first = min(time, epoch ?? time)
            setLimit(first.advanced(by: limits.duration))
        }
    }

    private func setLimit(_ end: Timestamp) {
        limit = end
        guard let timeline, let start = timeline.start else { return }
        timeline.limit = max(timeline.frameCount(of: end - start), timeline.frames)
    }

    /// Writes the header once every stream has begun, or was waited for long enough.
    private func settle(force: Bool = false) throws(CaptureError) {
        guard muxer == nil else { return }
        let waitsForVideo = video != nil && firstVideo == nil && !ended.contains(.video)
        let waitsForSound = timeline != nil && timeline?.start == nil && !ended.contains(.audio)
        if waitsForVideo || waitsForSound, !force {
            if waitsForVideo, video?.needsFirstFrame ?? false { return }
            // Sound that was let go had waited for the picture already.
            guard waitsForSound || timeline?.start == nil else { return try writeHeader() }
            guard let begun, let epoch, Timestamp.now - begun > ContainerOutput.patience,
                newest - epoch > ContainerOutput.patience
            else { return }
        }
        try writeHeader()
    }

    private func writeHeader() throws(CaptureError) {
        let made = try Muxer(container, file)
        if let video, firstVideo != nil || !video.needsFirstFrame { try video.add(to: made) }
        if let sound { try unsafe made.addStream(.audio, encoder: sound.context) }
        let padding = sound?.padding ?? 0
        let usesEdits = container.isISO && padding > 0
        try made.writeHeader(audioPadding: usesEdits ? padding : 0)
        muxer = made
        let zero = epoch ?? .now
        if video != nil {
            clocks[.video] = PacketClock(
                offset: (origin ?? zero) - zero,
                from: AVRational(num: 1, den: 1_000_000),
                to: made.timeBase(of: .video)
            )
        }
        for packet in held { try mux(packet) }
        held = []
    }

    private var newest: Timestamp {
        let soundEnd = timeline.flatMap { timeline in
            timeline.start?.advanced(by: timeline.duration(of: timeline.frames))
        }
        return [lastVideo, soundEnd].compactMap { $0 }.max() ?? origin ?? Timestamp(nanoseconds: 0)
    }

    // MARK: Muxing

    private func submit(_ packet: EncodedPacket) throws(CaptureError) {
        if muxer == nil {
            held.append(packet)
            try settle()
        } else {
            try mux(packet)
        }
    }

    private func mux(_ encoded: EncodedPacket) throws(CaptureError) {
        guard let muxer else { return }
        if encoded.kind == .audio, clocks[.audio] == nil { clocks[.audio] = soundClock(muxer) }
        guard let time = unsafe clocks[encoded.kind]?.stamp(encoded.packet, duration: video?.nominal ?? 0) else {
            return
        }
        // A container that cannot name the sound's padding leaves it out where it lies before the beginning.
        if encoded.kind == .audio, unsafe encoded.packet.pointee.pts < 0, container == .matroska, !namesPadding {
            return
        }
        // An encoder's last packet can be empty, at the very end: what it tells the header, FLAC's length, is beside it.
        if limits.duration > 0, time >= limits.duration, !encoded.isEmpty { return }
        guard encoded.kind == .video else { return try write(encoded, at: time) }
        // A picture lasts until the next one: it waits for that one's time.
        if let before = lastPicture {
            unsafe before.packet.packet.pointee.duration =
                encoded.packet.pointee.pts - before.packet.packet.pointee.pts
            try write(before.packet, at: before.time)
        }
        lastPicture = (encoded, time)
    }

    private func write(_ encoded: EncodedPacket, at time: Int64) throws(CaptureError) {
        // By the stream's own time: one may be far ahead of the other after a stall.
        let since = time - (flushed[encoded.kind] ?? 0)
        let isAtKey = encoded.kind == .video && encoded.isKeyframe && since >= ContainerOutput.flushInterval * 4 / 5
        if isDirty, isAtKey || since >= ContainerOutput.flushInterval { try flush() }
        written[encoded.kind] = time
        try muxer?.write(encoded)
        let lasting = muxer?.nanoseconds(unsafe encoded.packet.pointee.duration, encoded.kind)
        good.note(encoded, from: time, lasting: lasting)
        isDirty = true
    }

    /// Whether the container says how much of the sound's start is padding.
    private var namesPadding: Bool { sound?.name == "libopus" }

    /// Where the sound begins in the file, in nanoseconds.
    private var soundOffset: Int64 { epoch.flatMap { zero in timeline?.start.map { $0 - zero } } ?? 0 }

    private func soundClock(_ muxer: Muxer) -> PacketClock {
        let rate = Int32(clamping: sound?.rate ?? 48000)
        let to = muxer.timeBase(of: .audio)
        // An edit list takes the padding away again, or Matroska's CodecDelay, which libavformat writes for Opus without
        // moving the blocks by it (tried, 5.1).
        let isShifted = container.isISO || (container == .matroska && namesPadding)
        return PacketClock(
            offset: soundOffset,
            from: AVRational(num: 1, den: rate),
            to: to,
            shift: isShifted ? av_rescale_q(Int64(sound?.padding ?? 0), AVRational(num: 1, den: rate), to) : 0
        )
    }

    private func flush() throws(CaptureError) {
        try muxer?.flush(length: good.length)
        good.keep()
        isDirty = false
        flushed = written
        if let disk, file.position != lastSync {
            lastSync = file.position
            disk.request()
        }
        counters.update { $0.bytes = UInt64(file.size) }
    }

    func idle() throws(CaptureError) {
        try settle()
        if isDirty { try flush() }
        if early.isTired, !(video?.needsFirstFrame ?? false) { try beginWithoutPicture() }
        if let passedLimit, Timestamp.now - passedLimit > 2_000_000_000 { isOverdue = true }
    }

    func streamEnded(_ kind: MediaType, lost: UInt64) throws(CaptureError) {
        ended.insert(kind)
        if kind == .video, firstVideo == nil, !(video?.needsFirstFrame ?? false) { try beginWithoutPicture() }
        if kind == .video, !videoIsDone { counters.update { $0.missedFrames += lost } }
        if origin != nil { try settle() }
    }

    // MARK: Ending

    func finish() throws(CaptureError) {
        defer { disk?.stop() }
        if let video, firstVideo == nil, video.needsFirstFrame, counters.now.missedFrames > 0, sound == nil {
            throw CaptureError(.badData, "the camera's compressed pictures never came to a keyframe")
        }
        if !(video?.needsFirstFrame ?? false) { try beginWithoutPicture() }
        if let sound, timeline?.start != nil { for packet in try sound.drain() { try submit(packet) } }
        if let video, firstVideo != nil { for packet in try video.drain() { try submit(packet) } }
        ended = [.video, .audio]
        if video == nil || firstVideo != nil || !(video?.needsFirstFrame ?? false) || sound != nil {
            try settle(force: true)
        }
        if let last = lastPicture { try write(last.packet, at: last.time) }
        lastPicture = nil
        var length: Int64 = -1
        if let sound, let timeline { length = av_rescale(timeline.frames, Int64(sound.rate), Int64(timeline.rate)) }
        try muxer?.finish(audioLength: length)
        file.trim()
        try file.sync()
        noteProgress()
        counters.update { $0.bytes = UInt64(file.size) }
    }

    func salvage() {
        disk?.stop()
        muxer?.salvage()
        // What was counted and then cut off again is not in the file.
        let kept = good.kept
        let samples = timeline.map { max($0.frameCount(of: kept.soundEnd - soundOffset), 0) } ?? 0
        counters.update { counters in
            counters.frames = min(counters.frames, kept.frames)
            counters.samples = min(counters.samples, UInt64(samples))
            counters.duration = min(counters.duration, kept.length)
            counters.bytes = UInt64(file.size)
        }
    }

    var shortfall: CaptureError? {
        if video != nil, frames == 0 {
            return CaptureError(.inputOutput, "the recording ended before the camera delivered a picture")
        }
        if let timeline, timeline.frames == 0 {
            return CaptureError(.inputOutput, "the recording ended before the microphone delivered sound")
        }
        return nil
    }

    /// Counts the frames that were lost on the way to this one, as far as they belong into the file.
    private func countLost(before buffer: MediaBuffer) {
        guard buffer.lostBefore > 0 else { return }
        var lost = buffer.lostBefore
        if let limit, buffer.info.timestamp >= limit {
            // The end lies among them; they came evenly.
            let last = lastVideo ?? limit
            let span = Double(max(buffer.info.timestamp - last, 1))
            lost = UInt64(Double(lost + 1) * Double(max(limit - last - 1, 0)) / span)
        }
        counters.update { $0.missedFrames += lost }
    }

    private func noteProgress() {
        guard let epoch else { return }
        var end = lastVideo.map { $0.advanced(by: video?.nominal ?? 0) } ?? epoch
        if let timeline, let start = timeline.start {
            end = max(end, start.advanced(by: timeline.duration(of: timeline.frames)))
        }
        let length = max(limits.duration > 0 ? min(end - epoch, limits.duration) : end - epoch, 0)
        counters.update { $0.duration = length }
    }
}

/// When an output is finished by itself.
struct OutputLimits {
    /// Nanoseconds; 0 for no end.
    var duration: Int64
    /// Frames; 0 for no end.
    var frameCount: Int
}
