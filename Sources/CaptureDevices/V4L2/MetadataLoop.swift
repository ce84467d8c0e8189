import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// One stream from a metadata node into a sink: each buffer is copied.
///
/// Thread-bound: made by the thread that starts the stream, from then on used by the device thread alone.
final class MetadataLoop: DeviceRun, @unchecked Sendable {
    private static let buffers = 8
    /// How many wake-ups in a row may bring nothing.
    private static let mostFruitless = 1000
    /// How often it is looked for the frame that a buffer belongs to, and how many milliseconds apart. The driver may tell
    /// of a frame before the frame itself is published.
    private static let looks = 10
    private static let look: Int32 = 3

    private let node: V4L2Node
    /// The camera's.
    private let name: String
    private let format: MetadataFormat
    private let frames: FrameNumbers
    private var sink: any MediaSink
    private let pool: MappedPool
    /// Buffers in the driver's hands, a bit an index.
    private var queued: UInt32 = 0
    private var sequence = SequenceCounter()
    private var lost: UInt32 = 0
    private var fruitless = 0
    private var isOn = false

    /// Gets buffers, queues them and turns streaming on. After a failure nothing is held.
    init(
        _ node: V4L2Node,
        name: String,
        _ format: MetadataFormat,
        frames: FrameNumbers,
        sink: any MediaSink
    ) throws(SystemError) {
        self.node = node
        self.name = name
        self.format = format
        self.frames = frames
        self.sink = sink
        pool = try MappedPool(node, count: Self.buffers, planes: 1)
        do throws(SystemError) {
            try turnOn()
        } catch {
            end()
            throw error
        }
    }

    deinit {
        // Begun, and no thread could be had.
        if isOn { end() }
    }

    /// Runs until it is told to stop or fails, and gives everything back.
    ///
    /// - Throws: `.deviceLost`.
    func stream(_ control: StreamControl) throws(CaptureError) {
        defer { end() }
        do throws(SystemError) {
            while true {
                let (device, order) = try Poll.wait(node.descriptor, control.descriptor, timeout: control.wait)
                if !order.isEmpty {
                    if control.obey(&sink) { return }
                } else if try !control.mayGoOn() {
                    if try pause(control) { return }
                } else if !device.isEmpty {
                    try take(isFailed: device.contains(.failed), control)
                }
            }
        } catch {
            throw CaptureLoop.loss(error, of: "\(name), in its metadata,")
        }
    }

    private func turnOn() throws(SystemError) {
        for index in 0..<pool.count { try queue(index) }
        try SystemError.check("start \(node.path)") { clinux_v4l2_stream(node.descriptor, node.bufferType, 1) }
        isOn = true
    }

    /// Stops the stream until there is a new proof of life.
    ///
    /// - Returns: Whether the thread must stop.
    private func pause(_ control: StreamControl) throws(SystemError) -> Bool {
        try SystemError.check("pause \(node.path)") { clinux_v4l2_stream(node.descriptor, node.bufferType, 0) }
        queued = 0
        if try control.waitForProof(&sink) { return true }
        sequence.restart()
        try turnOn()
        return false
    }

    private func end() {
        isOn = false
        _ = clinux_v4l2_stream(node.descriptor, node.bufferType, 0)
        pool.unmap()
        var none: UInt32 = 0
        // Fails for a device that is gone; closing it frees what it holds.
        _ = unsafe clinux_v4l2_request_buffers(node.descriptor, node.bufferType, V4L2_MEMORY_MMAP.rawValue, &none)
    }

    private func queue(_ index: Int) throws(SystemError) {
        let (memory, number) = (V4L2_MEMORY_MMAP.rawValue, UInt32(index))
        try SystemError.check("queue a buffer of \(node.path)") {
            // Memory of the driver's own needs no address.
            clinux_v4l2_queue(node.descriptor, node.bufferType, memory, number, 1, 0, nil, nil)
        }
        queued |= 1 << UInt32(index)
    }

    /// Takes one buffer, publishes or drops it, and gives it back to the driver.
    private func take(isFailed: Bool, _ control: StreamControl) throws(SystemError) {
        var raw = clinux_v4l2_buffer()
        let memory = V4L2_MEMORY_MMAP.rawValue
        if unsafe clinux_v4l2_dequeue(node.descriptor, node.bufferType, memory, 1, &raw) == -1 {
            let code = errno
            // After an error or hang-up there is nothing to wait for.
            guard code == EINTR || (code == EAGAIN && !isFailed) else {
                throw SystemError("read from \(node.path)", errno: code == EAGAIN ? EIO : code)
            }
            fruitless += 1
            if fruitless > Self.mostFruitless { throw lie("keeps announcing a buffer and returns none") }
            return
        }
        fruitless = 0
        guard raw.index < 32, queued & 1 << raw.index != 0 else {
            throw lie("returned buffer \(raw.index), which was not queued")
        }
        queued &= ~(1 << raw.index)
        let all = unsafe pool.memory(ofBuffer: Int(raw.index), plane: 0)
        let (used, room) = (Int(element(raw.used, 0)), all.count)
        guard used <= room else {
            throw lie("reports \(used) bytes in buffer \(raw.index), which holds \(room)")
        }
        let step = sequence.advance(to: raw.sequence)
        if step.lost > 0 { drop(.sequenceGap, step.lost) }
        if raw.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0 || used > format.capacity {
            drop(.deviceError, 1)
        } else if used > 0 {
            try unsafe publish(UnsafeRawBufferPointer(rebasing: all[..<used]), raw, step, control)
        }
        // An empty one says nothing about its frame.
        try queue(Int(raw.index))
    }

    private func publish(
        _ bytes: UnsafeRawBufferPointer,
        _ raw: clinux_v4l2_buffer,
        _ step: SequenceCounter.Step,
        _ control: StreamControl
    ) throws(SystemError) {
        var flags: BufferFlags = []
        let stamp = FrameInspector.stamp(raw, &flags)
        let frame = flags.contains(.monotonic) ? try number(at: stamp, control) : nil
        guard let slot = sink.claim() else { return drop(.noSlot, 1) }
        unsafe sink.memory(ofSlot: slot).copyMemory(from: bytes)
        if lost > 0 || step.restarted { flags.insert(.discontinuity) }
        let info = BufferInfo(
            timestamp: stamp,
            deviceSequence: step.sequence,
            position: frame.map { $0 &+ 1 } ?? 0,
            bytesUsed: (bytes.count, 0, 0, 0),
            flags: flags,
            lostBefore: lost
        )
        lost = 0
        sink.publish(slot, info)
    }

    /// The number of the frame of a time; waits a moment for it.
    private func number(at time: Timestamp, _ control: StreamControl) throws(SystemError) -> UInt64? {
        for _ in 0..<Self.looks {
            switch frames.number(at: time) {
            case .number(let number): return number
            case .unknown: return nil
            case .notYet: if try !Poll.wait(control.descriptor, timeout: Self.look).isEmpty { return nil }
            }
        }
        return nil
    }

    private func drop(_ cause: DropCause, _ count: UInt32) {
        sink.count(cause, UInt64(count))
        lost &+= count
    }

    private func lie(_ what: String) -> SystemError { SystemError("its driver \(what)", errno: EPROTO) }
}
