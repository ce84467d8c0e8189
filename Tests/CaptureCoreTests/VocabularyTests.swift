import CaptureCore
import Foundation
import Testing

@Suite struct `The vocabulary` {
    @Test(arguments: ["YUYV", "NV12", "MJPG", "Y10 ", "RGB3", "Y16"])
    func `a pixel format reads back by its name`(_ name: String) {
        let format = PixelFormat(name: name)
        var shown = name
        while shown.hasSuffix(" ") { shown.removeLast() }
        #expect(format?.description == shown)
    }

    @Test func `a big-endian pixel format keeps its mark`() {
        #expect(
            PixelFormat(name: "Y16-BE")?.description == nil || PixelFormat(name: "Y16 -BE")?.description == "Y16-BE"
        )
        #expect(PixelFormat(name: "Y16 -BE")?.rawValue == PixelFormat(name: "Y16 ").map { $0.rawValue | 1 << 31 })
    }

    @Test(arguments: ["", "TOOLONG", "Y\u{7f}", "Ü12"])
    func `what is no four-character code is none`(_ name: String) {
        #expect(PixelFormat(name: name) == nil)
    }

    @Test(arguments: [
        (FrameInterval(1, 30), "30 fps"), (FrameInterval(2, 25), "12.5 fps"), (FrameInterval(1001, 30000), "29.97 fps"),
        (FrameInterval(1, 0), "1 fps"), (FrameInterval(0, 1), "0 fps"),
    ])
    func `a frame interval is shown as a rate`(_ interval: FrameInterval, _ text: String) {
        #expect(interval.description == text)
    }

    @Test func `a time beyond the last is the last`() {
        #expect(Timestamp(nanoseconds: 5).advanced(by: .max).nanoseconds == .max)
        #expect(Timestamp(nanoseconds: -5).advanced(by: .min).nanoseconds == .min)
        #expect(Timestamp(nanoseconds: 5).advanced(by: -7).nanoseconds == -2)
    }

    @Test func `timestamps of timeval and timespec agree`() {
        #expect(Timestamp(seconds: 3, microseconds: 250) == Timestamp(seconds: 3, nanoseconds: 250_000))
        #expect(Timestamp(seconds: 1, nanoseconds: 0) - Timestamp(seconds: 2, nanoseconds: 0) == -1_000_000_000)
        #expect(Timestamp(nanoseconds: .max) - Timestamp(nanoseconds: .min) == .max)
        #expect(Timestamp(nanoseconds: .min) - Timestamp(nanoseconds: .max) == .min)
    }

    @Test(arguments: [
        (CaptureError.Code.denied, Int32(77)), (.noSuchAsset, 66), (.noSuchAlbum, 66), (.staleToken, 65),
        (.overQuota, 74), (.undecided, 75),
        (.revoked, 77), (.restricted, 77), (.missingUsageDescription, 78),
        (.busy, 75),
        (.dismissed, 75), (.timedOut, 75), (.nobodyToAsk, 75), (.askedTooOften, 75),
        (.noSuchDevice, 66), (.noSuchSession, 66),
        (.unreachable, 69), (.internalFault, 70), (.inputOutput, 74), (.deviceLost, 74), (.recorderLost, 74),
        (.usage, 64), (.badData, 65),
    ])
    func `every fault has its exit code`(_ code: CaptureError.Code, _ exit: Int32) {
        #expect(code.exitCode == exit)
    }

    @Test func `no fault is without an exit code, and the interface's description names each`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        let known = Set(CaptureError.Code.exitCodes.keys.map(\.rawValue))
        let source = try text("Sources/CaptureCore/CaptureError.swift")
        #expect(Set(source.matches(of: /Self\(rawValue: "(\w+)"\)/).map { String($0.1) }) == known)
        let description = try text("config/org.capturekit.Capture1.xml")
        let list = try #require(description.firstMatch(of: /CODE is one of ([\w,\s]+)\./))
        #expect(Set(list.1.split(whereSeparator: { !$0.isLetter }).map(String.init)) == known)
    }

    @Test func `a fault of a newer daemon still has an exit code`() {
        #expect(CaptureError.Code(rawValue: "FromTheFuture").exitCode == 70)
    }
}

@Suite struct `What daemon and recorder say to each other` {
    @Test func `a job reads back as it was written`() throws {
        var output = OutputDescription(
            name: "a=b\nc\\d",
            kind: .movie,
            format: "mp4",
            videoCodec: "h264",
            audioCodec: "opus",
            videoBitRate: 4_000_000,
            quality: 77,
            duration: 5_000_000_000,
            frameCount: 12,
            maxFileSize: 70_000,
            minFreeSpace: 5
        )
        output.settings.rotation = 270
        output.settings.isMirrored = true
        output.settings.channels = [3, 0]
        output.settings.gain = -12.5
        let job = RecordingJob(output: output, hasVideo: true, hasAudio: false)
        #expect(try RecordingJob(text: job.text) == job)
    }

    @Test func `reports read back as they were written`() throws {
        var counters = OutputStatistics()
        counters.frames = 300
        counters.samples = 480_000
        counters.missedFrames = 2
        counters.drift = -98
        counters.videoEncoder = "libx264"
        counters.encoderPreset = "superfast"
        counters.pictures = [
            CapturedPicture(time: 7, bytes: 9), CapturedPicture(time: 1 << 62, lostBefore: 3, bytes: 0),
        ]
        counters.reachedLimit = .fileSize
        counters.levels = [AudioLevel(average: -23.01, peak: -20), AudioLevel()]
        let failure = CaptureError(.inputOutput, "no space left on device: 'out=put' \\", errno: 28)
        for report in [
            RecorderReport.ready(counters), .progress(counters), .finished(counters), .failed(failure, counters),
            .levels(counters.levels), .levels([]),
        ] {
            #expect(try RecorderReport(text: report.text) == report)
        }
    }

    @Test(arguments: [
        "", "message=job\n", "message=job\nkind=hologram\n", "nonsense",
        "message=job\nkind=movie\nname=a\nquality=-1\n",
    ])
    func `a job that is none is refused and says why`(_ text: String) {
        let error = #expect(throws: CaptureError.self) { try RecordingJob(text: text) }
        #expect(error?.code == .badData)
        #expect(error?.message.isEmpty == false)
    }

    @Test(arguments: [
        RecorderCommand.stop(at: Timestamp(nanoseconds: 7)), .videoMoved, .audioMoved, .file, .setGain(-4.5),
        .shoot(PictureOrder(passing: 6, exposure: 5, bias: -1500), at: Timestamp(nanoseconds: 7)),
        .shoot(PictureOrder(passing: 0, exposure: 0, isLit: false), at: Timestamp(nanoseconds: -7)),
        .watchLevels(true), .watchLevels(false),
    ])
    func `commands read back`(_ command: RecorderCommand) throws {
        #expect(try RecorderCommand(text: command.text) == command)
    }

    @Test func `an unknown command is refused`() {
        #expect(throws: CaptureError.self) { try RecorderCommand(text: "message=explode\n") }
        #expect(throws: CaptureError.self) { try RecorderCommand(text: "message=stop\n") }
    }
}
