@testable import CaptureOutputs
import CaptureCore
import Testing

/// Periods of 10 ms of one channel at 48 kHz, in 16 bits.
enum SoundPeriods {
    /// What becomes of samples that are all the same, in periods of these numbers.
    static func passed(
        _ numbers: Range<Int>,
        of sample: Int16 = 10_000,
        through passage: (MediaBuffer) -> Void
    ) throws -> [Int16] {
        let pool = try BufferPool(count: 2, capacity: 960)
        return try numbers.flatMap { index -> [Int16] in
            let info = BufferInfo(
                timestamp: Timestamp(nanoseconds: Int64(index) * 10_000_000),
                deviceSequence: 0,
                position: UInt64(index * 480),
                bytesUsed: (960, 0, 0, 0),
                flags: .monotonic
            )
            let buffer = MediaBuffer(try #require(pool.take()), of: pool, count: 960, info: info)
            let bytes = unsafe buffer.mutableBytes
            for frame in 0..<480 { unsafe bytes.storeBytes(of: sample, toByteOffset: 2 * frame, as: Int16.self) }
            passage(buffer)
            return (0..<480).map { unsafe bytes.load(fromByteOffset: 2 * $0, as: Int16.self) }
        }
    }
}
