import CLinux
import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// How many slots a driver holds by user pointer.
struct DriverDepth {
    /// At the start: the driver's minimum, and enough until the rest is added, one slot per frame.
    let first: Int
    /// So that its queue does not run dry.
    let steady: Int
}

/// One stream from a node into a sink: buffers, and the loop that moves them.
///
/// Thread-bound: made and set up by the thread that starts the stream, from then on used by the device thread alone.
/// In the loop nothing allocates, and a frame takes four system calls: poll, DQBUF, the sink's wake and QBUF.
@safe
final class CaptureLoop: DeviceRun, @unchecked Sendable {
    let node: V4L2Node
    /// The camera's.
    private let name: String
    let format: VideoFormat
    var sink: any MediaSink
    let control: StreamControl
    let counters: StreamCounters
    private let frames: FrameNumbers

    /// The driver's buffers, or `nil` when it writes into the sink's slots.
    var pool: MappedPool?
    /// Offset and length of each plane, four and four, as C reads them.
    let layout: UnsafeMutablePointer<UInt32>
    let planeCount: Int
    /// How many slots the driver is to hold by user pointer.
    let depth: DriverDepth
    /// How many slots the driver gets now. Few before the first frame, which would otherwise wait until all are allocated.
    var share = 0
    /// Buffers in the driver's hands, a bit an index.
    var queued: UInt32 = 0
    /// Mapped buffers that the driver has not yet taken back.
    var idle: UInt32 = 0
    /// The sinks before the present one, while the driver still has buffers in their memory.
    var formers: [FormerSink] = []
    /// Slots claimed for the driver whose numbers it still has for a former sink's memory.
    var held: UInt32 = 0

    var inspector: FrameInspector
    /// Frames lost since the last one published.
    var lost: UInt32 = 0
    var isDiscontinuous = false
    /// The driver ran out of slots: what it loses next is the sink's fault.
    var isStarved = false
    /// When the last frame was taken.
    var lastStamp: Timestamp?
    /// A restart under way: frames between it and the next frame were lost because of it.
    var restart: Restart?
    /// Bytes of the first plane of the last raw frame.
    var usualBytes: UInt32 = 0
    /// How many frames until the next look at the format.
    var untilFormat: UInt32 = 0
    /// Whether the driver was given buffers and turned on.
    var isOn = false
    /// Wake-ups without a frame since the last frame.
    var fruitless = 0

    init(
        _ node: V4L2Node,
        name: String,
        format: VideoFormat,
        depth: DriverDepth,
        sink: any MediaSink,
        counters: StreamCounters,
        frames: FrameNumbers,
        control: StreamControl
    ) {
        self.node = node
        self.name = name
        self.format = format
        self.depth = depth
        self.sink = sink
        self.counters = counters
        self.frames = frames
        self.control = control
        planeCount = min(format.planes.count, 4)
        inspector = FrameInspector(format, joinsLate: node.driver == V4L2Node.loopback)
        usualBytes = UInt32(clamping: format.planes.first?.size ?? 0)
        unsafe layout = .allocate(capacity: 8)
        unsafe layout.initialize(repeating: 0, count: 8)
        for (index, plane) in format.planes.prefix(4).enumerated() {
            unsafe layout[index] = UInt32(clamping: plane.offset)
            unsafe layout[4 + index] = UInt32(clamping: plane.size)
        }
    }

    deinit {
        // Begun, and no thread could be had.
        if isOn { end() }
        unsafe layout.deallocate()
    }

    /// How long a frame is waited for until the input is looked at, in milliseconds.
    private static let longestWait: Int32 = 1000
    /// Made once: the thread allocates nothing.
    private static let framesAndEvents: Poll.Ready = [.readable, .exceptional]

    /// Runs until it is told to stop or fails, and gives everything back.
    ///
    /// - Throws: `.deviceLost`.
    func stream(_ control: StreamControl) throws(CaptureError) {
        let failure = run()
        end()
        if let failure { throw CaptureLoop.loss(failure, of: name) }
    }

    static func loss(_ error: SystemError, of name: String) -> CaptureError {
        let what =
            switch error.errno {
            case ENODEV, ENXIO: "went away while streaming"
            // The action quotes what the driver said.
            case EPROTO: "failed while streaming: \(error.action)"
            default: "failed while streaming: \(SystemError.text(of: error.errno))"
            }
        return CaptureError(.deviceLost, "the camera \(name) \(what)", errno: error.errno)
    }

    /// - Returns: The failure, `nil` after a stop.
    private func run() -> SystemError? {
        node.watchSignal()
        do throws(SystemError) {
            if try followSignal() { return nil }
        } catch {
            return error
        }
        while true {
            let device: Poll.Ready
            do throws(SystemError) {
                // With nothing in the driver's hands the device has nothing to say: wait for a slot instead.
                let ready: (Poll.Ready, Poll.Ready)
                if queued == 0 {
                    ready = ([], try Poll.wait(control.descriptor, timeout: 5))
                } else {
                    ready = try Poll.wait(
                        node.descriptor,
                        for: CaptureLoop.framesAndEvents,
                        control.descriptor,
                        timeout: min(control.wait, CaptureLoop.longestWait)
                    )
                }
                if !ready.1.isEmpty {
                    switch control.heard() {
                    case .stop: return nil
                    case .move(let next, let atOnce): try move(to: next, atOnce: atOnce)
                    case nil: break
                    }
                    // What the device had may be taken from it by now.
                    continue
                }
                if try !control.mayGoOn() {
                    if try pause() { return nil }
                    continue
                }
                device = ready.0
                // Before a frame is taken, which may be noise. A camera that is gone has an event, too. Where nothing comes, there may be no signal.
                let isEvent = device.contains(.exceptional) && device.isDisjoint(with: .failed)
                if isEvent || (device.isEmpty && queued != 0) {
                    if try followSignal(isAnnounced: isEvent) { return nil }
                    // A driver may need more slots to begin than it says.
                    if device.isEmpty, share < depth.steady {
                        share = depth.steady
                        try refill()
                    }
                    continue
                }
                if !device.isEmpty { try takeFrame(isFailed: device.contains(.failed)) }
                try refill()
            } catch {
                return error
            }
        }
    }

    /// Takes one buffer, publishes or drops it.
    private func takeFrame(isFailed: Bool) throws(SystemError) {
        var raw = clinux_v4l2_buffer()
        let memory = pool == nil ? V4L2_MEMORY_USERPTR.rawValue : V4L2_MEMORY_MMAP.rawValue
        let result = unsafe clinux_v4l2_dequeue(
            node.descriptor,
            node.bufferType,
            memory,
            UInt32(planeCount),
            &raw
        )
        if result == -1 {
            let code = errno
            // Woken for nothing; but after an error or hang-up there is nothing to wait for.
            if code == EINTR || (code == EAGAIN && !isFailed) { return try countFruitless() }
            throw SystemError("read from \(node.path)", errno: code == EAGAIN ? EIO : code)
        }
        fruitless = 0
        try check(raw)
        let index = Int(raw.index)
        queued &= ~(1 << UInt32(index))
        let isFirst = counters.dequeued.add(1, ordering: .relaxed).oldValue == 0
        // Who wants one frame alone costs no memory for more.
        if !isFirst { share = min(share + 1, depth.steady) }
        count(inspector.sequence.advance(to: raw.sequence))
        if pool == nil {
            try takeSlot(index, raw)
        } else {
            takeMapped(index, raw)
        }
    }

    private func count(_ step: SequenceCounter.Step) {
        if step.restarted { isDiscontinuous = true }
        if step.lost > 0 {
            sink.count(isStarved ? .noSlot : .sequenceGap, UInt64(step.lost))
            lost &+= step.lost
        }
        isStarved = false
        inspector.deviceSequence = step.sequence
    }

    /// The driver wrote into a slot.
    private func takeSlot(_ slot: Int, _ raw: clinux_v4l2_buffer) throws(SystemError) {
        if !formers.isEmpty, takeFormer(slot, raw) { return }
        let memory = unsafe sink.memory(ofSlot: slot)
        guard let start = memory.baseAddress else { return sink.abandon(slot) }
        for plane in 0..<planeCount where element(raw.start, plane) != 0 {
            // Rare: a header before the plane's pixels, which no reader expects.
            let offset = unsafe Int(layout[plane])
            let size = unsafe Int(layout[4 + plane])
            let header = min(Int(element(raw.start, plane)), size)
            let used = min(inspector.used(raw, plane), size - header)
            unsafe memmove(start + offset, start + offset + header, used)
            counters.copiedBytes.add(UInt64(used), ordering: .relaxed)
        }
        let first = unsafe UnsafeRawBufferPointer(start: start + Int(layout[0]), count: inspector.used(raw, 0))
        if let picture = unsafe inspector.picture(raw, first) {
            unsafe publish(slot, raw, picture)
        } else {
            drop(.deviceError)
            // Still claimed, so it goes straight back.
            if !queue(slot) { sink.abandon(slot) }
        }
    }

    /// The driver wrote into its own memory: one copy brings it into a slot.
    private func takeMapped(_ index: Int, _ raw: clinux_v4l2_buffer) {
        idle |= 1 << UInt32(index)
        guard let pool else { return }
        unsafe takeCopied(raw) { plane in unsafe pool.memory(ofBuffer: index, plane: plane) }
    }

    /// Copies a frame from elsewhere into a slot and publishes it.
    func takeCopied(_ raw: clinux_v4l2_buffer, from memory: (_ plane: Int) -> UnsafeRawBufferPointer) {
        for plane in 0..<planeCount {
            let room = unsafe memory(plane).count
            guard Int(element(raw.start, plane)) + inspector.used(raw, plane) <= room else {
                return drop(.deviceError)
            }
        }
        let source = unsafe memory(0)
        let start = Int(element(raw.start, 0))
        let first = unsafe UnsafeRawBufferPointer(rebasing: source[start..<start + inspector.used(raw, 0)])
        guard let picture = unsafe inspector.picture(raw, first) else { return drop(.deviceError) }
        guard let slot = sink.claim() else { return drop(.noSlot) }
        let room = unsafe sink.memory(ofSlot: slot)
        for plane in 0..<planeCount {
            let from = unsafe memory(plane).baseAddress
            let used = plane == 0 ? picture.count : inspector.used(raw, plane)
            guard let from = unsafe from, let to = room.baseAddress else { return sink.abandon(slot) }
            unsafe clinux_copy_frame(to + Int(layout[plane]), from + Int(element(raw.start, plane)), used)
            counters.copiedBytes.add(UInt64(used), ordering: .relaxed)
        }
        unsafe publish(slot, raw, picture)
    }

    private func drop(_ cause: DropCause) {
        sink.count(cause, 1)
        lost &+= 1
    }

    private func publish(_ slot: Int, _ raw: clinux_v4l2_buffer, _ picture: UnsafeRawBufferPointer) {
        var info = unsafe inspector.info(raw, picture)
        if let restart { count(restart, to: info.timestamp) }
        lastStamp = info.timestamp
        if lost > 0 || isDiscontinuous { info.flags.insert(.discontinuity) }
        info.lostBefore = lost
        lost = 0
        isDiscontinuous = false
        sink.publish(slot, info)
        frames.note(info.timestamp, info.deviceSequence)
        counters.published.add(1, ordering: .relaxed)
    }
}
