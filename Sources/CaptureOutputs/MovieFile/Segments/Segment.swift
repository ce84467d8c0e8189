import CaptureCore
import CaptureSystem
import Synchronization

/// One file of a movie in segments. Thread-bound to the thread that writes it.
struct Segment {
    /// A stretch of a day: each day begins with a new one.
    struct Period: Hashable {
        let day: Int64
        let number: Int64
    }

    /// From 1.
    let number: UInt32
    let file: RecorderFile
    let output: ContainerOutput
    /// Its own, of which the movie's are the sum.
    let counters: RecorderCounters
    /// When it began, for `SegmentRule.isAligned`.
    var period: Period?
    /// When its first picture was captured, in nanoseconds since 1970.
    var time: Int64 = 0
    /// Where the next one begins.
    var cut: Timestamp?

    /// What is told of it in the end.
    func summary(isComplete: Bool) -> MovieSegment {
        let counted = counters.now
        return MovieSegment(
            number: number,
            time: max(time, 0),
            duration: max(counted.duration, 0),
            frames: counted.frames,
            bytes: counted.bytes,
            isComplete: isComplete
        )
    }
}

/// Finishes the files of a movie in segments on a thread of its own, so that no picture waits for the disk. Thread-safe.
final class SegmentFinisher: Sendable {
    private struct State: Sendable {
        /// The counters of what is finished.
        var sum = OutputStatistics()
        /// Those of what is being finished.
        var pending: [UInt32: RecorderCounters] = [:]
        var failure: CaptureError?
    }
    private let queue = BlockingQueue<Unguarded<Segment>>()
    private let state = Mutex(State())
    private let files: RecorderFiles
    private let counters: RecorderCounters
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameter counters: Hear of each file that is complete.
    init(_ files: RecorderFiles, _ counters: RecorderCounters) {
        self.files = files
        self.counters = counters
    }

    /// Why a file could not be finished.
    var failure: CaptureError? { state.withLock(\.failure) }

    /// How many are being finished.
    var waiting: Int { state.withLock(\.pending.count) }

    /// The counters of all that was finished, or is being.
    var sum: OutputStatistics {
        state.withLock { state in
            var sum = state.sum
            for counters in state.pending.values { sum.add(counters.now) }
            return sum
        }
    }

    /// Starts the thread: once the first file ends.
    private func start() throws(CaptureError) {
        do throws(SystemError) {
            try thread.withLock { (thread) throws(SystemError) in
                guard thread == nil else { return }
                thread = try WorkerThread(name: "finish") { [weak self, queue] in
                    while let segment = queue.take() { self?.finish(segment.value) }
                }
            }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// Has a file finished, to which nothing comes any more.
    func put(_ segment: Segment) throws(CaptureError) {
        try start()
        state.withLock { $0.pending[segment.number] = segment.counters }
        queue.put(Unguarded(segment))
    }

    /// Waits until all are finished.
    func wait() {
        queue.close()
        thread.withLock { $0.take() }?.join()
        // Those that it had not come to.
        for segment in queue.drain() { finish(segment.value) }
    }

    /// Finishes one on this thread.
    func finish(_ segment: Segment) {
        var fault: CaptureError?
        do throws(CaptureError) {
            try segment.output.finish()
        } catch {
            segment.output.salvage()
            fault = error
        }
        files.finished(segment.file)
        state.withLock { state in
            state.pending[segment.number] = nil
            state.sum.add(segment.counters.now)
            state.failure = state.failure ?? fault
        }
        if fault != nil, segment.counters.now.bytes == 0 { return }
        counters.note(.segment(.finished(segment.summary(isComplete: fault == nil))))
    }
}

extension OutputStatistics {
    /// Adds the figures of one more file of the same movie.
    mutating func add(_ other: OutputStatistics) {
        frames += other.frames
        samples += other.samples
        items += other.items
        missedFrames += other.missedFrames
        missedSamples += other.missedSamples
        silence += other.silence
        bytes += other.bytes
        duration += other.duration
        peak = max(peak, other.peak)
        drift = other.drift
    }
}
