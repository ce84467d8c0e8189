import Glibc

/// How much the look at programs may read, and for how long. Thread-bound.
final class ReadingBudget {
    private var bytes: UInt64
    private let end: UInt64

    /// - Parameters:
    ///   - bytes: What may be read in all.
    ///   - milliseconds: After that, nothing more is read.
    init(bytes: UInt64, milliseconds: UInt64) {
        self.bytes = bytes
        end = ReadingBudget.now &+ milliseconds * 1_000_000
    }

    /// Enough for a machine with some thousand programs.
    static var usual: ReadingBudget { ReadingBudget(bytes: 1 << 30, milliseconds: 3000) }

    /// Enough for any machine that answers.
    static var patient: ReadingBudget { ReadingBudget(bytes: 1 << 36, milliseconds: 120_000) }

    /// Whether a limit was reached, so that something may not have been seen.
    private(set) var isSpent = false

    /// Takes bytes out of the budget.
    ///
    /// - Returns: Whether they may be read.
    func take(_ count: Int) -> Bool {
        if isSpent || UInt64(count) > bytes || ReadingBudget.now > end {
            isSpent = true
            return false
        }
        bytes -= UInt64(count)
        return true
    }

    private static var now: UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Bytes that are read by their place: of a file, or of memory in tests. Thread-bound.
struct ByteSource {
    /// How many there are.
    let size: UInt64
    private let fetch: (UInt64, Int) -> [UInt8]?

    /// Bytes in memory.
    init(_ bytes: [UInt8]) {
        size = UInt64(bytes.count)
        fetch = { place, count in Array(bytes[Int(place)..<Int(place) + count]) }
    }

    /// An open file of a size. It must stay open.
    init(descriptor: Int32, size: UInt64, budget: ReadingBudget) {
        self.size = size
        fetch = { place, count in
            guard budget.take(count) else { return nil }
            var done = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                while done < count {
                    let got = unsafe pread(
                        descriptor,
                        buffer.baseAddress?.advanced(by: done),
                        count - done,
                        off_t(place) + done
                    )
                    if got < 0, errno == EINTR { continue }
                    if got <= 0 { break }
                    done += got
                }
                filled = done
            }
            return done == count ? bytes : nil
        }
    }

    /// So many bytes from a place; `nil` if the file does not have them all, or they may not be read.
    func bytes(at place: UInt64, _ count: UInt64) -> [UInt8]? {
        guard place <= size, count <= size - place, count <= 1 << 26 else { return nil }
        return count == 0 ? [] : fetch(place, Int(count))
    }
}

/// A text that is looked for in bytes: Horspool's algorithm.
struct BytePattern {
    let bytes: [UInt8]
    private let skips: [Int]

    init(_ text: String) {
        bytes = Array(text.utf8)
        var skips = [Int](repeating: bytes.count, count: 256)
        for (place, byte) in bytes.dropLast().enumerated() { skips[Int(byte)] = bytes.count - 1 - place }
        self.skips = skips
    }

    func isIn(_ text: [UInt8]) -> Bool {
        let last = bytes.count - 1
        guard last >= 0 else { return true }
        return unsafe text.withUnsafeBufferPointer { text in
            var end = last
            while end < text.count {
                let byte = unsafe text[end]
                if byte == bytes[last] {
                    var length = 1
                    while length <= last, unsafe text[end - length] == bytes[last - length] { length += 1 }
                    if length > last { return true }
                }
                end += skips[Int(byte)]
            }
            return false
        }
    }
}
