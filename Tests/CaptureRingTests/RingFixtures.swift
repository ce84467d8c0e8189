import CaptureCore
import CaptureRing
import CaptureSystem

/// Small rings and their buffers.
enum Fixture {
    static let video = MediaFormat.video(
        VideoFormat(
            pixelFormat: .nv12m,
            width: 64,
            height: 32,
            interval: FrameInterval(1, 30),
            planes: [
                PlaneLayout(offset: 0, stride: 64, size: 2048), PlaneLayout(offset: 4096, stride: 64, size: 1024),
            ],
            color: ColorDescription(colorSpace: 3, transfer: 1, encoding: 2, quantization: 2)
        )
    )
    static let audio = MediaFormat.audio(
        AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 2, periodFrames: 480)
    )

    static func info(_ number: UInt64, bytes: Int = 2048, second: Int = 1024) -> BufferInfo {
        BufferInfo(
            timestamp: Timestamp(nanoseconds: Int64(number) * 1_000_000),
            deviceSequence: number + 100,
            position: number * 480,
            bytesUsed: (bytes, second, 0, 0),
            flags: [.keyframe, .monotonic],
            lostBefore: UInt32(number % 3)
        )
    }
}

extension RingWriter {
    /// Fills a slot with one byte and publishes it.
    @discardableResult
    func put(_ number: UInt64) -> Bool {
        guard let slot = claim() else { return false }
        unsafe memory(ofSlot: slot).initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: number))
        publish(slot, Fixture.info(number))
        return true
    }
}

extension RingReader {
    /// The next buffer that is there already.
    func take(newest: Bool = false) throws -> RingBuffer? {
        guard case .buffer(let buffer) = try next(timeout: 0, newest: newest) else { return nil }
        return buffer
    }

    /// How the stream ended, if it did and everything was read.
    func end() throws -> StreamEnd? {
        guard case .ended(let reason) = try next(timeout: 0) else { return nil }
        return reason
    }
}
