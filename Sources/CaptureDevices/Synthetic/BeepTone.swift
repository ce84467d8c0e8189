import CaptureCore
import Glibc

/// The synthetic microphone's sound: 50 ms of 1 kHz at every whole second, silence between.
///
/// Immutable and thread-safe; filling allocates nothing.
struct BeepTone: Sendable {
    /// Hz.
    static let frequency = 1000.0
    private let bytesPerFrame: Int
    private let beep: [UInt8]

    /// Sample frames of a beep.
    let length: Int64

    init(_ format: AudioFormat) {
        length = Int64(format.sampleRate / 20)
        bytesPerFrame = format.bytesPerFrame
        var bytes: [UInt8] = []
        for frame in 0..<Int(length) {
            // A cosine, so that the very first sample is loud and the start can be found to the sample.
            let value = 0.5 * cos(2 * Double.pi * Self.frequency * Double(frame) / Double(format.sampleRate))
            for _ in 0..<format.channels {
                switch format.sampleFormat {
                case .float32: Self.append(Float(value).bitPattern, to: &bytes)
                default: Self.append(UInt16(bitPattern: Int16(value * 32767)), to: &bytes)
                }
            }
        }
        beep = bytes
    }

    /// Writes sample frames `first..<first + count` of a stream.
    func fill(_ memory: UnsafeMutableRawBufferPointer, from first: Int64, count: Int, _ clock: SampleClock) {
        unsafe memory.clear(count * bytesPerFrame)
        let end = first + Int64(count)
        var second = clock.time(of: first).nanoseconds / 1_000_000_000
        while true {
            let start = clock.position(at: Timestamp(nanoseconds: second * 1_000_000_000))
            if start >= end { return }
            let from = max(start, first)
            let to = min(start + length, end)
            if from < to {
                let source = Int(from - start) * bytesPerFrame..<Int(to - start) * bytesPerFrame
                let target = Int(from - first) * bytesPerFrame
                unsafe beep.withUnsafeBytes { beep in
                    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[target...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: beep[source]))
                }
            }
            second += 1
        }
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
