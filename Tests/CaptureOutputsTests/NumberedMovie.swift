import CaptureCore
import CaptureOutputs
import CaptureSystem
import Glibc
import Testing

/// A movie, in segments if it is to be, whose frames show their numbers and whose samples are those of one tone.
final class NumberedMovie {
    static let format = Material.yuyv(64, 64)
    /// Sample frames between two pictures.
    static let step = 1600

    let rig: Rig
    private(set) var paths: [String]
    private(set) var begun = 0
    private(set) var finished: [MovieSegment] = []
    /// Files that were refused.
    private(set) var refusals: [CaptureError] = []
    private var answers = 0
    private var published = 0
    private var periods = 0
    /// Nanoseconds from one period of sound to the next, by the clock.
    var pace: Int64 = 10_000_000

    init(
        _ rule: SegmentRule? = nil,
        preRoll: Int64 = 0,
        preRollBytes: Int64 = RecordingJob.usualPreRollBytes,
        format: String = "mkv",
        videoCodec: String = "auto",
        audioCodec: String = "pcm",
        hasSound: Bool = true,
        duration: Int64 = 0,
        frameCount: Int = 0,
        minFreeSpace: Int64 = 0,
        maxFileSize: Int64 = 0,
        hasMetadata: Bool = false,
        fragmentInterval: Int64 = OutputDescription.usualFragmentInterval,
        video: VideoFormat? = NumberedMovie.format
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
                maxFileSize: maxFileSize,
                minFreeSpace: minFreeSpace,
                segments: rule,
                preRoll: preRoll,
                hasMetadata: hasMetadata,
                fragmentInterval: fragmentInterval
            ),
            video: video,
            audio: hasSound ? Material.stereo : nil,
            preRollBytes: preRollBytes
        )
        paths = [rig.path]
        if case .failed(let error, _) = try rig.ready() { throw error }
    }

    deinit {
        for path in paths { unsafe unlink(path) }
    }

    /// Hands over files in reserve.
    func hand(_ count: Int = 1, in folder: String? = nil) throws {
        for _ in 0..<count {
            let usual = Rig.temporaryPath(String(rig.path.split(separator: ".").last ?? ""))
            let path = folder.map { "\($0)/next" } ?? usual
            paths.append(path)
            try rig.socket.send(RecorderCommand.file.text, with: [Descriptor.open(path, O_RDWR | O_CREAT | O_TRUNC)])
        }
    }

    /// Begins the movie behind a pre-roll, and waits until that holds: by default, until it was begun.
    func begin(at frame: Int, until holds: (OutputStatistics) -> Bool = { !$0.isWaiting }) throws {
        try rig.socket.send(RecorderCommand.begin(at: rig.epoch.advanced(by: NumberedMovie.time(frame))).text)
        try until(holds)
    }

    func cut(before frame: Int) throws {
        try rig.socket.send(RecorderCommand.cut(at: rig.epoch.advanced(by: NumberedMovie.time(frame) - 1)).text)
    }

    static func time(_ frame: Int) -> Int64 { Int64(frame) * 1_000_000_000 / 30 }

    /// Publishes frames, each behind the sound of before it.
    func publish(_ count: Int, soundAhead: Int = 0) throws {
        for _ in 0..<count {
            try sound(until: published * NumberedMovie.step + soundAhead)
            if rig.video != nil { try rig.frame(NumberedMovie.picture(published), at: NumberedMovie.time(published)) }
            published += 1
        }
    }

    /// The camera brings nothing for a while, and goes on with a frame of that number.
    func stall(until frame: Int) { published = frame }

    /// Publishes whole periods of sound that begin before a sample.
    func sound(until sample: Int) throws {
        guard rig.audio != nil else { return }
        while periods * 480 < sample {
            let bytes = NumberedMovie.period(periods)
            try rig.period(bytes, at: Int64(periods) * pace, position: UInt64(periods * 480))
            periods += 1
        }
    }

    /// A tone whose length is no number of samples: one that is missing or doubled shifts all that follow.
    static func level(_ number: Int) -> Double { 12000 * sin(2 * Double.pi * Double(number) / 331.7) }

    /// Both channels of a period, made quickly without optimization, too.
    private static func period(_ number: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 480 * 4) { memory, count in
            let bytes = UnsafeMutableRawBufferPointer(memory)
            for index in 0..<480 {
                let sample = UInt32(UInt16(bitPattern: Int16(level(number * 480 + index).rounded())))
                let both = (sample << 16 | sample).littleEndian
                unsafe bytes.storeBytes(of: both, toByteOffset: index * 4, as: UInt32.self)
            }
            count = bytes.count
        }
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

    /// Reads reports until so many files were taken or refused.
    func answered(_ count: Int) throws {
        while answers < count { try take(rig.next()) }
    }

    /// Reads reports until so many files are complete.
    func completed(_ count: Int) throws {
        while finished.count < count { try take(rig.next()) }
    }

    /// Waits until every command was heard: the last one is a pause that nothing reaches.
    func heard() throws {
        // Not by the clock of the tests: the machine may have been up for longer, and be in that pause until it ends.
        let never = Timestamp.now.advanced(by: 86_400_000_000_000)
        try rig.socket.send(RecorderCommand.pause(at: never).text)
        try until { $0.isPaused }
        try rig.socket.send(RecorderCommand.resume(at: never).text)
    }

    /// Waits until so many pictures were taken.
    func taken(_ pictures: Int) throws { try until { Int($0.frames) >= pictures } }

    func until(_ holds: (OutputStatistics) -> Bool) throws {
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
        case .file(let refusal):
            answers += 1
            if let refusal { refusals.append(refusal) }
        case .failed(let error, _): throw error
        case .finished: throw CaptureError(.wrongState, "the movie ended early: \(rig.reports.suffix(3))")
        default: break
        }
    }

    /// Ends it.
    func end() throws -> OutputStatistics { try rig.finished(try ended()) }

    /// Ends it, if it has not ended by itself: the last report.
    func ended() throws -> RecorderReport {
        let before = rig.reports.count
        let report = try rig.end()
        for report in rig.reports[before...] { if !report.isEnd { try take(report) } }
        return report
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

extension NumberedMovie {
    /// The access units of an H.264 stream with a keyframe every so many frames, which is made at a path.
    static func stream(frames: Int, keyframes: Int, _ path: String) throws -> [[UInt8]] {
        _ = try Probe.run(
            "ffmpeg -v error -y -f lavfi -i testsrc=size=64x64:rate=30 -frames:v \(frames) -c:v libx264 -g \(keyframes) "
                + "-keyint_min \(keyframes) -sc_threshold 0 -bf 0 -x264-params repeat-headers=1:aud=1 -f h264 \(path)"
        )
        return units(try Shell.bytes(path))
    }

    /// The access units of a stream, each of which begins with a delimiter.
    private static func units(_ stream: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        for index in 0..<max(stream.count - 5, 0)
        where stream[index..<index + 4].elementsEqual([0, 0, 0, 1]) && stream[index + 4] & 0x1f == 9 {
            starts.append(index)
        }
        return zip(starts, starts.dropFirst() + [stream.count]).map { Array(stream[$0..<$1]) }
    }
}
