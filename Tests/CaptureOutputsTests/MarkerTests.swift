import CaptureCore
import CaptureOutputs
import CaptureSystem
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
        _ = try rig.ready()
        try pause(rig)
        try mark(rig, "second; with = signs", at: 1_600_000_000)
        try mark(rig, "first", at: 400_000_000)
        try mark(rig, "", at: 80_000_000_000)
        try heard(rig)
        try record(rig, format)
        _ = try rig.finished(try rig.end())
        // Half a second was cut out before the second one, and what lies behind the end begins there.
        let found = try chapters(rig.path)
        #expect(found.count == 3)
        #expect(found.first == "0.400000,1.100000,first")
        #expect(found.dropFirst().first?.hasPrefix("1.100000,") == true)
        #expect(found.dropFirst().first?.contains("second; with = signs") == true)
        let last = found.last?.split(separator: ",").compactMap { Double($0) } ?? []
        #expect(last.count == 2 && last.allSatisfy { abs($0 - 2) < 0.001 })
        #expect(try Probe.decodes(rig.path))
    }

    @Test func `in a pause is where it was cut out`() throws {
        let format = Material.yuyv()
        let rig = try Rig(OutputDescription(name: "m", kind: .movie, format: "mkv"), video: format)
        _ = try rig.ready()
        try pause(rig) { try mark(rig, "meanwhile", at: 1_200_000_000) }
        try heard(rig)
        try record(rig, format)
        _ = try rig.finished(try rig.end())
        let found = try chapters(rig.path)
        #expect(found.count == 1 && found.first?.hasPrefix("1.000000,") == true)
    }

    @Test func `of sound is in M4A, and there is room for 255`() throws {
        let rig = try Rig(OutputDescription(name: "s", kind: .sound, format: "m4a"), audio: Material.stereo)
        _ = try rig.ready()
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
        _ = try rig.ready()
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
