import CaptureCore
@testable import CaptureOutputs
import CaptureSystem
import Glibc
import Testing

/// What a program tells of a recording is in the movie, at its time.
@Suite(.timeLimit(.minutes(10))) struct `Timed metadata` {
    /// Tells that a frame has its number, a millisecond after it.
    private func note(_ frame: Int, _ movie: NumberedMovie, _ key: String = "frame") throws {
        try note("{\"\(key)\":\(frame)}", at: NumberedMovie.time(frame) + 1_000_000, movie)
    }

    private func note(_ text: String, at time: Int64, _ movie: NumberedMovie) throws {
        let note = try TimedMetadata(json: text)
        try movie.rig.socket.send(RecorderCommand.note(note, at: movie.rig.epoch.advanced(by: time)).text)
    }

    /// Has the machine's clock stand before the movie: what is told of its past is written when nothing comes for half a
    /// second, as when a test is held up.
    private func comeLater(_ movie: NumberedMovie) { movie.rig.epoch = .now.advanced(by: 3_600_000_000_000) }

    /// The texts of a file's track with their times in milliseconds, as ffmpeg reads them.
    private func notes(_ path: String) throws -> [(time: Int, text: String)] {
        try all(path).filter { !$0.text.contains("captured") }
    }

    /// The same, with those of the recorder.
    private func all(_ path: String) throws -> [(time: Int, text: String)] {
        let lines = try Probe.run("ffmpeg -v error -i \(path) -map 0:s -f srt -").split(separator: "\n")
        return zip(lines, lines.dropFirst()).compactMap { line, text in
            guard line.contains("-->") else { return nil }
            let parts = line.prefix(12).split { ":,".contains($0) }.compactMap { Int($0) }
            return (((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + parts[3], String(text))
        }
    }

    /// Whether notes of frames are there, each a millisecond behind its frame.
    private func check(_ notes: [(time: Int, text: String)], _ frames: [Int], from first: Int = 0) {
        #expect(notes.map(\.text) == frames.map { "{\"frame\":\($0)}" })
        for (note, frame) in zip(notes, frames) {
            let time = Int((NumberedMovie.time(frame) - NumberedMovie.time(first)) / 1_000_000) + 1
            #expect(abs(note.time - time) <= 1, "\(note)")
        }
    }

    @Test(arguments: Material.movies, ["auto", "mjpeg"])
    func `is read back at its time`(container: String, codec: String) throws {
        let movie = try NumberedMovie(
            format: container,
            videoCodec: codec,
            audioCodec: container == "mp4" ? "aac" : "pcm",
            hasMetadata: true
        )
        let frames = Array(stride(from: 0, to: 90, by: 7))
        for frame in 0..<90 {
            if frames.contains(frame) { try note(frame, movie) }
            try movie.heard()
            try movie.publish(1)
        }
        let counters = try movie.end()
        #expect(counters.items == UInt64(frames.count) && counters.frames == 90)
        check(try notes(movie.rig.path), frames)
        #expect(try movie.pictures([movie.rig.path]) == Array(0..<90))
        #expect(try Probe.decodes(movie.rig.path))
        // It does not make the movie longer, and does not shift the others.
        let length = try #require(Double(Probe.values(movie.rig.path, "-show_entries format=duration")[0]))
        #expect(abs(length - 3) < 0.08)
        let starts = try Probe.values(movie.rig.path, "-select_streams v -show_entries stream=start_time")
        #expect(starts.compactMap { Double($0) }.allSatisfy { abs($0) < 0.001 }, "\(starts)")
        let track = try Probe.values(movie.rig.path, "-select_streams s -show_entries stream=codec_name:stream_tags")
        #expect(track.first == (container == "mkv" ? "subrip" : "mov_text"))
        // QuickTime's own list of languages has no such one.
        #expect(track.contains("metadata") && (container == "mov" || track.contains("zxx")), "\(track)")
        guard container == "mkv" else { return }
        let told = try Probe.run("mkvinfo \(movie.rig.path)")
        for line in ["Codec ID: S_TEXT/UTF8", "Name: metadata", "\"Default track\" flag: 0"] {
            #expect(told.contains(line), "\(told)")
        }
    }

    @Test func `of before the beginning is at the beginning, and of after the end is left out`() throws {
        let movie = try NumberedMovie(hasMetadata: true)
        comeLater(movie)
        for time in [-5_000_000_000, -2_000_000] { try note("{\"at\":\(time)}", at: Int64(time), movie) }
        try note("{\"at\":3}", at: 3_000_000_000, movie)
        try movie.heard()
        try movie.publish(30)
        #expect(try movie.end().items == 2)
        let notes = try notes(movie.rig.path)
        #expect(notes.map(\.text) == ["{\"at\":-5000000000}", "{\"at\":-2000000}"])
        #expect(notes.allSatisfy { $0.time <= 2 })
    }

    @Test(arguments: ["mkv", "mp4"]) func `in any order is in the order of its times`(container: String) throws {
        let movie = try NumberedMovie(format: container, audioCodec: "aac", hasMetadata: true)
        let frames = [20, 5, 11, 3, 28, 27]
        for frame in frames { try note(frame, movie) }
        try movie.heard()
        try movie.publish(30)
        _ = try movie.end()
        check(try notes(movie.rig.path), frames.sorted())
    }

    @Test(arguments: ["mkv", "mp4"]) func `of a moment that was written already follows what is there`(
        container: String
    )
        throws
    {
        let movie = try NumberedMovie(format: container, audioCodec: "aac", hasMetadata: true)
        try note(20, movie)
        try movie.heard()
        try movie.publish(60)
        try movie.until { $0.items == 1 }
        for _ in 0..<5 { try note(10, movie) }
        try movie.heard()
        try movie.publish(10)
        #expect(try movie.end().items == 6)
        let times = try notes(movie.rig.path).map(\.time)
        // Where a fragment of MP4 begins, a time may be a millisecond later.
        let early = container == "mp4" ? 1 : 0
        #expect(times.count == 6 && zip(times, times.dropFirst()).allSatisfy { $0 < $1 + early }, "\(times)")
    }

    @Test func `of a pause is left out, and what follows moves up`() throws {
        let movie = try NumberedMovie(hasMetadata: true)
        try note(5, movie)
        try movie.publish(30)
        try movie.taken(28)
        try movie.rig.socket.send(RecorderCommand.pause(at: Rig.epoch.advanced(by: 1_000_000_000)).text)
        try movie.until { $0.isPaused }
        try movie.publish(30)
        try note(40, movie)
        try movie.rig.socket.send(RecorderCommand.resume(at: Rig.epoch.advanced(by: 2_000_000_000)).text)
        try movie.until { !$0.isPaused }
        try movie.publish(30)
        // One of before the pause, of which the recorder hears after it.
        try movie.taken(58)
        try note(8, movie)
        try note(70, movie)
        try movie.publish(10)
        #expect(try movie.end().items == 3)
        let told = try notes(movie.rig.path)
        #expect(told.map(\.text) == [5, 8, 70].map { "{\"frame\":\($0)}" })
        #expect(abs((told.last?.time ?? 0) - 1334) < 8, "\(told)")
    }

    @Test(arguments: Material.movies) func `says when each picture was captured, also behind a pause`(container: String)
        throws
    {
        let movie = try NumberedMovie(format: container, audioCodec: "aac", hasMetadata: true)
        try movie.publish(30)
        try movie.taken(28)
        try movie.rig.socket.send(RecorderCommand.pause(at: Rig.epoch.advanced(by: 1_000_000_000)).text)
        try movie.until { $0.isPaused }
        try movie.publish(60)
        try movie.rig.socket.send(RecorderCommand.resume(at: Rig.epoch.advanced(by: 3_000_000_000)).text)
        try movie.until { !$0.isPaused }
        try movie.publish(30)
        let counters = try movie.end()
        #expect(counters.items == 0)
        let told = try all(movie.rig.path).filter { $0.text.contains("captured") }
        try #require(told.count == 2)
        let seconds = told.map { note -> Double in
            // The seconds of "…T12:34:56.123456Z"; the minutes, too.
            let digits = note.text.dropLast(3).suffix(12).split(separator: ":").compactMap { Double($0) }
            return digits[0] * 60 + digits[1]
        }
        // Two seconds of pause lie between them, and are not in the file.
        let apart = (seconds[1] - seconds[0] + 3600).truncatingRemainder(dividingBy: 3600)
        #expect(abs(apart - Double(told[1].time - told[0].time) / 1000 - 2) < 0.03, "\(told)")
        #expect(told[0].time <= 1)
    }

    @Test(arguments: ["mkv", "mp4"]) func `is in the segment of its time`(container: String) throws {
        let movie = try NumberedMovie(SegmentRule(), format: container, audioCodec: "aac", hasMetadata: true)
        comeLater(movie)
        try movie.hand(2)
        for part in 0..<3 {
            for frame in stride(from: part * 30 + 2, to: part * 30 + 30, by: 9) { try note(frame, movie) }
            if part > 0 { try movie.cut(before: part * 30) }
            try movie.heard()
            try movie.publish(30)
            try movie.began(part + 1)
        }
        #expect(try movie.end().items == 12)
        for part in 0..<3 {
            let frames = Array(stride(from: part * 30 + 2, to: part * 30 + 30, by: 9))
            check(try notes(movie.paths[part]), frames, from: part * 30)
        }
    }

    @Test func `of a pre-roll is there, and what is older is not`() throws {
        let movie = try NumberedMovie(preRoll: 1_000_000_000, hasMetadata: true)
        for frame in [10, 50, 65, 85] { try note(frame, movie) }
        for _ in 0..<3 {
            try movie.publish(30, soundAhead: 2000)
            try movie.until { $0.isWaiting && $0.duration > 500_000_000 }
        }
        try movie.begin(at: 89)
        try note(100, movie)
        try movie.heard()
        try movie.publish(30, soundAhead: 2000)
        #expect(try movie.end().items == 3)
        check(try notes(movie.rig.path), [65, 85, 100], from: 59)
    }

    @Test(arguments: Material.movies) func `stays within the greatest size`(container: String) throws {
        let most: Int64 = 300_000
        let movie = try NumberedMovie(
            format: container,
            videoCodec: "mjpeg",
            audioCodec: "aac",
            maxFileSize: most,
            hasMetadata: true
        )
        let text = "{\"filling\":\"\(String(repeating: "x", count: 3000))\"}"
        // Until it ends by itself, and hears no more.
        do {
            for frame in 0..<1000 {
                try note(text, at: NumberedMovie.time(frame), movie)
                if frame % 10 == 9 { try movie.heard() }
                try movie.publish(1)
            }
        } catch {
            #expect(error is SystemError || error is CaptureError)
        }
        // What it did not read of the socket is an error there, once.
        let report = try (try? movie.rig.outcome()) ?? movie.rig.outcome()
        let counters = try movie.rig.finished(report)
        #expect(counters.reachedLimit == .fileSize && counters.items > 10)
        #expect(Int64(try Shell.bytes(movie.rig.path).count) <= most)
        #expect(try Probe.decodes(movie.rig.path))
        #expect(try notes(movie.rig.path).count == Int(counters.items))
    }

    @Test(arguments: Material.movies) func `survives a killed recorder`(container: String) throws {
        let movie = try NumberedMovie(format: container, audioCodec: "aac", hasMetadata: true)
        for frame in 0..<120 {
            try note(frame, movie)
            if frame % 10 == 9 { try movie.heard() }
            try movie.publish(1)
        }
        try movie.until { $0.duration > 3_000_000_000 }
        movie.rig.process?.kill(SIGKILL)
        let told = try notes(movie.rig.path).map(\.text)
        #expect(told.count >= 85)
        #expect(told == (0..<told.count).map { "{\"frame\":\($0)}" })
    }

    @Test func `that waits without end takes no memory without end`() throws {
        let queue = MetadataQueue()
        let text = String(repeating: "x", count: 4096)
        for index in 0..<10_000 { queue.add(text, at: Timestamp(nanoseconds: Int64(index))) }
        let taken = queue.take(before: Timestamp(nanoseconds: 20_000))
        #expect(taken.count * 4096 <= MetadataQueue.mostBytes && taken.count > 1700)
        // The newest are kept.
        #expect(taken.map(\.time.nanoseconds) == Array(Int64(10_000 - taken.count)..<10_000))
        #expect(queue.take(before: Timestamp(nanoseconds: 20_000)).isEmpty)
    }
}
