import CaptureCore
import CaptureSystem

/// A microphone that hears a beep of 1 kHz and 50 ms at every whole second of its clock, and silence between. While it
/// is muted, it delivers only silence.
///
/// The beep's first sample is the first at or after the second, so it falls on the synthetic camera's flash to the
/// sample, whichever of the two started first. Thread-bound; allocates nothing while it runs.
struct SyntheticMicrophone: DeviceRun {
    /// How late a period may be, in nanoseconds of CLOCK_MONOTONIC, before the sound overruns: what a sound card's
    /// buffer holds.
    static let patience: Int64 = 500_000_000

    /// Made once: the literal of a set allocates where it is not optimized away.
    private static let flags: BufferFlags = [.keyframe, .monotonic]

    private let format: AudioFormat
    private let tone: BeepTone
    private let clock: SyntheticClock
    private let controls: SyntheticControls
    private var sink: any MediaSink
    private var filler: SoundFiller { SoundFiller(format: format, sink: sink) }

    private var position: UInt64 = 0
    private var sequence: UInt64 = 0
    private var skipped: UInt32 = 0

    init(
        _ format: AudioFormat,
        _ tone: BeepTone,
        _ clock: SyntheticClock,
        _ controls: SyntheticControls,
        _ sink: any MediaSink
    ) {
        self.format = format
        self.tone = tone
        self.clock = clock
        self.controls = controls
        self.sink = sink
    }

    /// Periods until told to stop.
    ///
    /// - Throws: `.deviceLost` when the cable is pulled.
    mutating func stream(_ control: StreamControl) throws(CaptureError) {
        do {
            let pace = try SyntheticPace(orders: control.descriptor)
            // A cable pulled while nothing streamed is back in by now.
            _ = controls.disconnect.take()
            // On a grid of 10 ms of the clock, so that without drift every whole second begins a period.
            let start = Timestamp(nanoseconds: (clock.now.nanoseconds / 10_000_000 + 1) * 10_000_000)
            var samples = SampleClock(rate: format.sampleRate, start: start, drift: controls.clockDrift.now)
            let period = Int64(format.periodFrames)
            let periodNanoseconds = period * 1_000_000_000 / Int64(format.sampleRate)
            var earliest = Timestamp(nanoseconds: 0)
            while true {
                let drift = controls.clockDrift.now
                if drift != samples.drift { samples.setDrift(drift, from: Int64(position)) }

                var lost: Int64 = 0
                if controls.forceXrun.take() != 0 {
                    lost = controls.xrunMilliseconds.now * Int64(format.sampleRate) / 1000
                }
                let end = Int64(position) + max(lost, period)
                let due = clock.moment(of: samples.time(of: end))
                while try pace.wait(until: max(due, earliest)) == .ordered {
                    if control.obey(&sink) { return }
                }
                if try !control.mayGoOn() {
                    if try control.waitForProof(&sink) { return }
                    filler.fill(
                        position: &position,
                        sequence: &sequence,
                        frames: samples.position(at: clock.now) - Int64(position),
                        cause: .paused,
                        skipped: &skipped,
                        time: { samples.time(of: Int64($0)) }
                    )
                    continue
                }
                if controls.disconnect.take() != 0 {
                    throw CaptureError(.deviceLost, "the synthetic microphone was disconnected")
                }
                let now = Timestamp.now
                // Made up for at twice the pace, so that readers are not overrun by a burst.
                earliest = now.advanced(by: periodNanoseconds / clock.speed / 2)
                if now - due > Self.patience {
                    lost = samples.position(at: clock.streamTime(at: now)) - Int64(position)
                }
                if lost > 0 {
                    filler.fill(
                        position: &position,
                        sequence: &sequence,
                        frames: lost,
                        skipped: &skipped,
                        time: { samples.time(of: Int64($0)) }
                    )
                } else {
                    deliver(samples)
                }
            }
        } catch {
            throw SyntheticPace.fault(error)
        }
    }

    private mutating func deliver(_ samples: SampleClock) {
        defer {
            position += UInt64(format.periodFrames)
            sequence += 1
        }
        guard let slot = sink.claim() else {
            sink.count(.noSlot, 1)
            skipped &+= UInt32(format.periodFrames)
            return
        }
        let memory = unsafe sink.memory(ofSlot: slot)
        if controls.mute.now != 0 {
            unsafe memory.clear(format.periodBytes)
        } else {
            unsafe tone.fill(memory, from: Int64(position), count: format.periodFrames, samples)
        }
        var flags = Self.flags
        if skipped > 0 { flags.insert(.discontinuity) }
        sink.publish(
            slot,
            BufferInfo(
                timestamp: samples.time(of: Int64(position)),
                deviceSequence: sequence,
                position: position,
                bytesUsed: (format.periodBytes, 0, 0, 0),
                flags: flags,
                lostBefore: skipped
            )
        )
        skipped = 0
    }
}
