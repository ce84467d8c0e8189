import CaptureCore
import CaptureSystem
import Glibc
import MediaExamination
import Testing

@testable import CaptureOutputs

@Suite(.timeLimit(.minutes(10))) struct `A pre-roll` {
    /// Waits until the recorder keeps a stretch of time.
    private func kept(_ seconds: Double, _ movie: NumberedMovie) throws {
        try movie.until { $0.isWaiting && Double($0.duration) / 1e9 > seconds - 0.05 }
    }

    @Test(arguments: Material.movies, ["auto", "mjpeg"])
    func `begins the movie to the frame, with the sound of that time`(container: String, codec: String) throws {
        let movie = try NumberedMovie(
            preRoll: 1_000_000_000,
            format: container,
            videoCodec: codec,
            audioCodec: container == "mp4" ? "aac" : "pcm"
        )
        // Three seconds, of which one is kept.
        for count in 1...3 {
            try movie.publish(30, soundAhead: 2000)
            try kept(min(Double(count), 1) - 0.4, movie)
        }
        #expect(try Shell.bytes(movie.rig.path).allSatisfy { $0 == 0 })
        try movie.begin(at: 89)
        try movie.publish(30, soundAhead: 2000)
        let counters = try movie.end()
        // From the frame that was shown a second before.
        #expect(try movie.pictures([movie.rig.path]) == Array(59..<120))
        #expect(counters.frames == 61 && counters.missedFrames == 0 && !counters.isWaiting)
        #expect(abs(Double(counters.duration) / 1e9 - 61.0 / 30) < 0.1)
        #expect(try Probe.decodes(movie.rig.path))
        let starts = try Probe.values(movie.rig.path, "-show_entries stream=start_time").compactMap { Double($0) }
        #expect(starts.count == 2 && starts.allSatisfy { abs($0) < 0.03 }, "\(starts)")
        guard container != "mp4" else { return }
        let samples = try movie.samples([movie.rig.path])
        let first = 59 * NumberedMovie.step
        #expect(samples.indices.allSatisfy { abs(samples[$0] - NumberedMovie.level(first + $0)) < 10 })
    }

    @Test func `is shorter when the movie begins before it is full`() throws {
        let movie = try NumberedMovie(preRoll: 10_000_000_000)
        try movie.publish(15)
        try kept(0.4, movie)
        try movie.begin(at: 14)
        try movie.publish(15)
        #expect(try movie.end().frames == 30)
        #expect(try movie.pictures([movie.rig.path]) == Array(0..<30))
    }

    @Test func `may be begun before the first picture`() throws {
        let movie = try NumberedMovie(preRoll: 1_000_000_000)
        try movie.begin(at: 0)
        try movie.publish(30)
        #expect(try movie.end().frames == 30)
        #expect(try movie.pictures([movie.rig.path]) == Array(0..<30))
    }

    @Test(arguments: Material.movies) func `leaves nothing if the movie is not begun`(container: String) throws {
        let movie = try NumberedMovie(preRoll: 1_000_000_000, format: container, audioCodec: "aac")
        try movie.publish(60)
        try kept(1, movie)
        let counters = try movie.end()
        #expect(counters.isWaiting && counters.frames == 0 && counters.bytes == 0 && counters.duration == 0)
        #expect(try Shell.bytes(movie.rig.path).isEmpty)
    }

    @Test func `ends with the duration of the whole movie`() throws {
        let movie = try NumberedMovie(preRoll: 1_000_000_000, duration: 21_000_000_000)
        for _ in 0..<3 {
            try movie.publish(30)
            try kept(0.6, movie)
        }
        try movie.begin(at: 89)
        // No more than the ring has room for, should the recorder be late.
        for count in 1...5 {
            try movie.publish(100)
            try movie.taken(count * 100)
        }
        try movie.publish(120)
        #expect(try movie.end().frames == 630)
        #expect(try movie.pictures([movie.rig.path]) == Array(59..<689))
    }

    @Test func `is in the first of several segments`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 1_000_000_000), preRoll: 500_000_000)
        try movie.hand(2)
        try movie.publish(30)
        try kept(0.4, movie)
        try movie.begin(at: 29)
        try movie.publish(44)
        _ = try movie.end()
        #expect(movie.finished.map(\.frames) == [30, 30])
        #expect(try movie.pictures(Array(movie.paths.prefix(2))) == Array(14..<74))
    }

    @Test func `of sound alone begins with what was heard`() throws {
        let movie = try NumberedMovie(preRoll: 500_000_000, video: nil)
        try movie.sound(until: 48000)
        try movie.heard()
        try movie.begin(at: 30)
        try movie.sound(until: 96000)
        #expect(try movie.end().samples == 72000)
        let samples = try movie.samples([movie.rig.path])
        #expect(samples.indices.allSatisfy { abs(samples[$0] - NumberedMovie.level(24000 + $0)) < 2 })
    }

    @Test func `of a copied stream begins with a keyframe`() throws {
        let stream = Rig.temporaryPath("h264")
        defer { unsafe unlink(stream) }
        let units = try NumberedMovie.stream(frames: 90, keyframes: 15, stream)
        let movie = try NumberedMovie(preRoll: 700_000_000, hasSound: false, video: Material.compressed(.h264, 64, 64))
        for (index, unit) in units[..<60].enumerated() {
            try movie.rig.frame(unit, at: NumberedMovie.time(index), flags: [.monotonic])
        }
        try kept(0.7, movie)
        try movie.begin(at: 59)
        for (index, unit) in units.enumerated().dropFirst(60) {
            try movie.rig.frame(unit, at: NumberedMovie.time(index), flags: [.monotonic])
        }
        // Keyframes are every half second: the one before 38 is 30.
        #expect(try movie.end().frames == 60)
        #expect(try Probe.decodes(movie.rig.path))
        #expect(try Probe.packets(movie.rig.path, "v:0").count == 60)
    }

    @Test func `of a copied stream whose keyframes are far apart begins with the one before`() throws {
        let stream = Rig.temporaryPath("h264")
        defer { unsafe unlink(stream) }
        let units = try NumberedMovie.stream(frames: 300, keyframes: 300, stream)
        let movie = try NumberedMovie(
            preRoll: 1_000_000_000,
            hasSound: false,
            video: Material.compressed(.h264, 64, 64)
        )
        for (index, unit) in units[..<240].enumerated() {
            try movie.rig.frame(unit, at: NumberedMovie.time(index), flags: [.monotonic])
            if index % 40 == 39 { try kept(Double(index) / 30, movie) }
        }
        try movie.begin(at: 239)
        for (index, unit) in units.enumerated().dropFirst(240) {
            try movie.rig.frame(unit, at: NumberedMovie.time(index), flags: [.monotonic])
        }
        #expect(try movie.end().frames == 300)
        #expect(try Probe.decodes(movie.rig.path))
        #expect(try Probe.packets(movie.rig.path, "v:0").count == 300)
    }

    @Test func `keeps no more than it may where no keyframe comes`() throws {
        var roll = PreRoll(length: 1_000_000_000, mostBytes: 10_000)
        func add(_ index: Int, isKey: Bool) throws {
            let packet = try unsafe [UInt8](repeating: 1, count: 500).withUnsafeBytes {
                try unsafe EncodedPacket(.video, copying: $0)
            }
            packet.isKeyframe = isKey
            let time = Rig.epoch.advanced(by: NumberedMovie.time(index))
            roll.note(time)
            roll.add(packet, time)
        }
        for index in 0..<100 {
            try add(index, isKey: index == 0)
            #expect(roll.bytes <= 10_000)
        }
        #expect(roll.isFull)
        let end = Rig.epoch.advanced(by: NumberedMovie.time(99))
        // Nothing can be shown of it.
        #expect(roll.beginning(at: end, stale: .max).times.isEmpty)
        for index in 100..<110 { try add(index, isKey: index == 100) }
        let beginning = roll.beginning(at: end, stale: .max)
        #expect(beginning.packets.count == 10 && beginning.times.count == 10)
    }

    @Test func `of a camera that stalls begins with its next picture, and keeps no old sound`() throws {
        let movie = try NumberedMovie(preRoll: 1_000_000_000)
        try movie.publish(30)
        try kept(0.9, movie)
        // Twenty seconds of sound alone, more than the buffers hold.
        for second in 2...21 {
            try movie.sound(until: second * 48000)
            try movie.heard()
        }
        movie.stall(until: 630)
        try movie.begin(at: 630)
        try movie.publish(30)
        let counters = try movie.end()
        #expect(try movie.pictures([movie.rig.path]) == Array(630..<660))
        #expect(counters.frames == 30 && counters.missedSamples == 0)
        #expect(abs(Double(counters.duration) / 1e9 - 1) < 0.1)
        let samples = try movie.samples([movie.rig.path])
        #expect(
            samples.indices.allSatisfy { abs(samples[$0] - NumberedMovie.level(630 * NumberedMovie.step + $0)) < 10 }
        )
    }

    @Test func `of a segment that is not begun tells of no file`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 1_000_000_000), preRoll: 500_000_000)
        try movie.publish(30)
        try kept(0.4, movie)
        #expect(try movie.end().isWaiting)
        #expect(movie.begun == 0 && movie.finished.isEmpty)
        #expect(try Shell.bytes(movie.rig.path).isEmpty)
    }

    @Test func `is shorter where its memory is full, and says so`() throws {
        let movie = try NumberedMovie(
            preRoll: 2_000_000_000,
            preRollBytes: 20_000,
            videoCodec: "mjpeg",
            hasSound: false
        )
        try movie.publish(30)
        try movie.until { $0.preRollIsFull && $0.bytes > 10_000 }
        try movie.begin(at: 29) { !$0.isWaiting && !$0.preRollIsFull }
        let counters = try movie.end()
        #expect((3..<30).contains(Int(counters.frames)), "\(counters)")
        let shown = try movie.pictures([movie.rig.path])
        #expect(shown == Array((30 - shown.count)..<30))
    }

    @Test func `of sound alone is shorter, too`() throws {
        let movie = try NumberedMovie(preRoll: 5_000_000_000, preRollBytes: 192_000, video: nil)
        for second in 1...4 {
            try movie.sound(until: second * 48000)
            try movie.heard()
        }
        try movie.until { $0.preRollIsFull && $0.isWaiting }
        try movie.begin(at: 119)
        // A second is kept, and up to 64 periods more.
        let samples = try movie.end().samples
        #expect((40_000...80_000).contains(samples), "\(samples)")
    }

    @Test func `takes no more memory than it may`() throws {
        var roll = PreRoll(length: 1_000_000_000_000, mostBytes: 100_000)
        for index in 0..<1000 {
            let bytes = [UInt8](repeating: 1, count: 5000)
            let made = try unsafe bytes.withUnsafeBytes { try unsafe EncodedPacket(.video, copying: $0) }
            made.isKeyframe = true
            roll.note(Timestamp(nanoseconds: Int64(index)))
            roll.add(made, Timestamp(nanoseconds: Int64(index)))
            #expect(roll.bytes <= 100_000)
        }
        #expect(roll.newest == Timestamp(nanoseconds: 999))
        #expect(roll.oldest.map { $0 > Timestamp(nanoseconds: 970) } == true)
    }
}
