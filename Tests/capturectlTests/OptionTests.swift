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
        "--to-library --album=", "--to-library --name=", "--to-library --name a.avi",
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
        ("auth set --user -1 exe:/a camera denied", "'-1' is no user's number; they go from 0 to 4294967294"),
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
