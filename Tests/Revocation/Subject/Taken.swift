import CaptureKit
import CaptureSystem
import Glibc
import Synchronization

/// What reached the program through the rings that it has mapped, noted by the handlers of its outputs.
final class Seen: Sendable {
    struct Count {
        var buffers: UInt64 = 0
        /// The newest time of capture.
        var last = Timestamp(nanoseconds: 0)
        /// The newest number that the device gave a frame.
        var sequence: UInt64 = 0
        /// Sample frames since the microphone was opened, up to the end of the newest buffer.
        var position: UInt64 = 0
        /// The frames by their bytes' hash: each bears a number and a clock, so that none is like another.
        var pictures: Set<Int> = []
    }

    private let state = Mutex(Count())

    var count: Count { state.withLock { $0 } }

    func take(picture event: DataOutputEvent<VideoFrame>) {
        guard case .data(let frame) = event else { return }
        let hash = unsafe hashed(frame.planes[0].bytes)
        let isWhole = frame.isIntact
        state.withLock {
            $0.buffers += 1
            $0.last = max($0.last, frame.time)
            $0.sequence = max($0.sequence, frame.sequence)
            if isWhole { $0.pictures.insert(hash) }
        }
    }

    func take(sound event: DataOutputEvent<AudioSamples>) {
        guard case .data(let samples) = event else { return }
        let end = samples.position + UInt64(samples.frameCount)
        state.withLock {
            $0.buffers += 1
            $0.last = max($0.last, samples.time)
            $0.position = max($0.position, end)
        }
    }
}

func hashed(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    unsafe hasher.combine(bytes: bytes)
    return hasher.finalize()
}

/// What comes out of a pipe that a recorder writes to, taken by a thread of its own.
final class Drain: Sendable {
    /// For the recorder.
    let writing: Descriptor
    private let got = Mutex<[UInt8]>([])
    private let isOver = Atomic<Bool>(false)
    private let reading: Descriptor
    private let thread = Mutex<WorkerThread?>(nil)

    init(_ name: String) throws {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw CaptureError(.inputOutput, "no pipe", errno: errno) }
        reading = Descriptor(owning: ends[0])
        writing = Descriptor(owning: ends[1])
        let started = try WorkerThread(name: name) { [self] in take() }
        thread.withLock { $0 = started }
    }

    /// How many bytes came so far.
    var count: Int { got.withLock { $0.count } }

    /// All there is, once the recorder is gone.
    func all() -> [UInt8] {
        isOver.store(true, ordering: .releasing)
        thread.withLock { $0.take() }?.join()
        return got.withLock { $0 }
    }

    private func take() {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            // Asked before looking: what was written before that is there to be seen.
            let isLast = isOver.load(ordering: .acquiring)
            var waiting = pollfd(fd: reading.descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&waiting, 1, isLast ? 0 : 20) > 0 {
                guard let count = try? unsafe piece.withUnsafeMutableBytes({ try unsafe reading.read(into: $0) }),
                    count > 0
                else { return }
                got.withLock { $0 += piece[..<count] }
            } else if isLast {
                return
            }
        }
    }
}
