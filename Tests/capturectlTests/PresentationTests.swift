import CaptureBus
import CaptureMessages
import Testing

@testable import CaptureCore
@testable import CaptureKit
@testable import capturectl

struct PresentationTests {
    @Test func `columns are aligned, numbers to the right, nothing hangs behind a line`() {
        var table = Table([">ID", "NAME", "WHY"])
        table.add(["1", "a camera", ""])
        table.add(["20", "b", "gone"])
        #expect(table.text == "ID  NAME      WHY\n 1  a camera\n20  b         gone\n")
    }

    @Test func `a table without rows is nothing`() {
        #expect(Table(["A"]).text.isEmpty)
    }

    @Test func `a cell cannot break its row`() {
        var table = Table(["NAME"])
        table.add(["a\nb\u{1B}[31m"])
        #expect(table.text == "NAME\na?b?[31m\n")
    }

    @Test func `JSON keeps the order of keys and escapes what a terminal would obey`() {
        let json: JSON = ["b": JSON(1), "a": ["x", .null, JSON(true)], "c": JSON("\"\u{1B}\n\u{9B}ü")]
        #expect(json.line == "{\"b\":1,\"a\":[\"x\",null,true],\"c\":\"\\\"\\u001b\\n\\u009bü\"}")
        #expect((["a": .null, "b": "", "c": [], "d": JSON(false)] as JSON).line == "{\"c\":[],\"d\":false}")
        #expect(JSON.array([]).pretty == "[]")
        #expect((["a": [JSON(UInt64.max)]] as JSON).pretty == "{\n  \"a\": [\n    18446744073709551615\n  ]\n}")
        #expect(JSON(Double.nan) == .null)
    }

    @Test func `times are of RFC 3339, durations seconds and ids texts`() {
        #expect(JSON.time(seconds: 0) == "1970-01-01T00:00:00Z")
        #expect(JSON.time(milliseconds: 1_772_368_496_007) == "2026-03-01T12:34:56.007Z")
        #expect(JSON.time(milliseconds: -1) == "1969-12-31T23:59:59.999Z")
        #expect(JSON.time(nanoseconds: 1_700_000_000_000_000_007) == "2023-11-14T22:13:20.000000007Z")
        #expect(JSON.seconds(milliseconds: 1500) == .number(1.5))
        #expect(JSON.seconds(nanoseconds: 250_000_000) == .number(0.25))
        #expect(JSON.id(UInt64.max) == "18446744073709551615")
    }

    @Test(arguments: [
        (0, "00:00.0"), (61_549_999_999, "01:01.5"), (7_999_999_992, "00:08.0"), (3_723_000_000_000, "1:02:03.0"),
        (-5, "00:00.0"),
    ])
    func `times read as minutes, with hours when there are any`(nanoseconds: Int64, text: String) {
        #expect(Quantities.time(nanoseconds) == text)
    }

    @Test(arguments: [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (3 << 30, "3.0 GiB")])
    func `sizes read in the unit that fits`(bytes: UInt64, text: String) {
        #expect(Quantities.size(bytes) == text)
    }

    @Test func `a session that is interrupted for a while is shown so, with the reason`() {
        let why = CaptureError(.switchedOff, "the camera is switched off")
        let event = DaemonEvent.sessionChanged(3, SessionStatus(.suspended, why))
        let now = Clock.now()
        #expect(EventPresentation.text(event, at: now).hasSuffix("session 3 is suspended: the camera is switched off"))
        let line = EventPresentation.json(event, at: now).line
        #expect(line.contains("\"state\":\"suspended\",\"reasonCode\":\"SwitchedOff\""))
    }

    @Test func `one is not several`() {
        #expect(Quantities.count(1, "camera") == "1 camera")
        #expect(Quantities.count(0, "camera") == "0 cameras")
        var health = DaemonHealth()
        health.version = "1"
        health.configurationProblems = ["a:1: b"]
        #expect(HealthPresentation.text(health, []).contains("1 problem in its configuration\n"))
    }

    @Test func `what is in use is shown with who uses it, and what was until a moment ago with its end`() throws {
        var facts: [String: BusValue] = [
            "id": .uint64(41), "state": .string("live"), "service": .string("camera"), "device": .string("v4l2:1"),
            "device-name": .string("Front\u{1B}[2J"), "user": .string("ann"), "program": .string("exe:/a"),
            "session": .uint32(7), "began": .int64(1_700_000_000_000), "ended": .int64(0),
        ]
        let live = try #require(LiveUse(.properties(facts)))
        facts["state"] = .string("ended")
        facts["ended"] = .int64(1_700_000_001_000)
        let ended = try #require(LiveUse(.properties(facts)))
        let rows = HealthPresentation.tables([], [live, ended])[0].text.split(separator: "\n").suffix(2)
        #expect(rows.first?.hasPrefix("Front?[2J  camera   ann   exe:/a         7  ") == true)
        #expect(rows.first?.hasSuffix("  now") == true)
        #expect(rows.last?.contains("now") == false)
        let now = Clock.Moment(seconds: 0)
        #expect(
            EventPresentation.text(.useChanged(live), at: now)
                .hasSuffix("  camera Front?[2J is used by exe:/a of ann")
        )
        #expect(EventPresentation.text(.useChanged(ended), at: now).contains("is no longer used by exe:/a of ann"))
        let json = EventPresentation.json(.useChanged(ended), at: now)
        #expect(json["event"] == JSON("useChanged"))
        #expect(json["state"] == JSON("ended"))
        #expect(json["ended"] == "2023-11-14T22:13:21.000Z")
        #expect(UsePresentation.json(live)["ended"] == .null)
        #expect(HealthPresentation.json(DaemonHealth(), [], [live])["uses"] != .array([]))
    }

    @Test func `the meter is empty for silence, grows with the sound, and marks what is too loud`() {
        #expect(LevelMeter.bar(0) == "[            ]")
        #expect(LevelMeter.bar(1000) == "[===========!]")
        #expect(LevelMeter.bar(100) == "[=======     ]")
        #expect(Quantities.level(500) == "-6 dB")
        #expect(Quantities.level(0) == "-inf dB")
    }

    @Test func `the progress line shows time, size, frames, drops and level, and fits the terminal`() {
        var output = OutputStatistics()
        output.duration = 12_300_000_000
        output.bytes = 2_097_152
        output.frames = 369
        output.samples = 1
        output.peak = 500
        output.missedFrames = 1
        var input = InputStatistics()
        input.drops = ["no-slot": 2]
        var statistics = SessionStatistics()
        statistics.outputs = ["movie": output]
        statistics.inputs = ["camera": input]
        let line = ProgressLine(width: 200).text(statistics, output: "movie")
        #expect(line == "00:12.3  2.0 MiB  369 frames  3 dropped  [=========== ] -6 dB")
        #expect(ProgressLine(width: 20).text(statistics, output: "movie").count == 19)
        output.duration = 36_000_000_000_000
        output.bytes = 50 << 30
        output.frames = 1_080_000
        statistics.outputs = ["movie": output]
        let long = ProgressLine(width: 60).text(statistics, output: "movie")
        #expect(long == "10:00:00.0  50.0 GiB  1080000 frames  3 dropped  -6 dB")
        statistics.inputs["microphone"] = input
        #expect(ProgressLine(width: 200).text(statistics, output: "movie").contains("  3 dropped  2 periods lost  ["))
    }

    @Test func `without sound the progress line counts whole seconds that have passed`() {
        var output = OutputStatistics()
        output.duration = 12_990_000_000
        output.bytes = 1024
        output.frames = 389
        var statistics = SessionStatistics()
        statistics.outputs = ["movie": output]
        #expect(ProgressLine(width: 80).text(statistics, output: "movie") == "00:12  1.0 KiB  389 frames  0 dropped")
    }

    @Test(arguments: [0, 130, 499, 860]) func `the progress line without sound shows each second once`(start: Int) {
        var pace = ProgressPace(isShown: true)
        var output = OutputStatistics()
        var (now, shown, questions) = (start, [Int](), 0)
        var ticks = pace.next(after: nil) ?? ProgressPace.Ticks(first: 0, interval: 0)
        while now < 30_000 {
            now += ticks.first
            questions += 1
            // The recorder reports a little less often than four times a second.
            output.duration = Int64(now / 251 * 251) * 1_000_000
            let seconds = Int(output.duration / 1_000_000_000)
            if shown.last != seconds { shown.append(seconds) }
            ticks = pace.next(after: output) ?? ProgressPace.Ticks(first: ticks.interval, interval: ticks.interval)
        }
        #expect(shown == Array(shown[0]...shown[shown.count - 1]))
        #expect(questions < 35)
    }

    @Test func `counters of sound are asked for as often as the meter moves, those that nobody sees seldom`() {
        var output = OutputStatistics()
        output.samples = 1
        var lively = ProgressPace(isShown: true)
        #expect(lively.next(after: nil) == ProgressPace.Ticks(first: 250, interval: 250))
        #expect(lively.next(after: output) == nil)
        var unseen = ProgressPace(isShown: false)
        #expect(unseen.next(after: nil) == ProgressPace.Ticks(first: 2000, interval: 2000))
    }

    @Test func `the summary names drops by cause and what was encoded by what`() {
        var output = OutputStatistics()
        output.frames = 100
        output.samples = 48000
        output.drift = -12
        output.videoEncoder = "libx264"
        output.audioEncoder = "aac"
        var input = InputStatistics()
        input.drops = ["sequence-gap": 2, "overrun": 0]
        var statistics = SessionStatistics()
        statistics.outputs = ["movie": output]
        statistics.inputs = ["camera": input]
        let outcome = SessionOutcome(statistics: statistics, output: "movie")
        statistics.inputs = [:]
        let whole = SessionOutcome(statistics: statistics, output: "movie")
        let summary = RecordingSummary(file: "a.mkv", format: "mkv", outcome: outcome)
        #expect(summary.text.contains("a.mkv: mkv, libx264 + aac"))
        #expect(summary.text.contains("100 frames, 2 dropped (2 sequence-gap)"))
        #expect(summary.text.contains("clock drift -12 ppm"))
        #expect(summary.json["drops"] == ["sequence-gap": JSON(2)])
        #expect(summary.json["error"] == .null)
        #expect(summary.losses == "100 frames, 2 dropped (2 sequence-gap)")
        #expect(RecordingSummary(file: nil, format: "", outcome: whole).losses == nil)
    }

    @Test func `a lost period of sound is no lost frame`() {
        var output = OutputStatistics()
        (output.frames, output.samples, output.videoEncoder) = (100, 48000, "libx264")
        var input = InputStatistics()
        input.drops = ["overrun": 4]
        var statistics = SessionStatistics()
        statistics.outputs = ["movie": output]
        statistics.inputs = ["camera": InputStatistics(), "microphone": input]
        let outcome = SessionOutcome(statistics: statistics, output: "movie")
        let summary = RecordingSummary(file: "a.mkv", format: "mkv", outcome: outcome)
        #expect(summary.text.contains("\n  100 frames, 0 dropped\n"))
        #expect(summary.text.contains("\n  48000 sample frames, periods: 4 dropped (4 overrun), clock drift 0 ppm\n"))
        #expect(summary.json["drops"] == .object([]))
        #expect(summary.json["droppedPeriods"] == ["overrun": JSON(4)])
        #expect(summary.losses == nil)
    }

    @Test(arguments: [
        ("veryfast", "use --encoder-preset superfast"), ("ultrafast", "choose a smaller size or rate with"),
    ])
    func `the summary says when encoding did not keep up, and what helps`(preset: String, advice: String) {
        var output = OutputStatistics()
        (output.frames, output.videoEncoder, output.encoderPreset) = (100, "libx264", preset)
        var statistics = SessionStatistics()
        func text() -> String {
            statistics.outputs = ["movie": output]
            let outcome = SessionOutcome(statistics: statistics, output: "movie")
            return RecordingSummary(file: "a.mkv", format: "mkv", outcome: outcome).text
        }
        #expect(!text().contains("keep up"))
        output.missedFrames = 7
        #expect(text().contains("7 slow-recorder"))
        #expect(text().contains("encoding with preset \(preset) did not keep up; \(advice)"))
    }

    @Test func `counters that a recorder has gone past are told as the last known, and apart for programs`() {
        var output = OutputStatistics()
        output.frames = 80
        output.duration = 2_600_000_000
        var statistics = SessionStatistics()
        statistics.outputs = ["movie": output]
        let lost = CaptureError(.unreachable, "the capture daemon went away")
        var outcome = SessionOutcome(statistics: statistics, output: "movie", error: lost, isFinal: false)
        var summary = RecordingSummary(file: "a.mkv", format: "mkv", outcome: outcome)
        let lines = summary.text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("a.mkv: mkv, its recorder still finishes it") == true)
        #expect(lines.last == "  last known: 0 B, 00:02.6, 80 frames, 0 dropped")
        #expect(summary.json["final"] == JSON(false))
        #expect(summary.json["frames"] == nil)
        #expect(summary.json["lastKnown"]?["frames"] == JSON(80))
        outcome.statistics = SessionStatistics()
        summary = RecordingSummary(file: "a.mkv", format: "mkv", outcome: outcome)
        #expect(!summary.text.contains("last known"))
        #expect(summary.json["lastKnown"] == .null)
        outcome.isFinal = true
        #expect(RecordingSummary(file: "a.mkv", format: "mkv", outcome: outcome).json["frames"] == JSON(0))
    }

    private static let exits: [(CaptureError.Code, Int32)] = [
        (.usage, 64), (.invalidArgument, 65), (.noSuchFormat, 65), (.noSuchDevice, 66), (.noSuchSession, 66),
        (.unreachable, 69),
        (.internalFault, 70), (.inputOutput, 74), (.deviceLost, 74), (.recorderLost, 74), (.busy, 75),
        (.dismissed, 75), (.timedOut, 75), (.nobodyToAsk, 75), (.denied, 77), (.restricted, 77), (.revoked, 77),
        (.missingUsageDescription, 78), (.init(rawValue: "Unheard"), 70),
    ]

    @Test(arguments: exits)
    func `errors exit with their code of sysexits`(code: CaptureError.Code, exit: Int32) {
        #expect(Program.report(CaptureError(code, "a sentence")) == exit)
    }

    @Test func `an identity is shown with the parts that there are`() {
        var identity = ProgramIdentity(
            program: "exe:/usr/bin/tool",
            tier: "claimed",
            user: "ann",
            userID: 1000,
            processID: 7,
            isByPid: true,
            detail: "the session 3, found by pid; runs /usr/bin/tool",
            session: "3",
            file: ProgramFile(path: "/usr/bin/tool", device: 5, inode: 6, isProtected: true)
        )
        #expect(
            AuthPresentation.text(identity) == """
                program  exe:/usr/bin/tool
                tier     claimed
                user     ann (1000)
                process  7, found by pid
                file     /usr/bin/tool (device 5, inode 6, which only root can replace)
                session  3
                known by the session 3, found by pid; runs /usr/bin/tool
                """
        )
        let json = AuthPresentation.json(identity)
        #expect(json["found"] == "by pid")
        #expect(json["unit"] == .null)
        #expect(json["session"] == "3")
        #expect(json["file"]?["inode"] == "6")
        #expect(json["file"]?["protected"] == .bool(true))
        #expect(json["file"]?["changed"] == .null)
        identity.file = ProgramFile(
            path: "/a",
            device: 5,
            inode: 6,
            changed: 1_700_000_000_000_000_007,
            isProtected: false
        )
        let moment = Clock.Moment(seconds: 1_700_000_000).text
        #expect(AuthPresentation.text(identity).contains("file     /a (device 5, inode 6, changed \(moment))\n"))
        #expect(AuthPresentation.json(identity)["file"]?["changed"] == "2023-11-14T22:13:20.000000007Z")
        identity.isByPid = false
        identity.label = "unconfined"
        identity.sandbox = "Flatpak instance 1"
        identity.file = nil
        let text = AuthPresentation.text(identity)
        #expect(text.contains("process  7, found by process descriptor\nsession  3\nsandbox  Flatpak instance 1\n"))
        #expect(text.contains("label    unconfined\n"))
        #expect(AuthPresentation.json(identity)["file"] == .null)
    }

    @Test func `a list of answers says what the programs were made of`() {
        let entry = AuthorizationEntry(
            user: "ann",
            program: "exe:/a",
            service: "camera",
            status: .denied,
            stored: .denied,
            policy: "",
            tier: "claimed",
            reason: "answer",
            detail: "the session 3, found by pid; runs /a (device 5, inode 6)",
            file: ProgramFile(path: "/a", device: 5, inode: 6, isProtected: false)
        )
        let table = AuthPresentation.table([entry]).text
        #expect(table.contains("MADE OF"))
        #expect(table.contains("found by pid; runs /a (device 5, inode 6)"))
        #expect(AuthPresentation.json(entry)["file"]?["device"] == "5")
    }
}
