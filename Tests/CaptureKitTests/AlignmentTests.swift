import Testing

@testable import CaptureKit

/// A frame or a period of a simulated device, with its time on the shared clock.
private struct Simulated: AlignedData, Sendable {
    let start: Int64
    let length: Int64
    var first = 0
    var count = 0
    var rate = 0

    func part(from: Int64, to: Int64) -> Simulated? {
        let frames = SoundPart.frames(of: count, at: start, rate: rate, from: from, to: to)
        if frames.isEmpty { return nil }
        let time = start &+ Int64(frames.lowerBound) * 1_000_000_000 / Int64(rate)
        let length = Int64(frames.count) * 1_000_000_000 / Int64(rate)
        return Simulated(start: time, length: length, first: first + frames.lowerBound, count: frames.count, rate: rate)
    }
}

/// A device whose clock is off, and whose data come some time after they were captured.
private struct Device {
    let period: Double
    let latency: Int64
    let length: Int64
    let samples: Int
    var index = 0
    private let begin: Int64

    /// - Parameters:
    ///   - nominal: Nanoseconds from one to the next by the device's own clock.
    ///   - partsPerMillion: By which that clock is too fast.
    init(nominal: Double, partsPerMillion: Double, latency: Int64, begin: Int64 = 0, samples: Int = 0) {
        period = nominal / (1 + partsPerMillion / 1e6)
        length = Int64(nominal)
        self.latency = latency
        self.begin = begin
        self.samples = samples
    }

    /// Times jitter by up to a millisecond.
    var time: Int64 {
        begin + Int64(Double(index) * period) + Int64(index * 7919 % 2001 - 1000) * (samples > 0 ? 20 : 500)
    }
    var arrival: Int64 { begin + Int64(Double(index) * period) + latency }

    mutating func next() -> Simulated {
        defer { index += 1 }
        return Simulated(start: time, length: length, first: index * samples, count: samples, rate: 48000)
    }
}

@Suite struct AlignmentTests {
    private static let frame = 1e9 / 30

    /// Runs devices, the first of which is the master, in the order of arrival.
    private static func run(
        _ devices: [Device],
        seconds: Int64,
        leaving: (Int, Int64) -> Bool = { _, _ in false },
        _ take: (Alignment<Simulated>.Set) -> Void
    ) -> Int {
        var devices = devices
        var alignment = Alignment<Simulated>(isSound: devices.map { $0.samples > 0 })
        var thrown = 0
        while true {
            var next = 0
            for index in devices.indices where devices[index].arrival < devices[next].arrival { next = index }
            if devices[next].arrival > seconds * 1_000_000_000 { break }
            let data = devices[next].next()
            if leaving(next, data.start) { continue }
            thrown += alignment.put(data, next)
            while let set = alignment.next() { take(set) }
        }
        for index in devices.indices { alignment.end(index) }
        while let set = alignment.next() { take(set) }
        #expect(alignment.isOver)
        return thrown
    }

    /// Clocks that are 800 ppm apart come as far apart as such of 200 ppm do in an hour.
    @Test func `for 15 minutes, clocks 800 ppm apart stay within half a frame, and sound within 10 ms`() {
        let devices = [
            Device(nominal: AlignmentTests.frame, partsPerMillion: 400, latency: 40_000_000),
            Device(nominal: AlignmentTests.frame, partsPerMillion: -400, latency: 70_000_000, begin: 9_000_000),
            Device(nominal: 1e9 / 25, partsPerMillion: 200, latency: 20_000_000),
            Device(nominal: 4e7, partsPerMillion: -400, latency: 80_000_000, begin: -500_000_000, samples: 1920),
        ]
        var (sets, together, slower, most, mostSound) = (0, 0, 0, Int64(0), Int64(0))
        var nextSample: Int?
        var gaps = 0
        let thrown = AlignmentTests.run(devices, seconds: 900) { set in
            sets += 1
            for index in 1...2 {
                guard case .data(let frames) = set.parts[index] else { continue }
                most = max(most, abs(frames[0].start - set.time))
                if index == 1 { together += 1 } else { slower += 1 }
            }
            guard case .data(let sound) = set.parts[3] else { return }
            mostSound = max(mostSound, abs(sound[0].start - set.time))
            for part in sound {
                if let nextSample, part.first != nextSample { gaps += 1 }
                nextSample = part.first + part.count
            }
        }
        #expect(sets > 26_990 && sets < 27_020)
        // The slower camera lacks a frame each time that the faster one has gained one, and near that by jitter.
        #expect(sets - together < 250)
        #expect(slower > 22_450)
        #expect(most <= Int64(AlignmentTests.frame / 2))
        #expect(mostSound <= 10_000_000)
        #expect(gaps == 0 && thrown == 0)
    }

    @Test func `what a camera loses is missing, and its partners go on`() {
        let devices = [
            Device(nominal: AlignmentTests.frame, partsPerMillion: 0, latency: 10_000_000),
            Device(nominal: AlignmentTests.frame, partsPerMillion: 0, latency: 10_000_000, begin: 1),
        ]
        var missing: [Int64] = []
        var sets = 0
        _ = AlignmentTests.run(
            devices,
            seconds: 10,
            leaving: { $0 == 1 && (3_000_000_000..<3_100_000_000).contains($1) }
        ) {
            sets += 1
            if case .dropped(.missing) = $0.parts[1] { missing.append($0.time) }
        }
        #expect(sets >= 298 && (2...4).contains(missing.count))
        #expect(missing.allSatisfy { abs($0 - 3_050_000_000) < 70_000_000 })
    }

    @Test func `a partner that falls silent is late, and holds nobody up for longer than a quarter of a second`() {
        let devices = [
            Device(nominal: AlignmentTests.frame, partsPerMillion: 0, latency: 0),
            Device(nominal: 2e7, partsPerMillion: 0, latency: 0, samples: 960),
        ]
        var late = 0
        var waiting = 0
        var alignment = Alignment<Simulated>(isSound: [false, true])
        var camera = devices[0]
        var microphone = devices[1]
        for _ in 0..<50 { _ = alignment.put(microphone.next(), 1) }
        for _ in 0..<300 {
            _ = alignment.put(camera.next(), 0)
            waiting += 1
            while let set = alignment.next() {
                waiting -= 1
                if case .dropped(.late) = set.parts[1] { late += 1 }
            }
            #expect(waiting <= AlignmentLimits.waiting(Int64(AlignmentTests.frame)))
        }
        #expect(late > 250)
    }

    @Test func `a partner without a master is kept in bounded memory`() {
        var alignment = Alignment<Simulated>(isSound: [false, false, true])
        var camera = Device(nominal: AlignmentTests.frame, partsPerMillion: 0, latency: 0)
        var microphone = Device(nominal: 1e7, partsPerMillion: 0, latency: 0, samples: 480)
        let most = AlignmentLimits.sound(AlignmentLimits.usualFrame) / 10_000_000
        for index in 0..<3000 {
            // What no frame of the master waits for is no loss.
            #expect(alignment.put(microphone.next(), 2) == 0)
            if index % 3 == 0 { #expect(alignment.put(camera.next(), 1) == 0) }
            #expect(alignment.waiting(1) <= AlignmentLimits.frames(Int64(AlignmentTests.frame)))
            #expect(alignment.waiting(2) <= Int(most) + 2)
            if index == 1000 {
                _ = alignment.put(Simulated(start: 10_000_000_000, length: 33_333_333), 0)
                alignment.end(0)
                #expect(alignment.next() != nil)
            }
            #expect(alignment.next() == nil)
        }
    }

    @Test func `a slow master gets all sound, and a fast one waits a quarter of a second for it`() {
        for (rate, latency, least) in [(0.5, Int64(50_000_000), 14), (60, 200_000_000, 1780)] {
            let devices = [
                Device(nominal: 1e9 / rate, partsPerMillion: 0, latency: 0),
                Device(nominal: 1e7, partsPerMillion: 0, latency: latency, samples: 480),
            ]
            var nextSample: Int?
            var (sets, gaps) = (0, 0)
            let thrown = AlignmentTests.run(devices, seconds: 30) { set in
                guard case .data(let sound) = set.parts[1] else { return }
                sets += 1
                for part in sound {
                    if let nextSample, part.first != nextSample { gaps += 1 }
                    nextSample = part.first + part.count
                }
            }
            #expect(sets >= least && gaps == 0 && thrown == 0, "\(rate) a second: \(sets) sets, \(gaps) gaps")
        }
    }

    @Test func `a master of unknown rate that slows down is measured again`() {
        for isEnded in [false, true] {
            var alignment = Alignment<Simulated>(isSound: [false, false])
            var time = Int64(0)
            var found: [Bool] = []
            func put(_ gap: Int64, _ offset: Int64) {
                time += gap
                _ = alignment.put(Simulated(start: time, length: 0), 0)
                _ = alignment.put(Simulated(start: time + offset, length: 0), 1)
                while let set = alignment.next() {
                    if case .data = set.parts[1] { found.append(true) } else { found.append(false) }
                }
            }
            for _ in 0..<60 { put(16_666_667, 0) }
            if isEnded {
                alignment.end(0)
                while alignment.next() != nil {}
            }
            // The gap before the first frame is none between frames of a new start.
            for _ in 0..<30 { put(66_666_667, 25_000_000) }
            #expect(found.suffix(isEnded ? 28 : 20).allSatisfy { $0 }, "\(found)")
        }
    }

    @Test func `a frame that its camera lost has the reason`() {
        var alignment = Alignment<Simulated>(isSound: [false, false])
        var reasons: [DropReason?] = []
        for index in 0..<9 {
            let frame = Simulated(start: Int64(index) * 33_333_333, length: 33_333_333)
            _ = alignment.put(frame, 0)
            // The fourth and fifth frames are lost, and told of before the sixth.
            if index == 5 { alignment.lose(.device, 1) }
            if ![3, 4].contains(index) { _ = alignment.put(frame, 1) }
            while let set = alignment.next() {
                if case .dropped(let reason) = set.parts[1] { reasons.append(reason) } else { reasons.append(nil) }
            }
        }
        #expect(reasons == [nil, nil, nil, .device, .device, nil, nil, nil, nil])
    }

    @Test func `sound whose stamps overlap at a frame's end stays in its order`() {
        var alignment = Alignment<Simulated>(isSound: [false, true])
        var samples: [Int] = []
        func put(_ data: Simulated, _ index: Int) {
            _ = alignment.put(data, index)
            while let set = alignment.next() {
                guard case .data(let sound) = set.parts[1] else { continue }
                samples += sound.flatMap { Array($0.first..<$0.first + $0.count) }
            }
        }
        // The fifth period is stamped a millisecond before the end of the fourth, and the frame's end lies between.
        for (index, start) in [-6, 4, 14, 24, 33, 44, 54, 64, 74].enumerated() {
            let start = Int64(start) * 1_000_000
            put(Simulated(start: start, length: 10_000_000, first: index * 480, count: 480, rate: 48000), 1)
        }
        for start in [0, 33_333_333] { put(Simulated(start: Int64(start), length: 33_333_333), 0) }
        // From the first frame on.
        #expect(samples.count > 3000 && samples == Array(288..<288 + samples.count))
    }

    @Test func `any times at all are put together`() {
        let times = [Int64.min, .min + 1, -1, 0, 33_333_333, .max - 1, .max]
        for isSound in [false, true] {
            for (first, second) in times.flatMap({ first in times.map { (first, $0) } }) {
                var alignment = Alignment<Simulated>(isSound: [false, isSound])
                var sets = 0
                for (index, time) in [first, second, 0, second, first].enumerated() {
                    _ = alignment.put(Simulated(start: time, length: 0), 0)
                    let partner = [first, second][index % 2]
                    _ = alignment.put(Simulated(start: partner, length: 10_000_000, count: 480, rate: 48000), 1)
                    while alignment.next() != nil { sets += 1 }
                }
                alignment.end(0)
                while alignment.next() != nil { sets += 1 }
                #expect(sets == 5)
            }
        }
    }

    @Test func `a master that is slower than it says is measured`() {
        var alignment = Alignment<Simulated>(isSound: [false, false])
        var found: [Bool] = []
        for index in 0..<40 {
            let time = Int64(index) * 66_666_667
            _ = alignment.put(Simulated(start: time, length: 33_333_333), 0)
            _ = alignment.put(Simulated(start: time + 25_000_000, length: 33_333_333), 1)
            while let set = alignment.next() {
                if case .data = set.parts[1] { found.append(true) } else { found.append(false) }
            }
        }
        #expect(found.suffix(25).allSatisfy { $0 }, "\(found)")
    }

    @Test func `a set of a slow master waits by the time of any stream`() throws {
        var alignment = Alignment<Simulated>(isSound: [false, false, true])
        _ = alignment.put(Simulated(start: 0, length: 2_000_000_000), 0)
        var time = Int64(0)
        var set: Alignment<Simulated>.Set?
        while set == nil, time < 4_000_000_000 {
            time += 33_333_333
            _ = alignment.put(Simulated(start: time, length: 33_333_333), 1)
            set = alignment.next()
        }
        #expect((2_250_000_000..<2_300_000_000).contains(time))
        guard case .dropped(.late) = try #require(set).parts[2] else {
            Issue.record("the third stream has a part")
            return
        }
    }

    @Test func `a start has nothing of the one before`() throws {
        var alignment = Alignment<Simulated>(isSound: [false, false, true])
        func sound(_ start: Int64) -> Simulated {
            Simulated(start: start, length: 100_000_000, count: 4800, rate: 48000)
        }
        _ = alignment.put(Simulated(start: 0, length: 33_333_333), 0)
        _ = alignment.put(Simulated(start: 0, length: 33_333_333), 1)
        _ = alignment.put(sound(0), 2)
        #expect(alignment.next() != nil)
        _ = alignment.put(Simulated(start: 33_333_333, length: 33_333_333), 1)
        alignment.lose(.device, 1)
        for index in [1, 2, 0] { alignment.end(index) }
        #expect(alignment.waiting(1) == 0 && alignment.waiting(2) == 0)

        // The partners come a little later than the master, and have no loss from before.
        _ = alignment.put(Simulated(start: 200_000_000, length: 33_333_333), 0)
        #expect(alignment.next() == nil)
        _ = alignment.put(Simulated(start: 240_000_000, length: 33_333_333), 1)
        _ = alignment.put(sound(150_000_000), 2)
        let next = alignment.next()
        let set = try #require(next)
        guard case .dropped(.missing) = set.parts[1], case .data(let part) = set.parts[2] else {
            Issue.record("\(set)")
            return
        }
        #expect(part.map(\.start) == [200_000_000])
    }
}
