import CLinux
import CaptureCore
import Glibc

/// Memory of a fixed size that goes round between a reader and the encoder.
@safe
struct PooledMemory: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
}

/// A fixed number of buffers of one size. Thread-safe.
///
/// Pages are only taken from the system when something is first written in them, so a compressed camera's generous
/// largest frame costs what its frames really are; the buffer that was given back last is taken first, so that only a
/// slow encoder makes many of them real, and what is written is still in the processor's cache.
final class BufferPool: Sendable {
    /// Bytes of each buffer.
    let capacity: Int
    private let free = BlockingQueue<PooledMemory>()
    private let memory: PooledMemory

    /// Makes `count` buffers of at least one byte, `ready` of which are met by now: their first use costs no page fault.
    init(count: Int, capacity: Int, ready: Int = 0) throws(CaptureError) {
        self.capacity = max(capacity, 1)
        // Some decoders read a few bytes past the end of what they are given.
        let size = max(capacity, 1) + 64
        let stride = (size + 63) / 64 * 64
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
        unsafe _ = clinux_populate(start, stride * min(ready, count), 1)
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
    func take() -> PooledMemory? { free.take(newest: true) }

    /// Takes one back.
    func give(_ memory: PooledMemory) { free.put(memory) }

    /// Lets nobody wait for a buffer any more.
    func close() { free.close() }
}

/// A frame or a stretch of sound in memory of the recorder's own; goes back to its pool with its last reference.
final class MediaBuffer: @unchecked Sendable {
    /// What was said about it when it was published.
    let info: BufferInfo
    /// Bytes in use.
    let count: Int
    /// Buffers of its stream that were lost between the one before it and this one.
    let lostBefore: UInt64
    private let memory: PooledMemory
    private let pool: BufferPool

    init(_ memory: PooledMemory, of pool: BufferPool, count: Int, info: BufferInfo, lostBefore: UInt64 = 0) {
        self.memory = memory
        self.pool = pool
        self.count = count
        self.info = info
        self.lostBefore = lostBefore
    }

    deinit {
        pool.give(memory)
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
