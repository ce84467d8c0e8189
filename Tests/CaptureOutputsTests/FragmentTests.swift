import CaptureCore
import CaptureOutputs
import CaptureSystem
import Testing

/// How often a movie's newest part is brought into its file.
@Suite(.timeLimit(.minutes(10))) struct `A fragment` {
    private static let long: Int64 = 3_000_000_000

    /// How many fragments of MP4 and MOV, or clusters of Matroska, a file has.
    private func count(_ path: String, _ container: String) throws -> Int {
        let bytes = try Shell.bytes(path)
        func isThere(_ word: [UInt8], _ place: Int) -> Bool { bytes[place...].starts(with: word) }
        return bytes.indices.dropLast(12).count { place in
            guard container != "mkv" else { return isThere([0x1F, 0x43, 0xB6, 0x75], place) }
            return isThere(Array("moof".utf8), place) && isThere(Array("mfhd".utf8), place + 8)
        }
    }

    @Test(arguments: Material.movies, [OutputDescription.usualFragmentInterval, long])
    func `is as long as it was asked for`(container: String, interval: Int64) throws {
        let movie = try NumberedMovie(
            format: container,
            videoCodec: "h264",
            audioCodec: "aac",
            fragmentInterval: interval
        )
        for index in 1...9 {
            try movie.publish(30, soundAhead: 2000)
            try movie.taken(index * 30 - 10)
        }
        #expect(try movie.end().frames == 270)
        #expect(try Probe.decodes(movie.rig.path))
        let found = try count(movie.rig.path, container)
        // Of nine seconds. Matroska begins a cluster at every keyframe, too.
        let most = container == "mkv" ? 6 : 4
        #expect(interval == Self.long ? (3...most).contains(found) : found >= 16, "\(found)")
    }

    @Test func `is what is counted while it is recorded`() throws {
        var length = 0.0
        for _ in 0..<20 {
            let begun = Timestamp.now
            let movie = try NumberedMovie(hasSound: false, fragmentInterval: Self.long)
            try movie.publish(120)
            try movie.until { $0.duration > 0 }
            guard case .progress(let counters)? = movie.rig.reports.last else {
                Issue.record("no progress")
                return
            }
            length = Double(counters.duration) / 1e9
            // When nothing comes, the clock brings what is there into the file. Then the test tries again.
            let isLate = Timestamp.now - begun >= Self.long
            _ = try movie.end()
            if !isLate || abs(length - 3) < 0.1 { break }
        }
        // Of four seconds, three are in the file.
        #expect(abs(length - 3) < 0.1)
    }

    @Test(arguments: ["mkv", "mp4"]) func `takes 64 MiB of memory at most`(container: String) throws {
        var format = Material.compressed(.mjpeg)
        format.planes[0].size = 4 << 20
        var wanted = OutputDescription(name: "m", kind: .movie, format: container)
        wanted.fragmentInterval = OutputDescription.fragmentIntervals.upperBound
        let rig = try Rig(wanted, video: format, slots: 12)
        let image = try CopyTests.images(1)[0]
        let picture = image + [UInt8](repeating: 0, count: (4 << 20) - image.count)
        for index in 0..<20 {
            try rig.frame(picture, at: Int64(index) * 33_333_333)
            try rig.taken(index)
        }
        try rig.progress { $0.bytes >= 60 << 20 }
        #expect(try rig.finished(try rig.end()).frames == 20)
    }
}
