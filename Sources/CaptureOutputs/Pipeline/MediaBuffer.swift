import CLinux
import CaptureCore
import Glibc
import Synchronization

/// Memory of a fixed size that goes round between a reader and the encoder.
@safe
struct PooledMemory: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
}

/// A fixed number of buffers of one size. Thread-safe, but for `take`: one thread alone takes.
///
/// A page takes memory once it is first written, so a compressed frame costs its real size, not the largest possible one.
/// The buffer that was given back last is taken first: only a slow encoder needs many buffers, and the bytes are still in
/// the processor's cache. Buffers that are no longer needed give their memory back to the system.
final class BufferPool: Sendable {
    /// How many are in use while nothing is slow: one is filled, and one is worked on.
    static let usual = 2
    /// How many are taken from one look at what is not used to the next.
    private static let interval = 64

    /// Bytes of each buffer.
    let capacity: Int
    private let free = BlockingQueue<PooledMemory>()
    private let memory: PooledMemory
    private let stride: Int
    private let use: Mutex<Use>

    private struct Use {
        /// By buffer.
        var isWritten: [Bool]
        /// The fewest that were free at one time since the last look.
        var fewest = Int.max
        /// How many were taken since then.
        var taken = 0
    }

    /// Makes `count` buffers of at least one byte, `ready` of which are met by now: their first use costs no page fault.
    init(count: Int, capacity: Int, ready: Int = 0) throws(CaptureError) {
        self.capacity = max(capacity, 1)
        // Some decoders read a few bytes past the end of what they are given.
        let size = max(capacity, 1) + 64
        stride = (size + 63) / 64 * 64
        // Not from malloc, whose freed memory an encoder is to find again.
        let start = unsafe mmap(nil, stride * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            throw CaptureError(
                .inputOutput,
                "there is no memory for \(count) buffers of \(capacity) bytes: choose a smaller size with --preset or "
                    + "--video-format",
                errno: errno
            )
        }
        let all = unsafe UnsafeMutableRawBufferPointer(start: start, count: stride * count)
        memory = unsafe PooledMemory(bytes: all)
        use = Mutex(Use(isWritten: (0..<count).map { $0 < ready }))
        unsafe _ = clinux_populate(start, stride * min(ready, count))
        // The one that is put last is taken first.
        for index in (0..<count).reversed() {
            let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: all[index * stride..<index * stride + size])
            free.put(unsafe PooledMemory(bytes: bytes))
        }
    }

    deinit {
        unsafe munmap(memory.bytes.baseAddress, memory.bytes.count)
    }

    /// Takes a free buffer, waiting for one; `nil` once the pool is closed.
    func take() -> PooledMemory? {
        guard let taken = free.take(newest: true) else { return nil }
        let left = free.count
        let unused = use.withLock { use in
            use.isWritten[index(of: taken)] = true
            use.fewest = min(use.fewest, left)
            use.taken += 1
            guard use.taken == BufferPool.interval else { return 0 }
            defer { (use.fewest, use.taken) = (.max, 0) }
            return use.fewest
        }
        if unused > 0 { giveBack(unused) }
        return taken
    }

    /// Takes one back.
    func give(_ memory: PooledMemory) { free.put(memory) }

    /// Lets nobody wait for a buffer any more.
    func close() { free.close() }

    /// Gives the memory of the buffers that were free longest back to the system. Nobody takes one meanwhile: only this
    /// thread takes buffers.
    private func giveBack(_ count: Int) {
        for unused in free.first(count) {
            let index = index(of: unused)
            guard use.withLock({ $0.isWritten[index] }) else { continue }
            use.withLock { $0.isWritten[index] = false }
            unsafe clinux_give_back(unused.bytes.baseAddress, stride)
        }
    }

    private func index(of taken: PooledMemory) -> Int {
        let (all, own) = unsafe (UInt(bitPattern: memory.bytes.baseAddress), UInt(bitPattern: taken.bytes.baseAddress))
        return Int(own - all) / stride
    }
}

/// A frame or a stretch of sound in memory of the recorder's own; goes back to its pool with its last reference.
final class MediaBuffer: @unchecked Sendable {
    /// What was said about it when it was published, at its place in the file.
    private(set) var info: BufferInfo
    /// Bytes in use.
    let count: Int
    /// Buffers of its stream that were lost between the one before it and this one.
    private(set) var lostBefore: UInt64
    /// Whether something before it was left out because the recording was paused or its connection disabled.
    private(set) var isAfterCut = false
    /// Nanoseconds of pauses before it, by which its time is earlier than its capture.
    private(set) var paused: Int64 = 0
    private let memory: PooledMemory
    /// Where the memory goes back to; `nil` if another buffer has it.
    private let pool: BufferPool?
    /// The buffer whose memory it is a part of.
    private let whole: MediaBuffer?

    init(_ memory: PooledMemory, of pool: BufferPool, count: Int, info: BufferInfo, lostBefore: UInt64 = 0) {
        self.memory = memory
        self.pool = pool
        whole = nil
        self.count = count
        self.info = info
        self.lostBefore = lostBefore
    }

    private init(_ part: Range<Int>, of whole: MediaBuffer, info: BufferInfo) {
        memory = unsafe PooledMemory(bytes: UnsafeMutableRawBufferPointer(rebasing: whole.memory.bytes[part]))
        pool = nil
        self.whole = whole
        count = part.count
        self.info = info
        lostBefore = part.lowerBound == 0 ? whole.lostBefore : 0
    }

    deinit {
        pool?.give(memory)
    }

    /// Some of its sample frames, in the same memory.
    ///
    /// - Parameters:
    ///   - time: When the first was captured, in nanoseconds.
    ///   - position: Where the first is in the stream, in sample frames.
    func part(_ frames: Range<Int>, of format: AudioFormat, at time: Int64, _ position: Int64) -> MediaBuffer {
        var info = info
        info.timestamp = Timestamp(nanoseconds: time)
        info.position = UInt64(clamping: position)
        let width = format.bytesPerFrame
        return MediaBuffer(frames.lowerBound * width..<frames.upperBound * width, of: self, info: info)
    }

    /// Some of its bytes, in the same memory.
    func part(_ bytes: Range<Int>) -> MediaBuffer { MediaBuffer(bytes, of: self, info: info) }

    /// Gives it another place in the file. The thread that has it alone may do that.
    func move(by nanoseconds: Int64, samples: Int64, isAfterCut: Bool) {
        info.timestamp = info.timestamp.advanced(by: nanoseconds)
        paused -= nanoseconds
        info.position = UInt64(clamping: Int64(clamping: info.position) + samples)
        if isAfterCut { markGap() }
    }

    /// Marks a gap before this buffer, in which nothing is missing.
    func markGap() {
        isAfterCut = true
        lostBefore = 0
    }

    /// The bytes; valid as long as the buffer.
    var bytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.bytes)[..<count])
    }

    /// The bytes, for libraries whose signatures do not say that they only read.
    var mutableBytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<count])
    }
}
