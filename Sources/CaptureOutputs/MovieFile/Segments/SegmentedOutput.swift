import CaptureCore
import CaptureSystem
import MediaConversion

/// A movie in several files, each a movie of its own, with its own encoders.
///
/// A cut lies at the time of a picture, with which the next file begins: what was captured before goes into the one file,
/// and what comes later into the other. A copied stream is cut before a keyframe, sound alone between two buffers. While
/// the next file is not there, or too many before it are not finished, the present one goes on. Thread-bound to the writer's
/// thread.
final class SegmentedOutput: MediaOutput {
    /// Makes the writer of one file.
    typealias Maker = (RecorderFile, RecorderCounters, OutputLimits) throws(CaptureError) -> ContainerOutput

    /// How many files may be unfinished beside the present one, each with an encoder of its own: a disk may be slower than the
    /// cuts.
    private static let mostUnfinished = 8
    /// How long sound may come later than the pictures beside it, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000

    private let rule: SegmentRule
    private let limits: OutputLimits
    private let files: RecorderFiles
    private let counters: RecorderCounters
    private let make: Maker
    private let finisher: SegmentFinisher
    private var current: Segment
    /// Those whose sound has not come to the cut.
    private var ending: [Segment] = []
    /// Where the movie begins.
    private var epoch: Timestamp?
    /// From where the duration of a file counts.
    private var anchor: Timestamp?
    private var ended: Set<MediaType> = []
    /// Whether the last file is finished: nothing that went wrong elsewhere touches it any more.
    private var isFinished = false

    /// A movie whose first file is there.
    init(
        _ rule: SegmentRule,
        limits: OutputLimits,
        first file: RecorderFile,
        files: RecorderFiles,
        counters: RecorderCounters,
        make: @escaping Maker
    ) throws(CaptureError) {
        guard file.isSeekable else {
            throw CaptureError(
                .invalidArgument,
                "a movie in segments cannot go into a pipe, or a file that is only added to; give a file"
            )
        }
        self.rule = rule
        self.limits = limits
        self.files = files
        self.counters = counters
        self.make = make
        finisher = SegmentFinisher(files, counters)
        let own = RecorderCounters()
        current = Segment(number: 1, file: file, output: try make(file, own, limits), counters: own)
        let begun = own.now
        counters.update { counters in
            counters.videoEncoder = begun.videoEncoder
            counters.encoderPreset = begun.encoderPreset
            counters.audioEncoder = begun.audioEncoder
            counters.isWaiting = begun.isWaiting
        }
    }

    /// A file that could not be finished ends the movie, and the present one is finished as usual.
    var isComplete: Bool { current.output.isComplete || finisher.failure != nil }
    var reachedLimit: RecordingLimit? { current.output.reachedLimit }
    /// The first file lacks something, or none does.
    var shortfall: CaptureError? { current.number == 1 ? current.output.shortfall : nil }
    var needsPicture: Bool { current.output.needsPicture }
    var isWaiting: Bool { current.output.isWaiting }
    private var hasPictures: Bool { current.output.video != nil }

    func write(video buffer: MediaBuffer) throws(CaptureError) {
        try cutIfDue(before: buffer)
        try current.output.write(video: buffer)
        noteBeginning()
        try settle(at: buffer.info.timestamp)
    }

    func write(audio buffer: MediaBuffer) throws(CaptureError) {
        if !hasPictures { try cutIfDue(before: buffer) }
        for segment in ending { try segment.output.write(audio: buffer) }
        try current.output.write(audio: buffer)
        noteBeginning()
        try settle(at: buffer.info.timestamp)
    }

    /// The first of a file came, which may be sound if the camera is disabled: its time counts.
    private func noteBeginning() {
        guard current.time == 0, !isWaiting, let time = current.output.epoch else { return }
        let captured = time.advanced(by: current.output.pausedBefore)
        current.time = WallTime(captured).sinceEpoch
        current.period = period(at: captured)
        epoch = epoch ?? time
        anchor = anchor ?? time
        if current.number == 1 { counters.update { [start = current.time] in $0.start = start } }
        if current.number == 1 { counters.note(.segment(.began(1))) }
    }

    func begin(at time: Timestamp) throws(CaptureError) {
        try current.output.begin(at: time)
        count()
    }

    // MARK: Cutting

    private func cutIfDue(before buffer: MediaBuffer) throws(CaptureError) {
        guard try isDue(before: buffer), finisher.waiting + ending.count < SegmentedOutput.mostUnfinished,
            let file = files.next(at: buffer.info.timestamp)
        else { return }
        try cut(before: buffer, into: file)
    }

    private func isDue(before buffer: MediaBuffer) throws(CaptureError) -> Bool {
        let time = buffer.info.timestamp
        let output = current.output
        // A file has a picture at least, or some sound; the end of the whole movie comes before a cut.
        guard current.time != 0, output.reachedLimit == nil, let epoch, output.limit.map({ time < $0.time }) ?? true,
            hasPictures ? output.lastVideo.map({ time > $0 }) ?? false : true,
            limits.duration == 0 || time < epoch.advanced(by: limits.duration)
        else { return false }
        guard isWanted(before: buffer, time), output.video?.canCut(before: buffer) ?? true else { return false }
        // Sound that waited for pictures in vain is in this file already: the next picture will do.
        return !hasPictures || output.soundEnd.map { $0 <= time } ?? true
    }

    private func isWanted(before buffer: MediaBuffer, _ time: Timestamp) -> Bool {
        if files.wantsCut(by: time) || current.output.isFull(for: buffer) { return true }
        guard rule.duration > 0 else { return false }
        if rule.isAligned { return current.period != period(at: buffer.info.timestamp.advanced(by: buffer.paused)) }
        return anchor.map { time - $0 >= rule.duration } ?? false
    }

    /// Which of the day's durations it was captured in, by the clock on the wall, and on which day.
    private func period(at captured: Timestamp) -> Segment.Period? {
        guard rule.isAligned, rule.duration > 0 else { return nil }
        let wall = WallTime(captured)
        let (day, second) = (wall.seconds + wall.offset).quotientAndRemainder(dividingBy: 86_400)
        return Segment.Period(day: day, number: (second * 1_000_000_000 + wall.nanoseconds) / rule.duration)
    }

    private func cut(before buffer: MediaBuffer, into file: RecorderFile) throws(CaptureError) {
        let time = buffer.info.timestamp
        var next = limits
        next.preRoll = 0
        if let epoch, limits.duration > 0 { next.duration -= time - epoch }
        if limits.frameCount > 0 { next.frameCount -= Int(finished.frames + current.counters.now.frames) }
        let own = RecorderCounters()
        let output = try make(file, own, next)
        var segment = current
        segment.cut = time
        let held = try segment.output.cut(before: buffer)
        ending.append(segment)
        current = Segment(number: segment.number + 1, file: file, output: output, counters: own)
        // Sound of before the cut is left out there, and what came later was held.
        for buffer in held { try output.write(audio: buffer) }
        for kind in ended { try output.streamEnded(kind, lost: 0) }
        if let anchor, rule.duration > 0 {
            let passed = (time - anchor) / rule.duration
            self.anchor = passed > 0 ? anchor.advanced(by: passed * rule.duration) : time
        } else {
            anchor = time
        }
        counters.note(.segment(.began(current.number)))
    }

    /// Has finished what nothing comes to any more, and counts.
    private func settle(at time: Timestamp) throws(CaptureError) {
        while let segment = ending.first {
            let isLate = segment.cut.map { time - $0 > SegmentedOutput.patience } ?? true
            guard segment.output.isComplete || isLate else { break }
            // First: one that cannot be handed over is salvaged with the others.
            try finisher.put(segment)
            ending.removeFirst()
        }
        count()
    }

    private var finished: OutputStatistics {
        var sum = finisher.sum
        for segment in ending { sum.add(segment.counters.now) }
        return sum
    }

    private func count() {
        var sum = finished
        sum.add(current.counters.report())
        counters.update { counters in
            counters.frames = sum.frames
            counters.samples = sum.samples
            counters.items = sum.items
            counters.missedFrames = sum.missedFrames
            counters.missedSamples = sum.missedSamples
            counters.silence = sum.silence
            counters.bytes = sum.bytes
            counters.duration = sum.duration
            counters.peak = max(counters.peak, sum.peak)
            counters.isWaiting = isWaiting
            counters.drift = sum.drift
        }
    }

    // MARK: Ending

    func streamEnded(_ kind: MediaType, lost: UInt64) throws(CaptureError) {
        ended.insert(kind)
        for segment in ending { try segment.output.streamEnded(kind, lost: 0) }
        try current.output.streamEnded(kind, lost: lost)
        count()
    }

    func rest() throws(CaptureError) { try current.output.rest() }

    func idle() throws(CaptureError) {
        try current.output.idle()
        count()
    }

    func finish() throws(CaptureError) {
        for segment in ending { try finisher.put(segment) }
        ending = []
        finisher.wait()
        try current.output.finish()
        isFinished = true
        files.finished(current.file)
        // One that was never begun is nobody's.
        if current.time != 0 { counters.note(.segment(.finished(current.summary(isComplete: true)))) }
        count()
        if let failure = finisher.failure { throw failure }
    }

    func salvage() {
        for segment in ending { finisher.finish(segment) }
        ending = []
        finisher.wait()
        if isFinished { return }
        current.output.salvage()
        if current.counters.now.bytes > 0 { counters.note(.segment(.finished(current.summary(isComplete: false)))) }
        count()
    }
}
