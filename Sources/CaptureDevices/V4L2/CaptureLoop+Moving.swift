import CLinux
import CaptureCore
import CaptureSystem
import Glibc

/// A sink that the stream has left, with the driver's buffers that are still in its memory, a bit an index.
struct FormerSink {
    let sink: any MediaSink
    var buffers: UInt32
}

/// A restart of the stream, which ends with the next frame.
struct Restart {
    /// When the last frame before the restart was taken.
    let last: Timestamp
    /// Why the frames in between are lost.
    let cause: DropCause

    init(after last: Timestamp, cause: DropCause) {
        self.last = last
        self.cause = cause
    }
}

/// How a stream goes on into another sink.
extension CaptureLoop {
    /// Goes on into another sink; readers of the one before are told.
    ///
    /// Where the driver writes into the sinks' own slots, it has some of those before. At once means that they are taken
    /// from it, which takes a restart of the stream; else it fills them, and what it brings is copied over.
    ///
    /// - Throws: When the stream cannot be started anew; the sink before is written no more then either. When it cannot be
    ///   turned off, which ends it; then it may be written until the device is closed.
    func move(to next: any MediaSink, atOnce: Bool) throws(SystemError) {
        let former = sink
        let restarts = atOnce && pool == nil
        if restarts {
            guard end() else { throw SystemError("turn off \(node.path)", errno: EIO) }
        } else if pool == nil {
            let buffers = formers.reduce(queued) { $0 & ~$1.buffers }
            if buffers != 0 { formers.append(FormerSink(sink: former, buffers: buffers)) }
            // Claimed for the driver and never handed to it.
            held = 0
        }
        sink = next
        control.writes(next)
        former.finish(.moved)
        control.moved()
        guard restarts else { return }
        inspector.sequence.restart()
        restart = restart ?? lastStamp.map { Restart(after: $0, cause: .revocation) }
        try begin()
    }

    /// Takes a frame that the driver wrote into a former sink's memory.
    ///
    /// - Returns: Whether it is such a one.
    func takeFormer(_ index: Int, _ raw: clinux_v4l2_buffer) -> Bool {
        let bit: UInt32 = 1 << UInt32(index)
        guard let place = formers.firstIndex(where: { $0.buffers & bit != 0 }) else { return false }
        let former = formers[place].sink
        let memory = unsafe UnsafeRawBufferPointer(former.memory(ofSlot: index))
        unsafe takeCopied(raw) { plane in
            let start = unsafe Int(layout[plane])
            return unsafe UnsafeRawBufferPointer(rebasing: memory[start..<start + Int(layout[4 + plane])])
        }
        formers[place].buffers &= ~bit
        if formers[place].buffers == 0 { formers.remove(at: place) }
        // Its number is free for the slot of this sink that waits for it.
        if held & bit != 0 {
            held &= ~bit
            if !queue(index) { sink.abandon(index) }
        }
        return true
    }

    /// Counts what a restart has cost, by the time that it took; what was lost in that time before it is counted already.
    func count(_ ended: Restart, to first: Timestamp) {
        restart = nil
        let all = CaptureLoop.frames(between: ended.last, and: first, every: format.interval.nanoseconds)
        let frames = max(all - Int64(lost), 0)
        sink.count(ended.cause, UInt64(frames))
        lost &+= UInt32(clamping: frames)
        isDiscontinuous = true
    }

    /// How many frames there would have been between two, to the nearest; 0 where the camera has no fixed interval.
    ///
    /// - Parameter interval: Nanoseconds.
    static func frames(between last: Timestamp, and first: Timestamp, every interval: Int64) -> Int64 {
        guard interval > 0, first > last else { return 0 }
        return max((first - last + interval / 2) / interval - 1, 0)
    }
}
