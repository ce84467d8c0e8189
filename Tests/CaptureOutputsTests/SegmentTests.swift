import CaptureCore
import CaptureOutputs
import CaptureSystem
import Glibc
import Testing

/// A movie in segments, whose frames show their numbers and whose samples count.
private final class SegmentedMovie {
    static let format = Material.yuyv(64, 64)
    /// Sample frames between two pictures.
    static let step = 1600

    let rig: Rig
    private(set) var paths: [String]
    private(set) var begun = 1
    private(set) var finished: [MovieSegment] = []
    private var published = 0
    private var periods = 0

    init(
        _ rule: SegmentRule,
        format: String = "mkv",
        videoCodec: String = "auto",
        audioCodec: String = "pcm",
        hasSound: Bool = true,
        duration: Int64 = 0,
        frameCount: Int = 0,
        minFreeSpace: Int64 = 0,
        video: VideoFormat? = SegmentedMovie.format
    ) throws {
        rig = try Rig(
            OutputDescription(
                name: "movie",
                kind: .movie,
                format: format,
                videoCodec: videoCodec,
                audioCodec: hasSound ? audioCodec : "auto",
                encoderPreset: "ultrafast",
                duration: duration,
                frameCount: frameCount,
                minFreeSpace: minFreeSpace,
                segments: rule
            ),
            video: video,
            audio: hasSound ? Material.stereo : nil
        )
        paths = [rig.path]
        _ = try rig.ready()
    }

    deinit {
        for path in paths { unsafe unlink(path) }
    }

    /// Hands over files in reserve.
    func hand(_ count: Int = 1) throws {
        for _ in 0..<count {
            let path = Rig.temporaryPath(String(rig.path.split(separator: ".").last ?? ""))
            paths.append(path)
            try rig.socket.send(RecorderCommand.file.text, with: [Descriptor.open(path, O_RDWR | O_CREAT | O_TRUNC)])
        }
    }

    func cut(before frame: Int) throws {
        try rig.socket.send(RecorderCommand.cut(at: Rig.epoch.advanced(by: SegmentedMovie.time(frame) - 1)).text)
    }

    static func time(_ frame: Int) -> Int64 { Int64(frame) * 1_000_000_000 / 30 }

    /// Publishes frames, each behind the sound of before it.
    func publish(_ count: Int, soundAhead: Int = 0) throws {
        for _ in 0..<count {
            try sound(until: published * SegmentedMovie.step + soundAhead)
            if rig.video != nil { try rig.frame(SegmentedMovie.picture(published), at: SegmentedMovie.time(published)) }
            published += 1
        }
    }

    /// Publishes whole periods of sound that begin before a sample.
    func sound(until sample: Int) throws {
        guard rig.audio != nil else { return }
        while periods * 480 < sample {
            let bytes = (periods * 480..<(periods + 1) * 480).flatMap { SegmentedMovie.sample($0) }
            try rig.period(bytes, at: Int64(periods) * 10_000_000, position: UInt64(periods * 480))
            periods += 1
        }
    }

    /// A tone whose length is no number of samples: one that is missing or doubled shifts all that follow.
    static func level(_ number: Int) -> Double { 12000 * sin(2 * Double.pi * Double(number) / 331.7) }

    private static func sample(_ number: Int) -> [UInt8] {
        let level = Int16(level(number).rounded())
        return (0..<2).flatMap { _ in [UInt8(truncatingIfNeeded: level), UInt8(truncatingIfNeeded: level >> 8)] }
    }

    /// Sixteen fields, one for each bit of a number.
    private static func picture(_ number: Int) -> [UInt8] {
        var frame = [UInt8](repeating: 128, count: 64 * 64 * 2)
        for row in 0..<64 {
            for column in 0..<64 {
                let bit = row / 16 * 4 + column / 16
                frame[(row * 64 + column) * 2] = number >> bit & 1 == 1 ? 220 : 30
            }
        }
        return frame
    }

    /// Reads reports until so many files are begun.
    func began(_ count: Int) throws {
        while begun < count { try take(rig.next()) }
    }

    /// Reads reports until so many files are complete.
    func completed(_ count: Int) throws {
        while finished.count < count { try take(rig.next()) }
    }

    /// Waits until every command was heard: the last one is a pause that nothing reaches.
    func heard() throws {
        let never = Rig.epoch.advanced(by: 9_000_000_000_000)
        try rig.socket.send(RecorderCommand.pause(at: never).text)
        try until { $0.isPaused }
        try rig.socket.send(RecorderCommand.resume(at: never).text)
    }

    /// Waits until so many pictures were taken.
    func taken(_ pictures: Int) throws { try until { Int($0.frames) >= pictures } }

    private func until(_ holds: (OutputStatistics) -> Bool) throws {
        while true {
            let report = try rig.next()
            if case .progress(let counters) = report, holds(counters) { return }
            try take(report)
        }
    }

    private func take(_ report: RecorderReport) throws {
        switch report {
        case .segment(.began(let number)):
            begun += 1
            #expect(Int(number) == begun)
        case .segment(.finished(let segment)):
            finished.append(segment)
            #expect(Int(segment.number) == finished.count)
        case .failed(let error, _): throw error
        default: break
        }
    }

    /// Ends it.
    func end() throws -> OutputStatistics {
        let before = rig.reports.count
        let report = try rig.end()
        for report in rig.reports[before...] { if !report.isEnd { try take(report) } }
        return try rig.finished(report)
    }

    /// The numbers that the pictures of some files show, decoded one file after the other.
    func pictures(_ paths: [String]) throws -> [Int] {
        let bytes = try decode(paths, "-map 0:v -fps_mode passthrough -pix_fmt gray -f rawvideo")
        return stride(from: 0, to: bytes.count, by: 4096).map { start in
            (0..<16).reduce(0) { number, bit in
                let place = start + (bit / 4 * 16 + 8) * 64 + bit % 4 * 16 + 8
                return number | (bytes[place] > 125 ? 1 << bit : 0)
            }
        }
    }

    /// The left channel of some files, decoded one file after the other.
    func samples(_ paths: [String]) throws -> [Double] {
        let bytes = try decode(paths, "-map 0:a -c:a pcm_s16le -f s16le")
        return stride(from: 0, to: bytes.count, by: 4).map { place in
            Double(Int16(truncatingIfNeeded: Int(bytes[place]) | Int(bytes[place + 1]) << 8))
        }
    }

    private func decode(_ paths: [String], _ how: String) throws -> [UInt8] {
        let list = Rig.temporaryPath("list"), out = Rig.temporaryPath("out")
        defer { for path in [list, out] { unsafe unlink(path) } }
        let lines = paths.map { "file '\($0)'\n" }.joined()
        let file = try Descriptor.open(list, O_RDWR | O_CREAT | O_TRUNC)
        try unsafe Array(lines.utf8).withUnsafeBytes { try unsafe file.write(all: $0) }
        let source = paths.count == 1 ? "-i \(paths[0])" : "-f concat -safe 0 -i \(list)"
        _ = try Probe.run("ffmpeg -v error -xerror -y \(source) \(how) \(out)")
        return try Shell.bytes(out)
    }
}

extension RecorderReport {
    fileprivate var isEnd: Bool {
        switch self {
        case .finished, .failed: true
        default: false
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A movie in segments` {
    @Test func `of a thousand cuts has each picture and each sample once`() throws {
        let movie = try SegmentedMovie(SegmentRule(duration: 100_000_000))
        let (files, each) = (1001, 3)
        try movie.hand(8)
        for number in 1...files {
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
        #expect(samples.count >= (files * each - 1) * SegmentedMovie.step)
        // One that is missing or doubled would change the level by up to 227.
        #expect(samples.indices.allSatisfy { abs(samples[$0] - SegmentedMovie.level($0)) < 10 })
    }

    @Test(arguments: Material.movies) func `can be played file by file`(container: String) throws {
        let movie = try SegmentedMovie(
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
        let movie = try SegmentedMovie(SegmentRule(duration: 100_000_000))
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
        let movie = try SegmentedMovie(SegmentRule())
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
        let movie = try SegmentedMovie(
            SegmentRule(fileSize: size),
            format: container,
            videoCodec: "mjpeg",
            audioCodec: "aac"
        )
        try movie.hand(8)
        try movie.heard()
        for count in 1...10 {
            try movie.publish(30)
            try movie.taken(count * 30)
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
        let movie = try SegmentedMovie(SegmentRule(duration: 1_000_000_000), duration: 2_500_000_000)
        try movie.hand(4)
        try movie.heard()
        try movie.publish(90)
        let counters = try movie.end()
        #expect(counters.frames == 75)
        #expect(counters.reachedLimit == .duration)
        #expect(movie.finished.map(\.frames) == [30, 30, 15])
    }

    @Test func `has markers in the file that they belong to`() throws {
        let movie = try SegmentedMovie(SegmentRule(duration: 1_000_000_000), hasSound: false)
        try movie.hand(1)
        for (title, frame) in [("one", 15), ("two", 45)] {
            let time = Rig.epoch.advanced(by: SegmentedMovie.time(frame))
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
        let movie = try SegmentedMovie(SegmentRule(duration: 1_000_000_000), video: nil)
        try movie.hand(2)
        try movie.heard()
        try movie.sound(until: 3 * 48000)
        let counters = try movie.end()
        #expect(counters.samples == 3 * 48000)
        #expect(movie.finished.count == 3)
        let samples = try movie.samples(movie.paths)
        #expect(samples.count == 3 * 48000)
        #expect(samples.indices.allSatisfy { abs(samples[$0] - SegmentedMovie.level($0)) < 2 })
    }

    @Test func `of a copied stream is cut before a keyframe`() throws {
        let format = Material.compressed(.h264, 64, 64)
        let stream = Rig.temporaryPath("h264")
        defer { unsafe unlink(stream) }
        _ = try Probe.run(
            "ffmpeg -v error -y -f lavfi -i testsrc=size=64x64:rate=30 -frames:v 90 -c:v libx264 -g 15 -keyint_min 15 "
                + "-sc_threshold 0 -bf 0 -x264-params repeat-headers=1:aud=1 -f h264 \(stream)"
        )
        let units = SegmentedMovie.units(try Shell.bytes(stream))
        #expect(units.count == 90)
        let movie = try SegmentedMovie(SegmentRule(duration: 600_000_000), hasSound: false, video: format)
        try movie.hand(6)
        try movie.heard()
        for (index, unit) in units.enumerated() {
            try movie.rig.frame(unit, at: SegmentedMovie.time(index), flags: [.monotonic])
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
        let output = OutputDescription(name: "m", kind: .movie, format: "mkv", segments: SegmentRule(duration: 1_000_000_000))
        let rig = try Rig(output, video: SegmentedMovie.format, file: pipe.writing)
        let error = try rig.fault(try rig.outcome())
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("give a file"))
    }

    @Test func `ends well when its next file is gone`() throws {
        let movie = try SegmentedMovie(SegmentRule(duration: 1_000_000_000))
        let pipe = try Descriptor.pipe()
        try movie.publish(15)
        try movie.taken(15)
        try movie.rig.socket.send(RecorderCommand.file.text, with: [pipe.writing])
        let error = try movie.rig.fault(try movie.rig.outcome())
        #expect(error.code == .invalidArgument)
        #expect(try movie.pictures([movie.rig.path]) == Array(0..<15))
    }
}

extension SegmentedMovie {
    /// The access units of a stream, each of which begins with a delimiter.
    fileprivate static func units(_ stream: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        for index in 0..<max(stream.count - 5, 0)
        where stream[index..<index + 4].elementsEqual([0, 0, 0, 1]) && stream[index + 4] & 0x1f == 9 {
            starts.append(index)
        }
        return zip(starts, starts.dropFirst() + [stream.count]).map { Array(stream[$0..<$1]) }
    }
}
