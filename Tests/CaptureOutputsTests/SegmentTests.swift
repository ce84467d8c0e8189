import CaptureCore
import CaptureOutputs
import CaptureSystem
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A movie in segments` {
    @Test func `of a thousand cuts has each picture and each sample once`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 100_000_000))
        let (files, each) = (1001, 3)
        try movie.hand(8)
        for number in 1...files {
            // A movie with many files that are not complete yet goes on in its file, and would wait for one more picture.
            try movie.completed(number - 4)
            try movie.publish(each)
            // A cut is made at the first picture that belongs behind it.
            try movie.began(number)
            if number > 1, number + 7 < files { try movie.hand() }
        }
        let counters = try movie.end()
        #expect(movie.finished.count == files)
        #expect(movie.finished.allSatisfy { $0.frames == UInt64(each) && $0.bytes > 0 })
        #expect(counters.frames == UInt64(files * each))
        #expect(counters.missedFrames == 0)
        let used = Array(movie.paths.prefix(files))
        #expect(try movie.pictures(used) == Array(0..<files * each))
        let samples = try movie.samples(used)
        #expect(samples.count >= (files * each - 1) * NumberedMovie.step)
        // One that is missing or doubled would change the level by up to 227.
        #expect(samples.indices.allSatisfy { abs(samples[$0] - NumberedMovie.level($0)) < 10 })
    }

    @Test(arguments: Material.movies) func `can be played file by file`(container: String) throws {
        let movie = try NumberedMovie(
            SegmentRule(duration: 1_000_000_000),
            format: container,
            audioCodec: "aac"
        )
        try movie.hand(3)
        // Sound is ahead of the pictures, as with most cameras.
        for number in 1...3 {
            try movie.publish(30, soundAhead: 3000)
            try movie.began(number)
        }
        let counters = try movie.end()
        #expect(counters.frames == 90)
        for (index, path) in movie.paths.prefix(3).enumerated() {
            #expect(try Probe.decodes(path))
            #expect(try movie.pictures([path]) == Array(index * 30..<index * 30 + 30))
            let starts = try Probe.values(path, "-show_entries stream=start_time")
            #expect(starts.compactMap { Double($0) }.allSatisfy { abs($0) < 0.03 }, "\(starts)")
            let length = try Probe.values(path, "-show_entries format=duration").compactMap { Double($0) }.first
            #expect(length.map { abs($0 - 1) < 0.06 } == true, "\(String(describing: length))")
        }
        #expect(movie.finished.map(\.number) == [1, 2, 3])
        // The next begins where the one before ends, by the clock on the wall.
        for (first, second) in zip(movie.finished, movie.finished.dropFirst()) {
            #expect(abs(second.time - first.time - first.duration) < 20_000_000)
        }
        // The fourth was never begun, and is as it was handed over.
        #expect(try Shell.bytes(movie.paths[3]).isEmpty || Shell.bytes(movie.paths[3]).allSatisfy { $0 == 0 })
    }

    @Test func `goes on in its file until the next one is there`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 100_000_000))
        try movie.publish(30)
        try movie.taken(30)
        try movie.hand()
        try movie.heard()
        try movie.publish(3)
        try movie.began(2)
        #expect(try movie.end().frames == 33)
        #expect(movie.finished.map(\.frames) == [30, 3])
        #expect(try movie.pictures(movie.paths) == Array(0..<33))
    }

    @Test func `is cut where a program says, in the middle of nothing else`() throws {
        let movie = try NumberedMovie(SegmentRule())
        try movie.hand(2)
        try movie.cut(before: 10)
        try movie.heard()
        try movie.publish(20)
        try movie.began(2)
        try movie.publish(100)
        #expect(try movie.end().frames == 120)
        #expect(movie.finished.map(\.frames) == [10, 110])
        #expect(try movie.pictures(Array(movie.paths.prefix(2))) == Array(0..<120))
    }

    @Test(arguments: ["mkv", "mp4"]) func `keeps to a size`(container: String) throws {
        let size: Int64 = 100_000
        let movie = try NumberedMovie(
            SegmentRule(fileSize: size),
            format: container,
            videoCodec: "mjpeg",
            audioCodec: "aac"
        )
        try movie.hand(8)
        try movie.heard()
        // The size counts sound that has not come yet at its largest. After many pictures at once that is too much.
        for count in 1...50 {
            try movie.publish(6)
            try movie.taken(count * 6)
        }
        let counters = try movie.end()
        #expect(counters.frames == 300)
        let used = movie.finished.count
        #expect(used >= 4 && used < 9)
        for (segment, path) in zip(movie.finished, movie.paths) {
            #expect(segment.bytes <= UInt64(size))
            #expect(try Shell.bytes(path).count == Int(segment.bytes))
        }
        // Not far below either, but for the last.
        #expect(movie.finished.dropLast().allSatisfy { $0.bytes > UInt64(size) / 2 })
        #expect(try movie.pictures(Array(movie.paths.prefix(used))) == Array(0..<300))
    }

    @Test func `ends with the whole movie's duration`() throws {
        // It ends by the clock, too: a busy machine has that long for the frames.
        let movie = try NumberedMovie(SegmentRule(duration: 10_000_000_000), duration: 25_000_000_000)
        try movie.hand(4)
        try movie.heard()
        for count in 1...7 {
            try movie.publish(100)
            try movie.taken(count * 100)
        }
        try movie.publish(80)
        let counters = try movie.end()
        #expect(counters.frames == 750)
        #expect(counters.reachedLimit == .duration)
        #expect(movie.finished.map(\.frames) == [300, 300, 150])
    }

    @Test func `has markers in the file that they belong to`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 1_000_000_000), hasSound: false)
        try movie.hand(1)
        for (title, frame) in [("one", 15), ("two", 45)] {
            let time = Rig.epoch.advanced(by: NumberedMovie.time(frame))
            try movie.rig.socket.send(RecorderCommand.mark(try RecordingMarker(title), at: time).text)
        }
        try movie.heard()
        try movie.publish(60)
        _ = try movie.end()
        for (path, title) in zip(movie.paths, ["one", "two"]) {
            let found = try Probe.run("ffprobe -v error -show_chapters -of csv=p=0 \(path)")
            #expect(found.split(separator: "\n").count == 1)
            #expect(found.contains("0.500000") && found.contains(title), "\(found)")
        }
    }

    @Test func `of sound alone is cut between two buffers`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 1_000_000_000), video: nil)
        try movie.hand(2)
        try movie.heard()
        try movie.sound(until: 3 * 48000)
        let counters = try movie.end()
        #expect(counters.samples == 3 * 48000)
        #expect(movie.finished.count == 3)
        let samples = try movie.samples(movie.paths)
        #expect(samples.count == 3 * 48000)
        #expect(samples.indices.allSatisfy { abs(samples[$0] - NumberedMovie.level($0)) < 2 })
    }

    @Test(arguments: [9_990_000, 10_010_000] as [Int64])
    func `of sound alone has each sample once, whatever its clock`(pace: Int64) throws {
        let movie = try NumberedMovie(SegmentRule(duration: 1_000_000_000), video: nil)
        movie.pace = pace
        try movie.hand(3)
        try movie.heard()
        try movie.sound(until: 3 * 48000)
        #expect(try movie.end().samples == 3 * 48000)
        let samples = try movie.samples(movie.paths.filter { try !Shell.bytes($0).isEmpty })
        #expect(samples.count == 3 * 48000)
        #expect(samples.indices.allSatisfy { abs(samples[$0] - NumberedMovie.level($0)) < 2 })
    }

    @Test func `is not cut behind its last frame, and ends with that`() throws {
        let movie = try NumberedMovie(SegmentRule(), frameCount: 10)
        try movie.hand(1)
        try movie.publish(10)
        try movie.heard()
        try movie.rig.socket.send(RecorderCommand.cut(at: Rig.epoch.advanced(by: 332_000_000)).text)
        // A little early.
        let picture = [UInt8](repeating: 128, count: 64 * 64 * 2)
        try movie.rig.frame(picture, at: 333_000_000)
        movie.stall(until: 11)
        try movie.publish(30)
        let counters = try movie.rig.finished(try movie.rig.outcome())
        #expect(counters.frames == 10)
    }

    @Test func `of a copied stream is cut before a keyframe`() throws {
        let format = Material.compressed(.h264, 64, 64)
        let stream = Rig.temporaryPath("h264")
        defer { unsafe unlink(stream) }
        let units = try NumberedMovie.stream(frames: 90, keyframes: 15, stream)
        #expect(units.count == 90)
        let movie = try NumberedMovie(SegmentRule(duration: 600_000_000), hasSound: false, video: format)
        try movie.hand(6)
        try movie.heard()
        for (index, unit) in units.enumerated() {
            try movie.rig.frame(unit, at: NumberedMovie.time(index), flags: [.monotonic])
        }
        let counters = try movie.end()
        #expect(counters.frames == 90)
        // Keyframes come twice a second.
        #expect(movie.finished.map(\.frames) == [30, 15, 15, 15, 15] || movie.finished.map(\.frames) == [30, 30, 30])
        for (segment, path) in zip(movie.finished, movie.paths) {
            #expect(try Probe.packets(path, "v:0").count == Int(segment.frames))
            #expect(try Probe.decodes(path))
        }
    }

    @Test func `refuses a pipe, with what would be right`() throws {
        let pipe = try Descriptor.pipe()
        let output = OutputDescription(
            name: "m",
            kind: .movie,
            format: "mkv",
            segments: SegmentRule(duration: 1_000_000_000)
        )
        let rig = try Rig(output, video: NumberedMovie.format, file: pipe.writing)
        let error = try rig.fault(try rig.outcome())
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("give a file"))
    }

    @Test func `goes on without a next file that cannot be written`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 1_000_000_000))
        let pipe = try Descriptor.pipe()
        try movie.publish(15)
        try movie.rig.socket.send(RecorderCommand.file.text, with: [pipe.writing])
        try movie.answered(1)
        #expect(movie.refusals.map(\.code) == [.invalidArgument])
        try movie.hand()
        try movie.answered(2)
        try movie.publish(30)
        #expect(try movie.end().frames == 45)
        #expect(movie.finished.map(\.frames) == [30, 15])
        #expect(try movie.pictures(movie.paths) == Array(0..<45))
    }

    @Test func `makes each cut that lies between two other pictures`() throws {
        let movie = try NumberedMovie(SegmentRule())
        try movie.hand(3)
        // The second and the third are between the same two.
        for frame in [10, 20, 20, 30] { try movie.cut(before: frame) }
        try movie.heard()
        try movie.publish(40)
        _ = try movie.end()
        #expect(movie.finished.map(\.frames) == [10, 10, 10, 10])
    }

    @Test func `is cut by the clock, from midnight on`() throws {
        // A day has no whole number of them.
        let rule = SegmentRule(duration: 7_000_000_000, isAligned: true)
        let movie = try NumberedMovie(rule, hasSound: false)
        try movie.hand(8)
        try movie.heard()
        for count in 1...10 {
            try movie.publish(60)
            try movie.taken(count * 60)
        }
        _ = try movie.end()
        #expect(movie.finished.count >= 3)
        for segment in movie.finished.dropFirst() {
            var (clock, parts) = (time_t(segment.time / 1_000_000_000), unsafe tm())
            unsafe localtime_r(&clock, &parts)
            let second = unsafe Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + Int(parts.tm_sec)
            #expect(second % 7 == 0, "\(second)")
        }
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func `whose file cannot be finished keeps the others`() throws {
        let movie = try NumberedMovie(SegmentRule(duration: 1_000_000_000), videoCodec: "mjpeg", hasSound: false)
        let disk = try SmallDisk(kilobytes: 64)
        try movie.hand(in: disk.path)
        try movie.hand()
        try movie.answered(2)
        try movie.publish(59)
        try movie.began(2)
        try movie.taken(59)
        // Its last pictures and its index have no room.
        try disk.fill()
        try movie.publish(61)
        let error = try movie.rig.fault(try movie.ended())
        #expect(error.code == .inputOutput)
        let complete = movie.finished.filter(\.isComplete)
        #expect(complete.first?.number == 1 && !complete.contains { $0.number == 2 })
        for segment in complete {
            #expect(try movie.pictures([movie.paths[Int(segment.number) - 1]]).count == Int(segment.frames))
        }
    }
}
