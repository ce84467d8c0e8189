import CLinux
import Glibc
import Testing

@Suite struct `A frame's copy` {
    /// The smallest size that is copied past the caches.
    private static let large = 3 << 20
    private static let sizes = [0, 1, 63, 4096, large - 1, large, large + 1, large + 63, 1920 * 1080 * 2]
    private static let room = 128
    private static let source = (0..<1920 * 1080 * 2 + room).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    @Test(arguments: sizes)
    func `has every byte and touches no other, wherever both lie`(_ size: Int) {
        let source = Self.source
        for (from, to) in [(0, 0), (0, 1), (16, 5), (3, 0), (7, 64), (1, 63)] {
            var target = [UInt8](repeating: 0xA5, count: size + Self.room)
            let isCopied = unsafe source.withUnsafeBytes { source in
                unsafe target.withUnsafeMutableBytes { target in
                    guard let source = source.baseAddress, let target = target.baseAddress else { return false }
                    unsafe clinux_copy_frame(target + to, source + from, size)
                    // Comparing slices takes seconds without optimization.
                    return unsafe memcmp(target + to, source + from, size) == 0
                }
            }
            #expect(isCopied)
            #expect(target[..<to].allSatisfy { $0 == 0xA5 })
            #expect(target[(to + size)...].allSatisfy { $0 == 0xA5 })
        }
    }
}
