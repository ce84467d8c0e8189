import ArgumentParser
import CaptureKit
import Testing

@testable import capturectl

struct OptionTests {
    private func plan(_ arguments: String) throws -> RecordingPlan {
        try RecordCommand.parse(arguments.split(separator: " ").map(String.init)).recording.plan()
    }

    @Test func `a movie takes the first camera and the first microphone`() throws {
        let plan = try plan("out.mkv")
        #expect(plan.inputs == [.camera(), .microphone()])
        #expect(plan.format == FileFormat(kind: .movie, name: "mkv"))
    }

    @Test func `devices, preset and duration are taken over`() throws {
        let plan = try plan("--camera /dev/video2 --microphone hw:1,0 --preset low --duration 2.5 out.mp4")
        #expect(plan.inputs == [.camera("/dev/video2", request: Preset.low.request), .microphone("hw:1,0")])
        let output = try plan.output(to: try OutputFile(creating: "/dev/null").descriptor)
        #expect(output.description.duration == 2_500_000_000)
        #expect(output.description.format == "mp4")
    }

    @Test func `common options have short forms`() throws {
        let plan = try plan("-c /dev/video2 -m hw:1,0 -p low -f mov -d 2.5 -q 50 -y out")
        let long =
            "--camera /dev/video2 --microphone hw:1,0 --preset low --format mov --duration 2.5 --quality 50 --overwrite out"
        let same = try self.plan(long)
        #expect(plan.inputs == same.inputs)
        let file = try OutputFile(creating: "/dev/null").descriptor
        #expect(try plan.output(to: file).description == same.output(to: file).description)
        #expect(try FramesCommand.parse(["-c", "a", "-n", "3", "-f", "raw"]).count == 3)
        #expect(try ListenCommand.parse(["-m", "a", "-d", "3"]).duration == 3)
        #expect(try PhotoCommand.parse(["-s", "7", "-q", "5", "-y", "a.jpg"]).session == 7)
        #expect(try SessionsCommand.parse(["-a", "-w"]).table.wide)
        #expect(try HistoryCommand.parse(["-u", "ann", "-p", "/a", "-s", "camera"]).program == "exe:/a")
    }

    @Test(arguments: [
        ("recrod", "no command 'recrod'; did you mean 'record'?"),
        ("auth lst", "no command 'auth lst'; did you mean 'auth list'?"),
        ("--bus session Devices", "no command 'Devices'; did you mean 'devices'?"),
        ("help recrod", "no command 'recrod'; did you mean 'record'?"),
        ("library albun list", "no command 'library albun'; did you mean 'library album'?"),
        ("kitchen", "no command 'kitchen'; 'capturectl --help' lists the commands"),
        ("auth kitchen", "no command 'auth kitchen'; 'capturectl auth --help' lists the commands"),
    ])
    func `a misspelt command is named, with the one that was meant`(line: String, message: String) async {
        let arguments = line.split(separator: " ").map(String.init)
        let error = #expect(throws: CaptureError.self) { try CommandName.check(arguments) }
        #expect(error?.message == message)
        #expect(await Program.run(arguments) == 64)
    }

    @Test func `completion finds the device that was named before, and offers no word that a shell would run`() {
        for line in [
            "frames --camera=a --video-format", "frames --camera = a --video-format", "frames -c 'a' --video-format",
        ] {
            let words = line.split(separator: " ").map(String.init)
            #expect(CompletionWords(words, words.count, "").value(of: "--camera", "-c") == "a")
        }
        #expect(CompletionWords(["frames", "", "-c", "a"], 1, "").value(of: "--camera", "-c") == nil)
        #expect(CompletionWords.isHarmless("Trip to Rome"))
        for word in ["$(id)", "`id`", "a\"b", "a\nb", "~root", "{a,b}", "a;b"] {
            #expect(!CompletionWords.isHarmless(word))
        }
    }

    @Test(arguments: [
        "record a.mkv", "--bus session auth list", "library kept", "library kept --json", "help", "--version",
    ])
    func `commands that there are pass`(line: String) throws {
        try CommandName.check(line.split(separator: " ").map(String.init))
    }

    @Test(arguments: [("2.5", 2.5), ("10s", 10), ("1m30s", 90), ("1h", 3600)] as [(String, Double)])
    func `a duration is seconds or a span of time`(text: String, seconds: Double) throws {
        let output = try plan("--duration \(text) out.mkv").output(to: try OutputFile(creating: "/dev/null").descriptor)
        #expect(output.description.duration == Int64(seconds * 1e9))
    }

    @Test(arguments: ["a.mkv", "a.wav"]) func `limits of size and free space reach the output`(file: String) throws {
        let options = "--camera none --max-size 500M --min-free 1.5G \(file)"
        let output = try plan(options).output(to: try OutputFile(creating: "/dev/null").descriptor)
        #expect(output.description.maxFileSize == 500 << 20)
        #expect(output.description.minFreeSpace == 3 << 29)
    }

    @Test(
        arguments: [("", 500_000_000), ("--fragment 0.1", 100_000_000), ("--fragment 30s", 30_000_000_000)]
            as [(String, Int64)]
    )
    func `the time of a fragment reaches the output`(option: String, interval: Int64) throws {
        let output = try plan("\(option) a.mp4").output(to: try OutputFile(creating: "/dev/null").descriptor)
        #expect(output.description.fragmentInterval == interval)
    }

    @Test(arguments: [
        ("--fragment 0.09 a.mkv", "0.1 s to 30 s"), ("--fragment 31 a.mkv", "0.1 s to 30 s"),
        ("--fragment 1 a.wav", "movies"),
    ])
    func `a fragment that cannot be is refused`(line: String, right: String) {
        let error = #expect(throws: CaptureError.self) { try plan(line) }
        #expect(error?.code == .usage && error?.message.contains(right) == true)
    }

    @Test(arguments: ["a.mkv", "--camera none a.wav"]) func `tags reach the output`(file: String) throws {
        let output = try plan("--tag title=x=y --tag author=Ann \(file)")
            .output(to: try OutputFile(creating: "/dev/null").descriptor)
        #expect(output.description.tags == [.title: "x=y", .author: "Ann"])
    }

    @Test(arguments: [
        ("--tag title a.mkv", "one of these keys: title"), ("--tag mood=good a.mkv", "one of these keys"),
        ("--tag title=a --tag title=b a.mkv", "twice"), ("--tag comment=a a.flac", "not kept by flac"),
        ("--tag location=Munich a.mkv", "ISO 6709"), ("--tag title= a.mkv", "1 to 1000"),
    ])
    func `a tag that cannot be is refused`(line: String, right: String) {
        let error = #expect(throws: CaptureError.self) { try plan(line) }
        #expect(error?.code == .usage && error?.message.contains(right) == true)
    }

    @Test(arguments: [("720p", Preset.hd1280x720), ("1080p", .hd1920x1080), ("4K", .hd4K3840x2160), ("low", .low)])
    func `a preset has the names that people use`(text: String, preset: Preset) {
        #expect(Preset(argument: text) == preset)
    }

    @Test(arguments: [
        "record -dash.mkv", "photo --overwrite -h.jpg", "-vh devices", "record --duration 10x a.mkv",
        "record --max-size 5MB a.mkv", "record --max-size 1K a.mkv", "start --min-free 0 a.mkv",
        "start --min-free -1 a.mkv",
    ])
    func `a word of short options and no duration are slips`(arguments: String) async {
        #expect(await Program.run(arguments.split(separator: " ").map(String.init)) == 64)
    }

    @Test func `a path stands for the program there`() throws {
        let set = try AuthSetCommand.parse(["/usr/bin/ffmpeg", "camera", "denied"])
        #expect(set.program == "exe:/usr/bin/ffmpeg")
        #expect(try AuthSetCommand.parse(["unit:a.service", "camera", "denied"]).program == "unit:a.service")
    }

    @Test(arguments: [
        "record clip", "photo picture", "start clip.", "record --encoder-preset slow --video-codec mjpeg a.mkv",
        "photo --quality 5 a.png",
    ])
    func `a file without an extension and options without effect are refused`(arguments: String) async {
        #expect(await Program.run(arguments.split(separator: " ").map(String.init)) == 64)
    }

    @Test func `none leaves a kind out`() throws {
        #expect(try plan("--microphone none out.mkv").inputs == [.camera()])
        #expect(try plan("--camera none out.mkv").inputs == [.microphone()])
    }

    @Test func `sound files take the microphone alone`() throws {
        let plan = try plan("--camera none out.wav")
        #expect(plan.inputs == [.microphone()])
        let output = try plan.output(to: try OutputFile(creating: "/dev/null").descriptor)
        #expect(output.description.kind == .sound)
        #expect(output.mediaTypes == [.audio])
    }

    @Test func `what goes into the library has no file, and its format from its name or the option`() throws {
        let any = try plan("--to-library --duration 2")
        #expect(any.place == .library(LibraryDestination()))
        let output = try any.output(nil)
        #expect(output.file == nil)
        #expect(output.description.library == LibraryDestination())
        #expect(output.description.format == "mkv")
        #expect(output.description.duration == 2_000_000_000)
        let sound = try plan("--to-library --name talk.flac --album Trip").output(nil)
        #expect(sound.description.kind == .sound)
        #expect(sound.description.library == LibraryDestination(name: "talk.flac", album: "Trip"))
        #expect(try plan("--to-library --name talk --format opus").format.name == "opus")
    }

    @Test(arguments: [
        ("record --to-library out.mkv", "give either a file or --to-library, not both"),
        ("photo --to-library a.jpg", "give either a file or --to-library, not both"),
        ("start --album Trip out.mkv", "--album goes with --to-library"),
        ("photo --name b.jpg a.jpg", "--name goes with --to-library"),
        ("record", "give the file to write, or --to-library"), ("photo", "give the file to write, or --to-library"),
    ])
    func `a file and the library exclude each other, and that is told without a daemon`(
        line: String,
        message: String
    ) async {
        let arguments = line.split(separator: " ").map(String.init)
        let error = await #expect(throws: CaptureError.self) {
            var command = try #require(try Capturectl.parseAsRoot(arguments) as? any AsyncParsableCommand)
            try await command.run()
        }
        #expect(error?.code == .usage)
        #expect(error?.message.hasPrefix(message) == true)
    }

    @Test func `an exact format is exact`() throws {
        let plan = try plan("--video-format YUYV:640x480@30 --audio-format S16_LE:44100x1 out.mov")
        #expect(plan.inputs[0].video?.isExact == true)
        #expect(plan.inputs[0].video?.width == 640)
        #expect(plan.inputs[1].audio.sampleRate == 44100)
    }

    @Test(arguments: [
        "--camera none --microphone none out.mkv", "--camera a out.wav", "--microphone none out.flac",
        "--preset low --video-format 640x480 out.mkv", "--duration 0 out.mkv", "--duration -1 out.mkv",
        "--duration nan out.mkv", "--format avi out.avi", "--video-format YUYV:1x out.mkv",
        "", "--to-library out.mkv", "--to-library --overwrite", "--album Trip out.mkv", "--name a.mkv out.mkv",
        "--to-library --album=", "--to-library --name=", "--to-library --name a.avi", "--bit-rate 64000 talk.opus",
        "--bit-rate 64000 --video-codec mjpeg out.mkv", "--bit-rate 64000 --video-codec copy out.mkv",
        "--quality 50 --video-codec copy out.mkv", "--camera none --preset low out.mkv",
        "--camera none --video-format 640x480 out.mkv", "--camera none --video-codec h264 out.mkv",
        "--camera none --bit-rate 64000 out.mkv", "--camera none --quality 50 out.mkv",
        "--microphone none --audio-format S16_LE:44100x1 out.mkv", "--microphone none --audio-codec opus out.mkv",
    ])
    func `options that contradict each other are usage errors`(arguments: String) {
        // What the parser itself refuses is a usage error too.
        let error = #expect(throws: (any Error).self) { try plan(arguments) }
        let code = (error as? CaptureError)?.code.exitCode ?? error.map { Capturectl.exitCode(for: $0).rawValue }
        #expect(code == 64)
    }

    @Test(arguments: [
        "", "bogus", "record", "record --preset vast out.mkv", "record --duration x out.mkv", "stop", "stop 1 --all",
        "stop x", "--bus moon devices", "auth set exe:/a camera", "auth set exe:/a camera perhaps",
        "auth set exe:/a kitchen denied", "auth reset", "frames --count x", "control --reset brightness",
    ])
    func `a wrong command line exits 64`(line: String) async {
        let arguments = line.split(separator: " ").map(String.init)
        // The root alone prints its help, which is no error.
        #expect(await Program.run(arguments) == (arguments.isEmpty ? 0 : 64))
    }

    @Test(arguments: [
        ("help", 0), ("help record", 0), ("help auth set", 0), ("help record --help", 0),
        ("record --help", 0), ("help nosuch", 64), ("help auth nosuch", 64), ("help record nosuch", 64),
        ("--bus session help nosuch", 64),
    ])
    func `help on what is no command exits 64`(line: String, code: Int32) async {
        #expect(await Program.run(line.split(separator: " ").map(String.init)) == code)
    }

    @Test(arguments: [
        ["record", ""], ["start", ""], ["photo", ""], ["record", "--camera", "", "/nowhere/out.mkv"],
        ["start", "--microphone", "", "/nowhere/out.mkv"], ["photo", "--camera", " ", "/nowhere/a.jpg"],
        ["frames", "--camera", ""], ["listen", "--microphone", ""], ["control", "--camera", ""], ["formats", ""],
        ["auth", "set", "--user", "4294967295", "exe:/a", "camera", "denied"],
        ["auth", "set", "--user", "-1", "exe:/a", "camera", "denied"],
        ["auth", "set", "--user", "99999999999", "exe:/a", "camera", "denied"],
        ["auth", "set", "--user", "", "exe:/a", "camera", "denied"],
        ["auth", "reset", "--user", "4294967295", "--all"], ["auth", "status", "--user", "4294967295", "exe:/a"],
        ["auth", "set", "uid:4294967295", "camera", "denied"],
    ])
    func `names that are empty and users who cannot be exit 64, without a daemon`(arguments: [String]) async {
        #expect(await Program.run(arguments) == 64)
    }

    @Test func `help names each format of a file`() {
        let (record, photo) = (RecordCommand.helpMessage(columns: 200), PhotoCommand.helpMessage(columns: 200))
        for format in OutputDescription.formats(of: .movie) + OutputDescription.formats(of: .sound) {
            #expect(record.contains(format))
        }
        #expect(photo.contains("jpeg, png, dng or tiff."))
    }

    private static let outOfRange: [(line: String, message: String)] = [
        ("record --duration -1 out.mkv", "--duration: -1 is out of range: seconds above 0, at most a year"),
        ("record --duration=-0.5 out.mkv", "--duration: -0.5 is out of range: seconds above 0, at most a year"),
        ("record --duration nan out.mkv", "--duration: nan is out of range: seconds above 0, at most a year"),
        ("start --duration -1 out.mkv", "--duration: -1 is out of range: seconds above 0, at most a year"),
        ("listen --duration -1", "--duration: -1 is out of range: seconds above 0, at most a year"),
        ("record --bit-rate -5 out.mkv", "--bit-rate: -5 is out of range: 0 to 1000000000"),
        ("record --bit-rate=-5 out.flac", "--bit-rate: -5 is out of range: 0 to 1000000000"),
        ("frames --count -3", "--count: -3 is out of range: 1 or more"),
        ("frames --count=0", "--count: 0 is out of range: 1 or more"),
        ("photo --session -1 a.jpg", "--session: -1 is out of range: 1 to 4294967295"),
        ("photo --session 4294967296 a.jpg", "--session: 4294967296 is out of range: 1 to 4294967295"),
        ("photo --quality -1 a.jpg", "--quality: -1 is out of range: 1 to 100"),
        ("auth set --user -1 exe:/a camera denied", "'-1' is not a user's number; they go from 0 to 4294967294"),
    ]

    @Test(arguments: outOfRange)
    func `a number that is out of range is told with the range, below zero too`(line: String, message: String) async {
        let arguments = line.split(separator: " ").map(String.init)
        let error = await #expect(throws: CaptureError.self) {
            var command = try #require(try Capturectl.parseAsRoot(arguments) as? any AsyncParsableCommand)
            try await command.run()
        }
        #expect(error?.code == .usage)
        #expect(error?.message == message)
    }

    @Test(arguments: ["0", "1000", "4294967294", "alice", "a-1"])
    func `numbers and names of users are taken`(name: String) throws {
        try UserName.check(name)
    }

    @Test func `the bus is taken before and after the command`() throws {
        for line in [["--bus", "session", "devices"], ["devices", "--bus", "session"], ["devices", "--bus=session"]] {
            let command = try #require(try Capturectl.parseAsRoot(line) as? DevicesCommand)
            #expect(command.bus.bus == .session)
        }
    }

    @Test(arguments: ["tool", "exe:tool", "unit:camera", "flatpak:", ""])
    func `a slip in a program's id is told`(id: String) {
        let error = #expect(throws: CaptureError.self) { try ProgramName.check(id) }
        #expect(error?.code == .usage)
    }

    @Test(arguments: ["exe:/usr/bin/tool", "unit:camera.service", "uid:0", "app:org.x.Y", "flatpak:org.x.Y", "snap:x"])
    func `every form of program id is known`(id: String) throws {
        try ProgramName.check(id)
    }

    @Test func `who is explained and who is shown is told alike, and a user with a program alone`() throws {
        let explained = try AuthExplainCommand.parse(["--user", "ann", "exe:/a", "camera", "--json"])
        let shown = try AuthStatusCommand.parse(["exe:/a", "--user", "ann", "--json"])
        for subject in [explained.subject, shown.subject] {
            #expect(subject.program == "exe:/a")
            #expect(subject.user == "ann")
            #expect(subject.json)
        }
        #expect(explained.service == .camera)
        #expect(try AuthExplainCommand.parse([]).subject.program == nil)
        #expect(throws: (any Error).self) { try AuthExplainCommand.parse(["--user", "ann"]) }
        #expect(throws: (any Error).self) { try AuthStatusCommand.parse(["--user", "ann"]) }
    }
}
