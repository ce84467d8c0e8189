import CaptureCore
import Glibc
import Synchronization
import Testing

@testable import CaptureKit

/// What a synchronizer handed over in a quarter of an hour. Thread-safe.
private final class Handed: Sendable {
    /// What was there when the first camera saw a flash.
    struct Flash: Sendable {
        /// The instant of the flash and the beep.
        let instant: Int64
        /// The number of the set.
        let set: Int
        /// How far the other camera's frame is away: by the stamps, and by when their exposures began.
        var other: (stamps: Int64, exposures: Int64)?
        /// Why the other camera, and the microphone, have no part.
        let drops: (other: DropReason?, sound: DropReason?)
        /// The times between which the sound was captured.
        var sound: ClosedRange<Int64>?
        var number: Int64 { (instant - FlashAndBeep.origin) / FlashAndBeep.second }
    }

    /// When a beep began, by the times of the sound, and the number of its set.
    struct Beep: Sendable {
        let time: Int64
        let set: Int
        /// That of the nearest instant.
        var number: Int64 { (time + FlashAndBeep.second / 2 - FlashAndBeep.origin) / FlashAndBeep.second }
    }

    struct State: Sendable {
        var sets = 0
        var flashes: [Flash] = []
        var beeps: [Beep] = []
        var isLoud = false
        var nextPosition: UInt64?
        /// Where samples are missing, or come twice.
        var gaps = 0
        var late: UInt64 = 0
        var hasEnded = false
    }
    private let state = Mutex(State())

    var all: State { state.withLock { $0 } }

    func take(
        _ event: DataOutputEvent<SynchronizedData>,
        _ camera: VideoDataOutput,
        _ other: VideoDataOutput,
        _ microphone: AudioDataOutput
    ) {
        state.withLock { state in
            switch event {
            case .ended: state.hasEnded = true
            case .dropped(let count, let reason): if reason == .late { state.late += count }
            case .data(let set):
                state.sets += 1
                let sound = set.samples(of: microphone)
                for stretch in sound { listen(stretch, &state) }
                guard let frame = set.frame(of: camera), unsafe frame.planes[0].bytes[100] == 255 else { return }
                let exposure = exposure(frame)
                var flash = Flash(
                    instant: FlashAndBeep.next(from: exposure),
                    set: state.sets,
                    drops: (set.drop(of: other), set.drop(of: microphone))
                )
                if let partner = set.frame(of: other) {
                    flash.other = (abs(partner.time - frame.time), abs(self.exposure(partner) - exposure))
                }
                if let first = sound.first, let last = sound.last {
                    flash.sound = first.time.nanoseconds...last.time.advanced(by: last.duration).nanoseconds
                }
                state.flashes.append(flash)
            }
        }
    }

    private func exposure(_ frame: VideoFrame) -> Int64 {
        unsafe frame.planes[0].bytes.loadUnaligned(as: Int64.self)
    }

    private func listen(_ samples: AudioSamples, _ state: inout State) {
        if let next = state.nextPosition, samples.position != next { state.gaps += 1 }
        state.nextPosition = samples.position + UInt64(samples.frameCount)
        let values = unsafe samples.bytes.bindMemory(to: Int16.self)
        guard let first = unsafe values.first, let start = values.baseAddress else { return }
        // All alike.
        if unsafe first == 0 && memcmp(start, start + 1, samples.bytes.count - 2) == 0 { return state.isLoud = false }
        for index in values.indices {
            let isLoud = unsafe values[index] > 8000
            if isLoud, !state.isLoud {
                let time = samples.time.nanoseconds + Int64(index) * 1_000_000_000 / Int64(samples.format.sampleRate)
                state.beeps.append(Beep(time: time, set: state.sets))
            }
            state.isLoud = isLoud
        }
    }
}

/// A simulated device, and the output that reads its ring as it does in a program, on the test's thread.
private struct Feed {
    var device: any SimulatedDevice
    private let reader: FrameBufferReader
    private let handling: any BufferHandling

    init(_ device: any SimulatedDevice, _ output: DataOutput) throws {
        self.device = device
        reader = try FrameBufferReader(device.ring.file, try BufferMoves())
        handling = try #require(output.makeHandling())
    }

    /// Has the device publish what has come, and the output take it at once.
    mutating func deliver(to synchronizer: DataOutputSynchronizer) throws {
        try device.deliver()
        while case .buffer(let buffer) = try reader.next(timeout: 0) {
            _ = try handling.take(buffer, of: reader.format)
        }
        #expect(reader.missed == 0)
        // The handler has a thread of its own. No simulated time passes until it has taken what is ready.
        while !synchronizer.isIdle { sched_yield() }
    }

    func end() { handling.end(nil) }
}

/// Two cameras and a microphone. Their devices and the time are simulated; rings, outputs and synchronizer are real.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct SimulatedTimeTests {
    private static let frame: Int64 = 33_333_333
    /// Nanoseconds by which sound may be off.
    private static let near: Int64 = 10_000_000
    /// In this second so much sound is lost that the beep is.
    private static let lostBeep: Int64 = 675

    /// Some milliseconds that begin before a flash.
    private static func around(_ flash: Int64, for milliseconds: Int64) -> Range<Int64> {
        let start = FlashAndBeep.origin + flash * FlashAndBeep.second - 300_000_000
        return start..<start + milliseconds * 1_000_000
    }

    private static func run(_ devices: [any SimulatedDevice], seconds: Int64) async throws -> Handed.State {
        let (camera, other, microphone) = (VideoDataOutput(name: "1"), VideoDataOutput(name: "2"), AudioDataOutput())
        let handed = Handed()
        let outputs: [DataOutput] = [camera, other, microphone]
        let synchronizer = try DataOutputSynchronizer(dataOutputs: outputs) {
            handed.take($0, camera, other, microphone)
        }
        var feeds = try zip(devices, outputs).map { try Feed($0, $1) }
        let end = FlashAndBeep.origin + seconds * FlashAndBeep.second
        var deliveries = 0
        while true {
            let next = feeds.indices.min { feeds[$0].device.wake < feeds[$1].device.wake } ?? 0
            if feeds[next].device.wake > end { break }
            try feeds[next].deliver(to: synchronizer)
            // Other tests go on meanwhile.
            deliveries += 1
            if deliveries % 100 == 0 { await Task.yield() }
        }
        for feed in feeds { feed.end() }
        while !handed.all.hasEnded { try await Task.sleep(for: .milliseconds(1)) }
        for output in outputs { output.stop() }
        return handed.all
    }

    /// - Parameters:
    ///   - otherRate: Frames that the other camera takes in a second.
    ///   - soundDrift: By how many ppm the microphone's clock is too fast.
    ///   - most: Flashes at most that the other camera has no frame for: it lost it, or has none near enough.
    /// Clocks that are 400 ppm off come as far apart as such of 100 ppm do in an hour.
    @Test(arguments: [(30, 400.0, 25), (25, -400.0, 180)])
    func `flashes and beeps of 15 simulated minutes, clocks 400 ppm off, come within half a frame and 10 ms`(
        _ otherRate: Int,
        _ soundDrift: Double,
        _ most: Int
    ) async throws {
        let around = SimulatedTimeTests.around
        let begin = FlashAndBeep.origin - 200_000_000
        let devices: [any SimulatedDevice] = [
            try SimulatedCamera(
                rate: 30,
                partsPerMillion: 400,
                begin: begin,
                Disturbances(stalls: [around(600, 2000)], delays: [around(125, 250)])
            ),
            try SimulatedCamera(
                rate: otherRate,
                partsPerMillion: -400,
                begin: begin + 9_000_000,
                Disturbances(stalls: [around(300, 2000)], delays: [around(175, 350)])
            ),
            try SimulatedMicrophone(
                partsPerMillion: soundDrift,
                begin: begin - 300_000_000,
                // Twice too late for some frames, and then so late that the card overruns.
                Disturbances(delays: [around(450, 450), around(500, 480), around(SimulatedTimeTests.lostBeep, 1500)])
            ),
        ]
        let handed = try await SimulatedTimeTests.run(devices, seconds: 900)

        // A frame in a hundred is lost, and two seconds without any.
        #expect((880..<900).contains(handed.flashes.count), "\(handed.flashes.count) flashes")
        let lone = handed.flashes.count { $0.other == nil }
        #expect(lone <= most && handed.flashes.allSatisfy { ($0.other == nil) == ($0.drops.other != nil) }, "\(lone)")
        let beeps = Dictionary(handed.beeps.map { ($0.number, $0) }) { first, _ in first }
        for flash in handed.flashes {
            SimulatedTimeTests.checkFrames(flash)
            try SimulatedTimeTests.checkSound(flash, beeps[flash.number])
        }
        let apart = handed.flashes.compactMap { $0.other?.stamps }.max() ?? 0
        let off =
            handed.flashes.compactMap { flash in beeps[flash.number].map { abs($0.time - flash.instant) } }.max() ?? 0
        print(
            "# 30 and \(otherRate) frames a second: \(handed.flashes.count) flashes, \(lone) for one camera; frames at most "
                + "\(apart / 1000) µs apart, beeps at most \(off / 1000) µs off"
        )
        // The handler was never slow, so it got all sets, and all sound but that of the two long breaks.
        #expect(handed.late == 0 && handed.gaps <= 2, "\(handed.late) late, \(handed.gaps) gaps")
        #expect((896...900).contains(beeps.count) && handed.beeps.count == beeps.count, "\(handed.beeps.count) beeps")
    }

    /// The frames of a set are at most half a frame of the first camera apart.
    private static func checkFrames(_ flash: Handed.Flash) {
        guard let other = flash.other else { return }
        #expect(other.stamps <= frame / 2, "flash \(flash.number)")
        #expect(other.exposures <= frame / 2 + SimulatedCamera.jitter, "flash \(flash.number)")
    }

    /// The beep is in the sound that comes with the flash, or so near to it, and its time is so near to the instant.
    private static func checkSound(_ flash: Handed.Flash, _ beep: Handed.Beep?) throws {
        if flash.number == lostBeep { return #expect(flash.sound == nil && flash.drops.sound == .late) }
        let sound = try #require(flash.sound, "flash \(flash.number): \(String(describing: flash.drops.sound))")
        let beep = try #require(beep, "flash \(flash.number)")
        #expect(abs(beep.time - flash.instant) <= near, "flash \(flash.number)")
        let edge = min(abs(sound.lowerBound - flash.instant), abs(sound.upperBound - flash.instant))
        #expect(beep.set == flash.set || edge <= near, "flash \(flash.number)")
    }
}
