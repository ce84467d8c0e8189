import CaptureKit
import Glibc

/// The rings that this process has mapped, found as an attacker would, by what the kernel says is in its memory, and mapped
/// once more, so that they stay when the library lets go of them.
@safe final class MappedRings {
    /// The first bytes of every ring, "CAPRING" and a zero.
    private static let magic: UInt64 = 0x0047_4E49_5250_4143

    private let memory: [UnsafeRawBufferPointer]
    /// The inodes of their files, each once.
    let files: Set<UInt64>

    init() throws {
        guard let maps = unsafe fopen("/proc/self/maps", "re") else {
            throw CaptureError(.inputOutput, "/proc/self/maps cannot be read", errno: errno)
        }
        defer { unsafe fclose(maps) }
        var lines: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { unsafe free(line) }
        while unsafe getline(&line, &size, maps) > 0 {
            if let text = unsafe line { unsafe lines.append(String(cString: text)) }
        }
        var found: [UnsafeRawBufferPointer] = unsafe []
        var files: Set<UInt64> = []
        for words in lines.map({ $0.split(separator: " ") }) {
            guard words.count > 5, words[5].hasPrefix("/memfd:"), words[1].hasPrefix("r"), let file = UInt64(words[4]),
                let range = Self.range(words[0]), !files.contains(file)
            else { continue }
            let bytes = unsafe UnsafeRawBufferPointer(
                start: UnsafeRawPointer(bitPattern: range.lowerBound),
                count: range.count
            )
            guard unsafe bytes.load(as: UInt64.self) == Self.magic else { continue }
            unsafe found.append(try Self.again(bytes))
            files.insert(file)
        }
        unsafe memory = found
        self.files = files
    }

    deinit {
        unsafe memory.forEach { unsafe munmap(UnsafeMutableRawPointer(mutating: $0.baseAddress), $0.count) }
    }

    /// Of shared memory mremap(2) makes a second mapping where the first is said to have no length.
    private static func again(_ bytes: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        // A variadic function, which does not import.
        typealias Remap = @convention(c) (UnsafeRawPointer?, Int, Int, Int32) -> UnsafeMutableRawPointer?
        guard let symbol = unsafe dlsym(nil, "mremap") else { throw CaptureError(.internalFault, "no mremap") }
        let remap = unsafe unsafeBitCast(symbol, to: Remap.self)
        guard let copy = unsafe remap(bytes.baseAddress, 0, bytes.count, 1), unsafe copy != MAP_FAILED else {
            throw CaptureError(.internalFault, "a ring is not mapped again", errno: errno)
        }
        return unsafe UnsafeRawBufferPointer(start: copy, count: bytes.count)
    }

    /// When the oldest of what they hold was captured, in nanoseconds on the monotonic clock, by each slot's descriptor as
    /// the layout has it; `nil` where nothing was written.
    func oldest() -> Int64? {
        var stamps: [Int64] = []
        for index in unsafe memory.indices {
            let ring = unsafe memory[index]
            let slots = unsafe Int(ring.load(fromByteOffset: 20, as: UInt32.self))
            let descriptors = unsafe Int(ring.load(fromByteOffset: 40, as: UInt64.self))
            for slot in 0..<slots {
                let descriptor = descriptors + slot * 128
                let isEmpty = unsafe ring.load(fromByteOffset: descriptor + 64, as: Int64.self) == 0
                if !isEmpty { stamps.append(unsafe ring.load(fromByteOffset: descriptor + 16, as: Int64.self)) }
            }
        }
        return stamps.min()
    }

    /// What they hold now.
    func copies() -> [[UInt8]] {
        unsafe memory.map { unsafe [UInt8]($0) }
    }

    /// Where they hold something else than the copies; `nil` when every byte is what it was.
    func difference(from copies: [[UInt8]]) -> String? {
        for (index, copy) in copies.enumerated() {
            let now = unsafe memory[index]
            let same = unsafe copy.withUnsafeBytes { before in
                guard let old = before.baseAddress, let new = now.baseAddress else { return false }
                return unsafe memcmp(old, new, before.count) == 0
            }
            if same { continue }
            let offset = copy.indices.first { unsafe copy[$0] != now[$0] } ?? 0
            return "ring \(index) of \(copy.count) bytes was written to at offset \(offset)"
        }
        return nil
    }

    /// `7f00-7f10`
    private static func range(_ word: Substring) -> Range<UInt>? {
        let ends = word.split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
