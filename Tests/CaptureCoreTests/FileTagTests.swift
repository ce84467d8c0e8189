import CaptureCore
import Testing

@Suite struct `A tag of a file` {
    private func refusal(_ tag: FileTag, _ value: String, _ format: String = "mkv") -> String? {
        do throws(CaptureError) {
            try FileTag.check([tag: value], for: format)
            return nil
        } catch {
            return error.code == .invalidArgument ? error.message : "\(error.code)"
        }
    }

    @Test(arguments: [
        "", "two\nlines", "\u{1b}[31m", "two\u{2028}lines", "\u{202e}live", "\u{0}", "broken \u{fffd}",
        String(repeating: "x", count: 1001),
    ])
    func `is one line of at most 1000 bytes`(value: String) {
        #expect(refusal(.title, value)?.hasPrefix("the tag 'title' has") == true)
    }

    @Test(arguments: [
        "+48.1371+011.5754/", "-90-180/", "+48.1371+011.5754+519/", "+00.5-000.5-11.25/", "+90.0+180.0/",
    ])
    func `of a place is in degrees`(place: String) {
        #expect(refusal(.location, place) == nil)
    }

    @Test(arguments: [
        "Munich", "48.1371+011.5754/", "+48.1371+011.5754", "+48.1371/", "+48.1371+11.5754/", "+91+000/", "+00+181/",
        "+48.+011/", "+48+011+1+2/", "+48+01a/", "++48+011/", "/", "+48+011CRSWGS_84/", "+4e+011/", "+４８+011/",
        "+90.1+000/", "+48+180.5/", "+48+011/ ",
    ])
    func `of a wrong place is refused`(place: String) {
        #expect(refusal(.location, place)?.contains("ISO 6709") == true)
    }

    @Test func `is refused for a file that would not keep it`() {
        #expect(refusal(.comment, "a", "flac")?.contains("not kept by flac files; they keep title, desc") == true)
        #expect(refusal(.comment, "a", "opus")?.contains("not kept") == true)
        #expect(refusal(.location, "+48+011/", "wav")?.contains("not kept by wav files") == true)
        #expect(refusal(.title, "a", "y4m") == "the tag 'title' is not kept by y4m files")
        for format in OutputDescription.formats(of: .movie) + ["m4a"] {
            #expect(FileTag.known(to: format) == FileTag.allCases)
        }
    }

    @Test func `is for movies and sounds, and goes to the recorder as it is`() throws {
        var frames = OutputDescription(name: "f", kind: .frames, format: "raw", tags: [.title: "a"])
        let error = #expect(throws: CaptureError.self) { try frames.checkTags() }
        #expect(error?.message.contains("only movies and sounds") == true)
        frames.tags = [:]
        try frames.checkTags()
        let tags: [FileTag: String] = [.title: "a=b \\n \\", .location: "+48+011/"]
        let job = RecordingJob(
            output: OutputDescription(name: "m", kind: .movie, format: "mkv", tags: tags),
            hasVideo: true,
            hasAudio: false
        )
        #expect(try RecordingJob(text: job.text) == job)
    }
}
