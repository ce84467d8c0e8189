import CaptureCore
import CaptureRing
import CaptureSystem

/// A ring as its maker, or whoever took its place, may hand it over: every number in it is somebody else's word.
enum FuzzRing {
    private static let formats: [MediaFormat] = [
        .video(
            VideoFormat(
                pixelFormat: .nv12m,
                width: 16,
                height: 8,
                interval: FrameInterval(1, 30),
                planes: [
                    PlaneLayout(offset: 0, stride: 16, size: 128), PlaneLayout(offset: 256, stride: 16, size: 64),
                ]
            )
        ),
        .audio(AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 2, periodFrames: 64)),
    ]

    /// The bytes of a good ring with three buffers in it, by its format.
    private static let good: [[UInt8]] = formats.compactMap { format in
        guard let writer = try? RingWriter(format: format, slots: 4, kept: 2, name: "good") else { return nil }
        for number in 0..<3 as Range<UInt64> {
            guard let slot = writer.claim() else { return nil }
            let info = BufferInfo(
                timestamp: Timestamp(nanoseconds: Int64(number)),
                deviceSequence: number,
                position: number * 64,
                bytesUsed: (128, 64, 0, 0),
                flags: [.monotonic],
                lostBefore: 0
            )
            writer.publish(slot, info)
        }
        guard let memory = try? SharedMemory(mapping: writer.file) else { return nil }
        return unsafe Array(memory.bytes)
    }

    /// Overwrites places of a good ring, each by an offset of two bytes and a value of eight; then reads all there is.
    @Sendable static func reader(_ bytes: [UInt8]) {
        FuzzTarget.hold(good.count == formats.count, "there are good rings to begin with")
        var input = FuzzInput(bytes)
        var image = input.one(of: good)
        if input.byte() & 1 != 0 { image = Array(image.prefix(Int(input.number(UInt16.self)))) }
        while !input.isEmpty {
            // The header, the order table and the descriptors; what is in the slots means nothing.
            let offset = Int(input.number(UInt16.self) % 5120)
            let value = input.number(UInt64.self)
            for shift in 0..<8 where offset + shift < image.count {
                image[offset + shift] = UInt8(truncatingIfNeeded: value >> (shift * 8))
            }
        }
        guard !image.isEmpty, let memory = try? SharedMemory(creating: "damaged", size: image.count) else { return }
        unsafe memory.bytes.copyBytes(from: image)
        for isFromStart in [true, false] {
            do throws(CaptureError) {
                let reader = try RingReader(mapping: memory.file, fromStart: isFromStart)
                _ = (reader.statistics, reader.statistics.latency, reader.pending)
                var sum = 0
                for _ in 0..<20 {
                    guard case .buffer(let buffer) = try reader.next(timeout: 0, newest: !isFromStart) else { break }
                    for index in -1...4 { unsafe buffer.plane(index).forEach { sum &+= Int($0) } }
                    unsafe buffer.bytes.forEach { sum &+= Int($0) }
                    _ = (buffer.published - buffer.info.timestamp, reader.confirm(buffer))
                }
            } catch {
                FuzzTarget.hold(error.code == .badData, "a damaged ring is bad data: \(error.message)")
            }
        }
    }
}
