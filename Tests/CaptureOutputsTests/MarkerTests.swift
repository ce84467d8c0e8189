import CaptureCore
import CaptureOutputs
import CaptureSystem
import Glibc
import Testing

/// Markers become chapters of the file.
@Suite(.timeLimit(.minutes(10))) struct `A marker` {
    private func mark(_ rig: Rig, _ title: String, at nanoseconds: Int64) throws {
        let time = Rig.epoch.advanced(by: nanoseconds)
        try rig.socket.send(RecorderCommand.mark(try RecordingMarker(title), at: time).text)
    }

    /// Start, end and title of each chapter.
    private func chapters(_ path: String) throws -> [String] {
        try Probe.run(
            "ffprobe -v error -show_chapters -show_entries chapter=start_time,end_time:chapter_tags=title "
                + "-of csv=p=0 \(path)"
        ).split(separator: "\n").map(String.init)
    }

    /// Leaves half a second out, from one second on.
    private func pause(_ rig: Rig, _ meanwhile: () throws -> Void = {}) throws {
        try rig.socket.send(RecorderCommand.pause(at: Rig.epoch.advanced(by: 1_000_000_000)).text)
        try meanwhile()
        try rig.socket.send(RecorderCommand.resume(at: Rig.epoch.advanced(by: 1_500_000_000)).text)
    }

    /// Waits until every command was heard: the last one is a pause that nothing reaches.
    private func heard(_ rig: Rig) throws {
        try rig.socket.send(RecorderCommand.pause(at: Rig.epoch.advanced(by: 90_000_000_000)).text)
        try rig.progress { $0.isPaused }
    }

    /// Two and a half seconds of pictures.
    private func record(_ rig: Rig, _ format: VideoFormat) throws {
        let picture = Material.flat(100, format)
        for index in 0..<75 { try rig.frame(picture, at: Int64(index) * 1_000_000_000 / 30) }
    }

    @Test(arguments: Material.movies) func `is a chapter until the next one`(container: String) throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: container), video: format)
        try pause(rig)
        try mark(rig, "second; with = signs", at: 1_600_000_000)
        try mark(rig, "first", at: 400_000_000)
        try mark(rig, "", at: 80_000_000_000)
        try heard(rig)
        try record(rig, format)
        _ = try rig.finished(try rig.end())
        // Half a second was cut out before the second one, and what lies behind the end begins there.
        let found = try chapters(rig.path)
        #expect(found.count == 4)
        #expect(found.first == "0.400000,1.000000,first")
        // Where it goes on behind the pause.
        #expect(found.dropFirst().first?.hasPrefix("1.000000,1.100000,20") == true)
        #expect(found.dropFirst(2).first?.hasPrefix("1.100000,") == true)
        #expect(found.dropFirst(2).first?.contains("second; with = signs") == true)
        let last = found.last?.split(separator: ",").compactMap { Double($0) } ?? []
        #expect(last.count == 2 && last.allSatisfy { abs($0 - 2) < 0.001 })
        #expect(try Probe.decodes(rig.path))
        guard container == "mkv" else { return }
        let told = try Probe.run("mkvinfo --all \(rig.path)")
        for line in [
            "Chapter string: first", "Chapter string: second; with = signs", "Chapter time start: 00:00:00.400",
        ] {
            #expect(told.contains(line), "\(told)")
        }
    }

    @Test func `in a pause is where it was cut out`() throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: "mkv"), video: format)
        try pause(rig) { try mark(rig, "meanwhile", at: 1_200_000_000) }
        try heard(rig)
        try record(rig, format)
        _ = try rig.finished(try rig.end())
        let found = try chapters(rig.path)
        #expect(found.count == 2 && found.first == "1.000000,1.000001,meanwhile", "\(found)")
        #expect(found.last?.hasPrefix("1.000001,") == true)
    }

    @Test(arguments: Material.movies + ["m4a"])
    func `behind each pause tells when that was captured, so that every frame's time can be found`(format: String)
        throws
    {
        let isMovie = format != "m4a"
        let pictures = Material.yuyv(64, 64)
        let rig = try Rig(
            OutputDescription(name: "m", kind: isMovie ? .movie : .sound, format: format),
            video: isMovie ? pictures : nil,
            audio: isMovie ? nil : Material.stereo
        )
        func send(_ command: RecorderCommand) throws { try rig.socket.send(command.text) }
        // Two pauses, of 0.5 s and of 1 s.
        for (start, end) in [(1_000_000_000, 1_500_000_000), (2_000_000_000, 3_000_000_000)] as [(Int64, Int64)] {
            try send(.pause(at: Rig.epoch.advanced(by: start)))
            try send(.resume(at: Rig.epoch.advanced(by: end)))
        }
        try heard(rig)
        if isMovie {
            for index in 0..<120 { try rig.frame(Material.flat(100, pictures), at: Int64(index) * 1_000_000_000 / 30) }
        } else {
            try rig.tone(periods: 400)
        }
        let begun = try rig.finished(try rig.end()).start
        let date = try #require(try Probe.values(rig.path, "-show_entries format_tags=creation_time").first)
        var known = [(at: 0.0, clock: try #require(Self.seconds(date)))]
        for line in try chapters(rig.path) {
            let parts = line.split(separator: ",")
            known.append((at: try #require(Double(parts[0])), clock: try #require(Self.seconds(String(parts[2])))))
        }
        #expect(known.count == 3)
        for frame in try Probe.packets(rig.path, isMovie ? "v" : "a") {
            let last = try #require(known.last { $0.at <= frame.time + 0.001 } ?? known.first)
            let found = last.clock + frame.time - last.at - Double(begun) / 1e9
            // What the file closes up is 1 to 1.5 s, and 2 to 3 s.
            let captured = frame.time + (frame.time < 0.999 ? 0 : frame.time < 1.499 ? 0.5 : 1.5)
            // A packet of sound lies across the cut.
            let isCut = !isMovie && [1.0, 1.5].contains { abs($0 - frame.time) < 0.03 }
            #expect(isCut || abs(found - captured) < 0.002, "\(frame.time): \(found), not \(captured)")
        }
    }

    /// Seconds since 1970 of a date in UTC.
    private static func seconds(_ date: String) -> Double? {
        let fields = date.dropLast().split { "-T:".contains($0) }.compactMap { Double($0) }
        guard fields.count == 6, date.last == "Z" else { return nil }
        var parts = unsafe tm()
        unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            Int32(fields[0]) - 1900, Int32(fields[1]) - 1, Int32(fields[2])
        )
        return Double(unsafe timegm(&parts)) + fields[3] * 3600 + fields[4] * 60 + fields[5]
    }

    @Test func `behind a pause is left out where there are 255 of the program's`() throws {
        let format = Material.yuyv(64, 64)
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: "mp4"), video: format)
        for index in 0..<254 { try mark(rig, "own", at: Int64(index) * 1_000_000) }
        for second in 1...3 as ClosedRange<Int64> {
            try rig.socket.send(RecorderCommand.pause(at: Rig.epoch.advanced(by: second * 1_000_000_000)).text)
            try rig.socket.send(
                RecorderCommand.resume(at: Rig.epoch.advanced(by: second * 1_000_000_000 + 500_000_000)).text
            )
        }
        try heard(rig)
        for index in 0..<120 { try rig.frame(Material.flat(100, format), at: Int64(index) * 1_000_000_000 / 30) }
        _ = try rig.finished(try rig.end())
        let found = try chapters(rig.path)
        #expect(found.count == 255 && found.count { $0.hasSuffix(",own") } == 254)
        #expect(found.last?.hasPrefix("1.000000,") == true)
    }

    @Test func `of sound is in M4A, and there is room for 255`() throws {
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "m4a"), audio: Material.stereo)
        let long = String(repeating: "ü", count: 127)
        for index in 0..<300 { try mark(rig, long, at: Int64(index) * 1_000_000) }
        try heard(rig)
        try rig.tone(periods: 100)
        _ = try rig.finished(try rig.end())
        let found = try chapters(rig.path)
        #expect(found.count == 255)
        #expect(found.last == "0.254000,1.000000,\(long)")
    }

    @Test(arguments: Material.movies) func `takes no more room than a greatest size leaves`(container: String) throws {
        let format = Material.yuyv()
        let limit: Int64 = 400_000
        var wanted = OutputDescription(name: "m", kind: .movie, format: container)
        wanted.maxFileSize = limit
        let rig = try Rig(wanted, video: format)
        for index in 0..<255 { try mark(rig, String(repeating: "x", count: 255), at: Int64(index) * 100_000) }
        try heard(rig)
        let noise = (0..<4).map { Material.noise(format, seed: $0) }
        for index in 0..<60 { try rig.frame(noise[index % 4], at: Int64(index) * 1_000_000_000 / 30) }
        let counters = try rig.finished(try rig.end())
        #expect(counters.reachedLimit == .fileSize)
        #expect(counters.bytes <= UInt64(limit) && counters.frames > 0)
        #expect(try chapters(rig.path).count == 255)
    }

    @Test(arguments: [
        String(repeating: "x", count: 256), "two\nlines", "\u{1b}[31m", "two\u{2028}lines", "\u{202e}live",
    ])
    func `has one line of at most 255 bytes`(title: String) {
        let error = #expect(throws: CaptureError.self) { try RecordingMarker(title) }
        #expect(error?.code == .invalidArgument)
    }
}
