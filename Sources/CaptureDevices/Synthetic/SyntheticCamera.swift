import CaptureCore
import CaptureSystem

/// A camera that draws SMPTE bars with a burned-in frame number and clock, and flashes white at every whole second of
/// its clock: the one frame whose timestamp is that second.
///
/// Frames lie on a grid of the clock, so that wherever a stream starts a frame falls on every whole second. The frame
/// is drawn straight into the sink's slot. Thread-bound; allocates nothing while it runs, except for a new crop.
struct SyntheticCamera: DeviceRun {
    /// How late a frame may be, in nanoseconds of CLOCK_MONOTONIC, before those behind it are lost instead of made up
    /// for: about what a real camera's queue of buffers holds.
    static let patience: Int64 = 250_000_000

    /// Made once: the literal of a set allocates where it is not optimized away.
    private static let flags: BufferFlags = [.keyframe, .monotonic, .startOfExposure]

    private let format: VideoFormat
    private let frameSize: Int
    private var picture: TestPicture
    private let clock: SyntheticClock
    private let controls: SyntheticControls
    private let frames: FrameNumbers
    private var sink: any MediaSink
    private var lost: UInt32 = 0

    init(
        _ format: VideoFormat,
        _ picture: TestPicture,
        _ clock: SyntheticClock,
        _ controls: SyntheticControls,
        _ sink: any MediaSink,
        frames: FrameNumbers = FrameNumbers()
    ) {
        self.format = format
        frameSize = format.frameSize
        self.picture = picture
        self.clock = clock
        self.controls = controls
        self.frames = frames
        self.sink = sink
    }

    /// Frames until told to stop.
    ///
    /// - Throws: `.deviceLost` when the cable is pulled.
    mutating func stream(_ control: StreamControl) throws(CaptureError) {
        do {
            let pace = try SyntheticPace(orders: control.descriptor)
            // A cable pulled while nothing streamed is back in by now.
            _ = controls.disconnect.take()
            let first = index(at: clock.now) + 1
            var next = first
            var earliest = Timestamp(nanoseconds: 0)
            while true {
                let due = clock.moment(of: time(of: next))
                while try pace.wait(until: max(due, earliest)) == .ordered {
                    if control.obey(&sink) { return }
                }
                if try !control.mayGoOn() {
                    if try control.waitForProof(&sink) { return }
                    let newest = max(index(at: clock.now), next)
                    lose(newest - next, .paused)
                    next = newest
                    continue
                }
                if controls.disconnect.take() != 0 {
                    throw CaptureError(.deviceLost, "the synthetic camera was disconnected")
                }
                let now = Timestamp.now
                // Made up for at twice the pace, so that readers are not overrun by a burst.
                earliest = now.advanced(by: format.interval.nanoseconds / clock.speed / 2)
                if now - due > Self.patience {
                    let newest = index(at: clock.streamTime(at: now))
                    lose(newest - next, .sequenceGap)
                    next = newest
                }
                deliver(next, number: UInt64(next - first))
                next += 1
            }
        } catch {
            throw SyntheticPace.fault(error)
        }
    }

    private mutating func deliver(_ frame: Int64, number: UInt64) {
        if isStruck(number, controls.dropEvery.now) { return lose(1, .sequenceGap) }
        if isStruck(number, controls.errorEvery.now) { return lose(1, .deviceError) }
        guard let slot = sink.claim() else { return lose(1, .noSlot) }
        let crop = controls.optics.crop
        if crop != picture.crop { picture = TestPicture(format, crop: crop) }
        let stamp = time(of: frame)
        unsafe picture.draw(
            into: sink.memory(ofSlot: slot),
            number: number,
            time: stamp.nanoseconds,
            isFlash: stamp.nanoseconds % 1_000_000_000 == 0
        )
        let brightness = controls.optics.brightness
        if brightness != 256 { unsafe picture.expose(sink.memory(ofSlot: slot), to: brightness) }
        var flags = Self.flags
        if lost > 0 { flags.insert(.discontinuity) }
        sink.publish(
            slot,
            BufferInfo(
                timestamp: stamp,
                deviceSequence: number,
                bytesUsed: (frameSize, 0, 0, 0),
                flags: flags,
                lostBefore: lost
            )
        )
        frames.note(stamp, number)
        lost = 0
    }

    private mutating func lose(_ frames: Int64, _ cause: DropCause) {
        guard frames > 0 else { return }
        sink.count(cause, UInt64(frames))
        lost &+= UInt32(clamping: frames)
    }

    private func isStruck(_ number: UInt64, _ every: Int64) -> Bool {
        every > 0 && (number + 1) % UInt64(every) == 0
    }

    /// The stream time of a frame of the grid; the grid's frame 0 is at stream time 0.
    private func time(of frame: Int64) -> Timestamp {
        let (rate, period) = (Int64(format.interval.denominator), Int64(format.interval.numerator))
        // Whole seconds first, so that the product stays small.
        let rest = frame % rate
        return Timestamp(nanoseconds: (frame / rate * period) * 1_000_000_000 + rest * period * 1_000_000_000 / rate)
    }

    /// The newest frame of the grid at a stream time.
    private func index(at time: Timestamp) -> Int64 {
        let (rate, period) = (Int64(format.interval.denominator), Int64(format.interval.numerator))
        let seconds = time.nanoseconds / 1_000_000_000
        let rest = time.nanoseconds % 1_000_000_000
        return (seconds * rate + rest * rate / 1_000_000_000) / period
    }
}
