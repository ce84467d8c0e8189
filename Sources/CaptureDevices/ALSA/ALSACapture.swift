import CALSA
import CaptureCore
import CaptureSystem
import Glibc

/// One streaming of a microphone: waits for periods, copies each from the hardware's memory into a slot, and puts
/// silence where sound was lost.
///
/// Thread-bound. In the steady state a period takes two system calls, poll and the sink's wake, and nothing allocates.
struct ALSACapture: DeviceRun {
    /// A running microphone that delivers nothing for so long, in milliseconds, counts as lost.
    static let patience: Int32 = 5000
    /// So many restarts without a single period between them count as a lost device too.
    static let mostRestarts = 50
    /// How many periods the thread sleeps over while nobody may want each at once.
    static let unawaited = 4

    private let pcm: PCM
    private let format: AudioFormat
    private let buffer: Int
    private let runsFree: Bool
    private let isMonotonic: Bool
    private let flags: BufferFlags
    private let name: String
    private var sink: any MediaSink
    private var filler: SoundFiller { SoundFiller(format: format, sink: sink) }

    private var position: UInt64 = 0
    private var sequence: UInt64 = 0
    private var skipped: UInt32 = 0
    /// When the next sample frame is due, by the driver's last stamp; `nil` before the first.
    private var expected: Timestamp?
    /// The stream was interrupted, and how long is known when it goes on.
    private var wasInterrupted = false
    /// Why they were lost.
    private var cause = DropCause.overrun
    /// Milliseconds since a period last came.
    private var quiet: Int32 = 0
    private var restarts = 0
    /// How many periods the thread sleeps over.
    private var pace = 1

    init(_ setup: PCMSetup, _ name: String, _ sink: any MediaSink) {
        pcm = setup.pcm
        format = setup.format
        buffer = setup.bufferFrames
        runsFree = !setup.usesPlug
        isMonotonic = setup.isMonotonic
        flags = setup.isMonotonic ? [.keyframe, .monotonic] : [.keyframe, .stampedOnArrival]
        self.name = name
        self.sink = sink
    }

    /// Periods until told to stop.
    ///
    /// - Throws: `.deviceLost` when the device is unplugged or dead.
    mutating func stream(_ control: StreamControl) throws(CaptureError) {
        do throws(ALSAFailure) {
            try begin()
            // Nothing is to be heard of how the hardware stops.
            defer { unsafe snd_pcm_drop(pcm.handle) }
            var wait = try PCMWait(pcm, control.descriptor)
            while true {
                let limit = min(control.wait, Self.patience - quiet)
                let outcome = try wait.next(timeout: limit)
                if outcome == .ordered {
                    if control.obey(&sink) { return }
                    continue
                }
                if try !mayGoOn(control) {
                    if try pause(control) { return }
                    continue
                }
                if outcome == .nothing {
                    quiet += limit
                    if quiet < Self.patience { continue }
                    throw ALSAFailure("nothing came for \(Self.patience / 1000) seconds, reading", -EIO)
                }
                quiet = 0
                do throws(ALSAFailure) {
                    try drain()
                    if outcome == .troubled { try checkRunning() }
                    try keepPace()
                } catch {
                    if try recover(from: error, control) { return }
                }
            }
        } catch {
            throw CaptureError(
                .deviceLost,
                error.errno == ENODEV ? "\(name) was unplugged" : "\(name) failed: \(error.text)",
                errno: error.errno
            )
        }
    }

    private func begin() throws(ALSAFailure) {
        unsafe try pcm.check("prepare") { unsafe snd_pcm_prepare($0) }
        unsafe try pcm.check("start") { unsafe snd_pcm_start($0) }
    }

    /// Sleeps over several periods, as long as no reader may want each at once and the hardware's buffer has room for
    /// many.
    private mutating func keepPace() throws(ALSAFailure) {
        let isSlow = runsFree && !sink.isAwaited && buffer / format.periodFrames >= 4 * Self.unawaited
        let wanted = isSlow ? Self.unawaited : 1
        guard wanted != pace else { return }
        try pcm.setWakeUp(snd_pcm_uframes_t(wanted * format.periodFrames))
        pace = wanted
    }

    /// Tells why a stream does not run any more: an overrun, a suspend, an unplugged device, or a driver that stopped it
    /// for a reason of its own, after which it is started anew as after an overrun.
    private func checkRunning() throws(ALSAFailure) {
        switch unsafe snd_pcm_state(pcm.handle) {
        case SND_PCM_STATE_RUNNING: return
        case SND_PCM_STATE_SUSPENDED: throw ALSAFailure("read", -ESTRPIPE)
        case SND_PCM_STATE_DISCONNECTED: throw ALSAFailure("read", -ENODEV)
        default: throw ALSAFailure("read", -EPIPE)
        }
    }

    /// Brings a stopped stream back; what it has cost is filled when the next period comes.
    ///
    /// - Returns: Whether it is time to stop.
    private mutating func recover(from failure: ALSAFailure, _ control: StreamControl) throws(ALSAFailure) -> Bool {
        restarts += 1
        if restarts > Self.mostRestarts { throw failure }
        wasInterrupted = true
        switch failure.errno {
        case EPIPE:
            try begin()
        case ESTRPIPE:
            // The driver is resuming; the kernel has no event for its end, only the question.
            while true {
                let code = unsafe snd_pcm_resume(pcm.handle)
                if code == 0 { break }
                if code != -EAGAIN {
                    try begin()
                    break
                }
                let ordered = try? Poll.wait(control.descriptor, timeout: 20)
                if ordered?.isEmpty == false, control.obey(&sink) { return true }
            }
        default:
            throw failure
        }
        return false
    }

    private func mayGoOn(_ control: StreamControl) throws(ALSAFailure) -> Bool {
        do throws(SystemError) {
            return try control.mayGoOn()
        } catch {
            throw ALSAFailure("wait", -error.errno)
        }
    }

    /// Stops the hardware until the control side proves itself again. When the next period comes, silence fills the
    /// gap.
    ///
    /// - Returns: Whether the thread must stop.
    private mutating func pause(_ control: StreamControl) throws(ALSAFailure) -> Bool {
        unsafe try pcm.check("pause") { unsafe snd_pcm_drop($0) }
        do throws(SystemError) {
            if try control.waitForProof(&sink) { return true }
        } catch {
            throw ALSAFailure("wait", -error.errno)
        }
        try begin()
        wasInterrupted = true
        cause = .paused
        quiet = 0
        return false
    }

    /// Publishes every whole period that is there.
    private mutating func drain() throws(ALSAFailure) {
        while true {
            var (available, stamp) = try look()
            if wasInterrupted, available > 0 {
                let found = SoundTiming.first(stamp: stamp, available: available, rate: format.sampleRate)
                if let expected {
                    let missing = SoundTiming.missing(expected: expected, found: found, rate: format.sampleRate)
                    fill(missing, from: expected, cause)
                }
                wasInterrupted = false
                cause = .overrun
            }
            if runsFree {
                let lost = SoundTiming.overrun(available: available, buffer: buffer, period: format.periodFrames)
                if lost > 0 {
                    let first = SoundTiming.first(stamp: stamp, available: available, rate: format.sampleRate)
                    try skip(lost)
                    fill(lost, from: first)
                    available -= Int(lost)
                }
            }
            let first = SoundTiming.first(stamp: stamp, available: available, rate: format.sampleRate)
            var taken = 0
            while available - taken >= format.periodFrames {
                let time = first.advanced(by: SoundTiming.nanoseconds(Int64(taken), format.sampleRate))
                // Behind what was torn, all has to be looked at again.
                guard try take(time) else { break }
                taken += format.periodFrames
            }
            // Where less than another period was there, the next wait asks again.
            if available - taken < format.periodFrames { return }
        }
    }

    /// What is unread, and when the driver last looked: a number and the stamp that belongs to it.
    private func look() throws(ALSAFailure) -> (available: Int, stamp: Timestamp) {
        // The hardware's own number comes with its stamp; a converter counts in frames of another rate, so there the
        // number is asked before and after, until it is the same.
        var available = runsFree && isMonotonic ? 0 : try count()
        if !isMonotonic { return (available, .now) }
        var counted: snd_pcm_uframes_t = 0
        var time = timespec()
        for _ in 0..<4 {
            unsafe try pcm.check("stamp") { unsafe snd_pcm_htimestamp($0, &counted, &time) }
            if runsFree {
                available =
                    try SoundTiming.isPossible(available: Int(clamping: counted)) ? Int(counted) : refuse(counted)
                break
            }
            let again = try count()
            if again == available { break }
            available = again
        }
        let now = Timestamp.now
        return (available, SoundTiming.stamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec, now: now) ?? now)
    }

    /// Ends the stream, because the driver reports an impossible number of unread sample frames.
    private func refuse(_ counted: some BinaryInteger) throws(ALSAFailure) -> Int {
        throw ALSAFailure("its driver reports \(counted) unread sample frames", -EPROTO)
    }

    private func count() throws(ALSAFailure) -> Int {
        let available = unsafe snd_pcm_avail_update(pcm.handle)
        if available < 0 { throw ALSAFailure("read", Int32(truncatingIfNeeded: available)) }
        return try SoundTiming.isPossible(available: available) ? available : refuse(available)
    }

    /// Copies one period out and publishes it.
    ///
    /// - Returns: Whether it was whole, so that the number of unread sample frames still holds.
    private mutating func take(_ first: Timestamp) throws(ALSAFailure) -> Bool {
        let next = first.advanced(by: SoundTiming.nanoseconds(Int64(format.periodFrames), format.sampleRate))
        guard let slot = sink.claim() else {
            try skip(Int64(format.periodFrames))
            sink.count(.noSlot, 1)
            skipped &+= UInt32(format.periodFrames)
            advance(to: next)
            return true
        }
        do throws(ALSAFailure) {
            unsafe try copy(into: sink.memory(ofSlot: slot))
        } catch {
            sink.abandon(slot)
            throw error
        }
        // Held up for a whole buffer between the look and the copy: what was copied is torn.
        let unread = unsafe runsFree ? Int(snd_pcm_avail_update(pcm.handle)) : 0
        if SoundTiming.isOverrun(available: unread, buffer: buffer, period: format.periodFrames) {
            sink.abandon(slot)
            fill(Int64(format.periodFrames), from: first)
            return false
        }
        var flags = flags
        if skipped > 0 { flags.insert(.discontinuity) }
        sink.publish(
            slot,
            BufferInfo(
                timestamp: first,
                deviceSequence: sequence,
                position: position,
                bytesUsed: (format.periodBytes, 0, 0, 0),
                flags: flags,
                lostBefore: skipped
            )
        )
        skipped = 0
        advance(to: next)
        return true
    }

    private mutating func advance(to next: Timestamp) {
        restarts = 0
        position += UInt64(format.periodFrames)
        sequence += 1
        expected = next
    }

    private mutating func fill(_ frames: Int64, from first: Timestamp, _ cause: DropCause = .overrun) {
        let start = position
        let rate = format.sampleRate
        filler.fill(
            position: &position,
            sequence: &sequence,
            frames: frames,
            cause: cause,
            skipped: &skipped
        ) { position in
            first.advanced(by: SoundTiming.nanoseconds(Int64(position - start), rate))
        }
        expected = first.advanced(by: SoundTiming.nanoseconds(frames, rate))
    }

    /// Copies a period from the hardware's memory, in two parts where it wraps.
    private func copy(into memory: UnsafeMutableRawBufferPointer) throws(ALSAFailure) {
        var done = 0
        while done < format.periodFrames {
            var areas: UnsafePointer<snd_pcm_channel_area_t>?
            var offset: snd_pcm_uframes_t = 0
            var frames = snd_pcm_uframes_t(format.periodFrames - done)
            unsafe try pcm.check("map") { unsafe snd_pcm_mmap_begin($0, &areas, &offset, &frames) }
            guard let area = unsafe areas?.pointee, let start = unsafe area.addr, frames > 0,
                frames <= format.periodFrames - done, offset <= buffer, frames <= snd_pcm_uframes_t(buffer) - offset
            else { throw ALSAFailure("read", -EPIPE) }
            let bytes = Int(frames) * format.bytesPerFrame
            let from = unsafe start + Int(area.first / 8) + Int(offset) * format.bytesPerFrame
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(done * format.bytesPerFrame)...])
                .copyMemory(from: UnsafeRawBufferPointer(start: from, count: bytes))
            let committed = unsafe snd_pcm_mmap_commit(pcm.handle, offset, frames)
            if committed < 0 { throw ALSAFailure("read", Int32(truncatingIfNeeded: committed)) }
            // Without progress, the loop would never end.
            if committed != frames { throw ALSAFailure("read", -EPIPE) }
            done += Int(committed)
        }
    }

    /// Gives up the oldest unread sample frames.
    private func skip(_ frames: Int64) throws(ALSAFailure) {
        let done = unsafe snd_pcm_forward(pcm.handle, snd_pcm_uframes_t(frames))
        if done < 0 { throw ALSAFailure("skip", Int32(truncatingIfNeeded: done)) }
        if done != frames { throw ALSAFailure("skip", -EPIPE) }
    }
}
