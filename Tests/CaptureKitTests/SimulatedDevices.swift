import CaptureCore
import CaptureRing
import Glibc
import Testing

@testable import CaptureDevices
@testable import CaptureKit

/// A lamp that flashes and a speaker that beeps at one instant, once a second.
enum FlashAndBeep {
    static let second: Int64 = 1_000_000_000
    /// The first one.
    static let origin: Int64 = 1000 * second
    static let beepLength: Int64 = 50_000_000

    /// The next flash, at a time or after it.
    static func next(from time: Int64) -> Int64 { (time + second - 1) / second * second }
}

/// Numbers that look random and are the same in each run.
struct Dice {
    var state: UInt64

    /// From 0 to below a limit.
    mutating func roll(_ limit: Int64) -> Int64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int64(state >> 33) % limit
    }
}

/// What happens to a simulated device, in the time in which it happens.
struct Disturbances {
    /// Nothing is captured.
    var stalls: [Range<Int64>] = []
    /// The thread that reads the device stands still.
    var delays: [Range<Int64>] = []

    func isStalled(_ time: Int64) -> Bool { stalls.contains { $0.contains(time) } }

    /// When something arrives that would have arrived at a time.
    func arrival(_ time: Int64) -> Int64 { delays.first { $0.contains(time) }?.upperBound ?? time }
}

/// A device on a clock of its own, which writes into a ring as captured's devices do, at simulated times.
protocol SimulatedDevice {
    var ring: RingWriter { get }
    /// When it next wakes.
    var wake: Int64 { get }
    /// Publishes what has come, and looks for what comes next.
    mutating func deliver() throws
}

/// A camera whose frames say when their exposure began, in their first bytes, and whether the flash fell into it.
struct SimulatedCamera: SimulatedDevice {
    /// The most that a stamp is off, in nanoseconds: the driver reads the clock some time after the frame.
    static let jitter: Int64 = 500_000
    let ring: RingWriter
    private let period: Double
    private let begin: Int64
    private let disturbances: Disturbances
    private var dice: Dice
    private var number = -1
    private var lost: UInt32 = 0
    private(set) var wake: Int64 = 0

    /// - Parameter partsPerMillion: By which its clock is too fast.
    init(rate: Int, partsPerMillion: Double, begin: Int64, _ disturbances: Disturbances) throws {
        let video = VideoFormat(
            pixelFormat: .grey,
            width: 16,
            height: 16,
            interval: FrameInterval(framesPerSecond: UInt32(rate)),
            planes: [PlaneLayout(offset: 0, stride: 16, size: 256)]
        )
        ring = try RingWriter(format: .video(video), slots: 16, kept: 1, name: "test")
        period = 1e9 / Double(rate) / (1 + partsPerMillion / 1e6)
        self.begin = begin
        self.disturbances = disturbances
        dice = Dice(state: UInt64(rate) &+ UInt64(begin))
        expose()
    }

    /// When the exposure of the newest frame began.
    private var time: Int64 { begin + Int64(Double(number) * period) }

    /// Looks for the next frame that is not lost. One in a hundred is; each takes up to 10 ms to be read.
    private mutating func expose() {
        lost = 0
        number += 1
        while dice.roll(100) == 0 || disturbances.isStalled(time) {
            number += 1
            lost += 1
        }
        wake = max(wake + 1000, disturbances.arrival(time + Int64(period) + dice.roll(10_000_000)))
    }

    mutating func deliver() throws {
        // After a delay, several are there.
        let now = wake + 50_000
        while wake <= now { try take() }
    }

    private mutating func take() throws {
        let slot = try #require(ring.claim())
        let isLit = FlashAndBeep.next(from: time) < time + Int64(period)
        let memory = unsafe ring.memory(ofSlot: slot)
        if let start = memory.baseAddress { unsafe memset(start, isLit ? 255 : 30, 256) }
        unsafe memory.storeBytes(of: time, as: Int64.self)
        let stamp = time + dice.roll(SimulatedCamera.jitter)
        ring.publish(
            slot,
            BufferInfo(
                // V4L2 counts microseconds.
                timestamp: Timestamp(
                    seconds: Int(stamp / 1_000_000_000),
                    microseconds: Int(stamp % 1_000_000_000 / 1000)
                ),
                deviceSequence: UInt64(number),
                bytesUsed: (256, 0, 0, 0),
                flags: [.keyframe, .monotonic, .startOfExposure],
                lostBefore: lost
            )
        )
        expose()
    }
}

/// A USB sound card: its clock counts samples, which come in packets of a millisecond. They get their times as those of
/// a card of ALSA's do: from the driver's stamp, by `SoundTiming`; what overruns is filled by `SoundFiller`.
struct SimulatedMicrophone: SimulatedDevice {
    private static let packet = 48
    private static let buffer = 24_000
    let ring: RingWriter
    let format = AudioFormat(sampleFormat: .s16, sampleRate: 48_000, channels: 1, periodFrames: 960)
    private let period: Double
    private let begin: Int64
    private let disturbances: Disturbances
    private var dice = Dice(state: 3)
    /// Samples that were read, or lost.
    private var position: UInt64 = 0
    private var sequence: UInt64 = 0
    private var skipped: UInt32 = 0
    private(set) var wake: Int64 = 0

    /// - Parameter partsPerMillion: By which its clock is too fast.
    init(partsPerMillion: Double, begin: Int64, _ disturbances: Disturbances) throws {
        ring = try RingWriter(format: .audio(format), slots: 128, kept: 1, name: "test")
        period = 1e9 / 48_000 / (1 + partsPerMillion / 1e6)
        self.begin = begin
        self.disturbances = disturbances
        sleep()
    }

    /// When the card takes a sample.
    private func time(_ sample: Int) -> Int64 { begin + Int64(Double(sample) * period) }

    /// Until another period is there, and up to 8 ms longer.
    private mutating func sleep() {
        let sample = (Int(position) + format.periodFrames + Self.packet - 1) / Self.packet * Self.packet
        wake = max(wake + 1000, disturbances.arrival(time(sample) + dice.roll(8_000_000)))
    }

    mutating func deliver() throws {
        var now = wake
        while true {
            // What `ALSACapture.drain` does each time that it looks at the card.
            var available = Int(Double(now - begin) / period) / Self.packet * Self.packet - Int(position)
            let stamp = Timestamp(nanoseconds: now)
            let lost = SoundTiming.overrun(available: available, buffer: Self.buffer, period: format.periodFrames)
            if lost > 0 {
                fill(lost, from: SoundTiming.first(stamp: stamp, available: available, rate: format.sampleRate))
                available -= Int(lost)
            }
            if available < format.periodFrames { break }
            try take(SoundTiming.first(stamp: stamp, available: available, rate: format.sampleRate))
            now += 20_000
        }
        wake = now
        sleep()
    }

    private mutating func fill(_ lost: Int64, from first: Timestamp) {
        let (start, rate) = (position, format.sampleRate)
        SoundFiller(format: format, sink: ring)
            .fill(position: &position, sequence: &sequence, frames: lost, skipped: &skipped) { position in
                first.advanced(by: SoundTiming.nanoseconds(Int64(position - start), rate))
            }
    }

    private mutating func take(_ first: Timestamp) throws {
        let slot = try #require(ring.claim())
        let memory = unsafe ring.memory(ofSlot: slot)
        unsafe memory.clear(format.periodBytes)
        let (start, end) = (time(Int(position)), time(Int(position) + format.periodFrames))
        let beep = FlashAndBeep.next(from: start - FlashAndBeep.beepLength)
        if beep < end {
            for index in 0..<format.periodFrames {
                let time = time(Int(position) + index)
                let isLoud = time >= beep && time < beep + FlashAndBeep.beepLength
                if isLoud { unsafe memory.storeBytes(of: 16_000, toByteOffset: index * 2, as: Int16.self) }
            }
        }
        ring.publish(
            slot,
            BufferInfo(
                timestamp: first,
                deviceSequence: sequence,
                position: position,
                bytesUsed: (format.periodBytes, 0, 0, 0),
                flags: skipped > 0 ? [.keyframe, .monotonic, .discontinuity] : [.keyframe, .monotonic],
                lostBefore: skipped
            )
        )
        skipped = 0
        position += UInt64(format.periodFrames)
        sequence += 1
    }
}
