import CaptureCore
import Testing

/// What a recorder may report, and when. It runs media from strangers.
@Suite struct RecorderReportTests {
    private static let progress = RecorderReport.progress(OutputStatistics()).text

    @Test(arguments: [
        ("frames=0", "frames=-1"), ("frames=0", "frames=18446744073709551615"),
        ("bytes=0", "bytes=9223372036854775807"),
        ("duration=0", "duration=-1"), ("peak=0", "peak=-5"), ("drift=0", "drift=99999999999"), ("queue=0", "queue=-1"),
        ("queue=0", "queue=9999999999"), ("message=progress", "message=progress\nmore=1"), ("samples=0\n", ""),
        ("levels=", "levels=1"), ("levels=", "levels=nan/0"), ("levels=", "levels=-161/0"), ("levels=", "levels=0/0/0"),
        ("levels=", "levels=" + String(repeating: "0/0 ", count: 65)), ("reached-limit=", "reached-limit=moon"),
        ("message=progress", "message=copied"), ("message=progress", "message=failed"),
    ]) func `a report with an unknown key, or a number out of range, is refused`(
        from: String,
        to: String
    ) {
        let wrong = Self.progress.replacing(from, with: to)
        #expect(wrong != Self.progress)
        #expect(throws: CaptureError.self, "\(wrong)") { try RecorderReport(text: wrong) }
    }

    @Test func `a recorder's text is neutralized, and its code is never a decision of others`() throws {
        let said = CaptureError(
            .revoked,
            "a\u{1b}[31mb\u{202e}c\nd" + String(repeating: "e", count: 900),
            errno: 5
        )
        guard case .failed(let error, _) = try RecorderReport(text: RecorderReport.failed(said, .init()).text) else {
            Issue.record("no failure")
            return
        }
        #expect(error.code == .internalFault)
        #expect(error.message.hasPrefix("a[31mbcde"))
        #expect(error.message.count == 500)
        var counters = OutputStatistics()
        counters.videoEncoder = "lib\u{1b}x264" + String(repeating: "4", count: 900)
        guard case .progress(let heard) = try RecorderReport(text: RecorderReport.progress(counters).text) else {
            Issue.record("no progress")
            return
        }
        #expect(heard.videoEncoder.hasPrefix("libx264"))
        #expect(heard.videoEncoder.count == 64)
    }

    @Test(arguments: ["1:2", "1:2:3:4", "-1:0:0", "a:0:0", "9223372036854775807:0:0", "1::2", "17"])
    func `a report of pictures that cannot be is refused`(pictures: String) {
        let text = pictures == "17" ? String(repeating: "1:0:0 ", count: 17) : pictures
        let wrong = Self.progress.replacing("pictures=\n", with: "pictures=\(text)\n")
        #expect(wrong != Self.progress)
        #expect(throws: CaptureError.self) { try RecorderReport(text: wrong) }
    }

    @Test func `reports and commands of segments and pre-rolls say the same after they were sent`() throws {
        let segment = MovieSegment(number: 3, time: 4, duration: 5, frames: 6, bytes: 7, isComplete: false)
        for report: RecorderReport in [
            .segment(.began(2)), .segment(.finished(segment)), .file(nil),
            .file(CaptureError(.inputOutput, "full", errno: 28)),
        ] {
            #expect(try RecorderReport(text: report.text) == report)
        }
        for command: RecorderCommand in [
            .cut(at: Timestamp(nanoseconds: 5)), .begin(at: Timestamp(nanoseconds: 6)), .file,
        ] {
            #expect(try RecorderCommand(text: command.text) == command)
        }
        var job = RecordingJob(
            output: OutputDescription(name: "m", kind: .movie, format: "mkv", preRoll: 9),
            hasVideo: true,
            hasAudio: false
        )
        job.output.fragmentInterval = 7
        job.preRollBytes = 8
        job.output.segments = SegmentRule(duration: 1, fileSize: 2, isAligned: true)
        #expect(try RecordingJob(text: job.text) == job)
        for wrong in [
            "message=segment-began\nnumber=0\n", "message=segment-finished\nnumber=1\n", "message=file\ncode=x\n",
        ] {
            #expect(throws: CaptureError.self) { try RecorderReport(text: wrong) }
        }
        #expect(throws: CaptureError.self) { try RecordingJob(text: job.text.replacing("1 2 1", with: "1 -2 1")) }
    }

    private static let ready = RecorderReport.ready(.init()).text
    private static let levels = RecorderReport.levels([AudioLevel(average: -3, peak: 0)]).text
    private static let finished = RecorderReport.finished(.init()).text
    private static let failed = RecorderReport.failed(CaptureError(.inputOutput, "full"), .init()).text

    @Test(arguments: [[failed], [ready, finished], [ready, failed], [ready, progress, levels, finished]])
    func `a recorder's reports are accepted in order`(texts: [String]) throws {
        var order = RecorderReports()
        for text in texts { _ = try order.next(text) }
    }

    @Test(arguments: [
        [progress], [levels], [ready, finished, levels], [finished], [ready, ready], [ready, finished, progress],
        [ready, finished, finished],
        [failed, ready], [ready, failed, failed],
    ]) func `a report out of order is refused`(texts: [String]) throws {
        var order = RecorderReports()
        for text in texts.dropLast() { _ = try order.next(text) }
        let last = try #require(texts.last)
        #expect(throws: CaptureError.self) { try order.next(last) }
    }
}
