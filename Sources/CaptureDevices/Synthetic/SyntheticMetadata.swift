import CaptureCore
import CaptureSystem

/// The metadata of the synthetic camera's frames, as a USB camera has it: one payload header with the frame's time
/// on two clocks. Nothing comes while the camera does not stream. Thread-bound.
struct SyntheticMetadata: DeviceRun {
    /// As uvcvideo has it.
    static let format = MetadataFormat(code: .uvcHeaders, capacity: 10240)
    /// Bytes of `struct uvc_meta_buf` with both clocks.
    private static let length = 22
    /// How often it is looked for frames, in milliseconds.
    private static let look: Int32 = 4

    private let frames: FrameNumbers
    private var sink: any MediaSink
    private var lost: UInt32 = 0
    private var number: UInt64 = 0

    init(_ frames: FrameNumbers, _ sink: any MediaSink) {
        self.frames = frames
        self.sink = sink
    }

    /// A buffer for each frame of the camera, until told to stop.
    mutating func stream(_ control: StreamControl) throws(CaptureError) {
        do throws(SystemError) {
            var next = frames.count
            while true {
                if try !Poll.wait(control.descriptor, timeout: Self.look).isEmpty {
                    if control.obey(&sink) { return }
                }
                if try !control.mayGoOn() {
                    if try control.waitForProof(&sink) { return }
                    next = frames.count
                    continue
                }
                let count = frames.count
                if count - next > FrameNumbers.kept {
                    let gap = count - next - FrameNumbers.kept
                    sink.count(.sequenceGap, UInt64(gap))
                    lost &+= UInt32(clamping: gap)
                    next += gap
                }
                while next < count {
                    if let frame = frames[next] { deliver(frame) }
                    next += 1
                }
            }
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    private mutating func deliver(_ frame: FrameNumbers.Frame) {
        guard let slot = sink.claim() else {
            sink.count(.noSlot, 1)
            lost &+= 1
            return
        }
        unsafe Self.write(frame, to: sink.memory(ofSlot: slot))
        var flags: BufferFlags = [.monotonic, .startOfExposure]
        if lost > 0 { flags.insert(.discontinuity) }
        sink.publish(
            slot,
            BufferInfo(
                timestamp: frame.time,
                deviceSequence: number,
                position: frame.number &+ 1,
                bytesUsed: (Self.length, 0, 0, 0),
                flags: flags,
                lostBefore: lost
            )
        )
        number += 1
        lost = 0
    }

    /// The camera's clock counts microseconds, and its bus a frame each millisecond.
    private static func write(_ frame: FrameNumbers.Frame, to memory: UnsafeMutableRawBufferPointer) {
        let time = UInt64(bitPattern: frame.time.nanoseconds)
        let clock = UInt32(truncatingIfNeeded: time / 1000)
        let bus = UInt16(truncatingIfNeeded: time / 1_000_000 % 2048)
        // Both clocks are there, the frame ends here, and the lowest bit toggles with each frame.
        let flags = 0x80 | 0x0c | 0x02 | UInt8(frame.number & 1)
        unsafe memory.storeBytes(of: time.littleEndian, toByteOffset: 0, as: UInt64.self)
        unsafe memory.storeBytes(of: bus.littleEndian, toByteOffset: 8, as: UInt16.self)
        unsafe memory.storeBytes(of: 12, toByteOffset: 10, as: UInt8.self)
        unsafe memory.storeBytes(of: flags, toByteOffset: 11, as: UInt8.self)
        unsafe memory.storeBytes(of: clock.littleEndian, toByteOffset: 12, as: UInt32.self)
        unsafe memory.storeBytes(of: clock.littleEndian, toByteOffset: 16, as: UInt32.self)
        unsafe memory.storeBytes(of: bus.littleEndian, toByteOffset: 20, as: UInt16.self)
    }
}
