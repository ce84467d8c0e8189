import CaptureKit
import CaptureSystem
import CLinux

/// How much the look at programs may read, and for how long. Thread-bound.
final class ReadingBudget {
    private var bytes: UInt64
    private let end: Int64

    /// - Parameters:
    ///   - bytes: What may be read in all.
    ///   - milliseconds: After that, nothing more is read.
    init(bytes: UInt64, milliseconds: Int64) {
        self.bytes = bytes
        end = Timestamp.now.nanoseconds + milliseconds * 1_000_000
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
        if isSpent || UInt64(count) > bytes || Timestamp.now.nanoseconds > end {
            isSpent = true
            return false
        }
        bytes -= UInt64(count)
        return true
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

    /// An open file of a size.
    init(_ file: Descriptor, size: UInt64, budget: ReadingBudget) {
        self.size = size
        fetch = { place, count in
            guard budget.take(count), let bytes = try? file.bytes(at: Int64(place), count: count), bytes.count == count
            else { return nil }
            return bytes
        }
    }

    /// So many bytes from a place; `nil` if the file does not have them all, or they may not be read.
    func bytes(at place: UInt64, _ count: UInt64) -> [UInt8]? {
        guard place <= size, count <= size - place, count <= 1 << 26 else { return nil }
        return count == 0 ? [] : fetch(place, Int(count))
    }
}

/// A text that is looked for in bytes.
struct BytePattern {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    func isIn(_ text: [UInt8]) -> Bool { unsafe clinux_contains(text, text.count, bytes, bytes.count) != 0 }
}
