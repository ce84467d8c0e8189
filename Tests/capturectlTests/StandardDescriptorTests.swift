import BusSupport
import CaptureBus
import CaptureKit
import Foundation
import Testing

/// Runs the built programs with closed standard descriptors.
@Suite(.timeLimit(.minutes(10)))
struct StandardDescriptorTests {
    /// The outcome of a program.
    private struct Ended {
        var code: Int32
        /// What it wrote to the descriptor that was left open, if any.
        var said: String
    }

    /// Runs a program with some of its standard descriptors closed. Output goes to a file, as far as 1 and 2 are open.
    ///
    /// - Parameter closing: In shell syntax, such as `<&- >&-`.
    private func run(
        _ program: String,
        _ arguments: [String],
        closing: String,
        _ environment: [String: String] = ["PATH": "/usr/bin:/bin"]
    ) async throws -> Ended {
        let path = NSTemporaryDirectory() + "said-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let said = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "exec \"$0\" \"$@\" \(closing)", "\(RealDaemon.programs)/\(program)"] + arguments
        shell.environment = environment
        shell.standardInput = FileHandle.nullDevice
        shell.standardOutput = said
        shell.standardError = said
        try shell.run()
        try said.close()
        while shell.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        return Ended(code: shell.terminationStatus, said: try String(contentsOfFile: path, encoding: .utf8))
    }

    @Test(arguments: ["--version", "--help"])
    func `help or version text that cannot be printed is an error`(_ option: String) async throws {
        for program in ["capturectl", "captured"] {
            for closing in [">&-", "<&- >&-"] {
                let ended = try await run(program, [option], closing: closing)
                #expect(ended.code == 74, "\(program) \(option) \(closing): \(ended)")
            }
            let ended = try await run(program, [option], closing: "<&- 2>&-")
            #expect(ended.code == 0)
            #expect(!ended.said.isEmpty)
        }
    }

    @Test func `a table that cannot be printed is an error and does not end up in another file`() async throws {
        let captured = try await RealDaemon()
        for closing in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
            let ended = try await run("capturectl", ["devices"], closing: closing, captured.environment)
            #expect(ended.code == 74, "\(closing): \(ended)")
        }
        let ended = try await run("capturectl", ["devices"], closing: "<&- 2>&-", captured.environment)
        #expect(ended.code == 0)
        #expect(ended.said.contains("synthetic:camera"))
    }

    @Test func `failing to write media to standard output is an error`() async throws {
        let captured = try await RealDaemon()
        try await captured.allowCommandLine()
        for closing in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
            for command in [["frames", "--count", "3"], ["listen", "--duration", "0.2"]] {
                let ended = try await run("capturectl", command, closing: closing, captured.environment)
                #expect(ended.code == 74, "\(command) \(closing): \(ended)")
            }
        }
        let daemon = try await captured.client()
        #expect(try await daemon.sessions().allSatisfy { $0.status.state.isFinal })
    }

    @Test func `a recording needs none of them and contains nothing but the recording`() async throws {
        let captured = try await RealDaemon()
        try await captured.allowCommandLine()
        let path = captured.folder + "/movie.mkv"
        let command = ["record", "--duration", "8", "--microphone", "none", "--camera", "synthetic:camera", path]
        let ended = try await run("capturectl", command, closing: "<&- >&- 2>&-", captured.environment)
        #expect(ended.code == 0, "\(ended)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(Array(bytes.prefix(4)) == [0x1A, 0x45, 0xDF, 0xA3])
        #expect(bytes.range(of: Data(path.utf8)) == nil)
    }

    @Test func `the daemon and its recorders have all three, however the daemon was started`() async throws {
        let captured = try await RealDaemon(closing: "<&- >&- 2>&-")
        let daemon = try await captured.client()
        for number in 0...2 { #expect(try captured.file(number) == "/dev/null") }
        let file = try OutputFile.scratch()
        let session = try await CaptureSession(on: daemon)
        try await session.addInput(.camera("synthetic:camera"))
        try await session.addOutput(try MovieFileOutput(file: file.descriptor))
        try await session.startRunning()
        let recorders = try captured.recorders()
        #expect(recorders.count == 1)
        for recorder in recorders {
            for number in 1...2 { #expect(try captured.file(number, of: recorder) == "/dev/null") }
        }
        try await until { try await session.statistics().outputs["movie"]?.frames ?? 0 > 0 }
        try await session.stopRunning()
        #expect(await session.results.map(\.error) == [nil])
    }

    @Test func `a recorder without a connection ends with an error`() async throws {
        for closing in ["<&-", "<&- >&- 2>&-"] {
            let ended = try await run("captured-recorder", [], closing: closing)
            #expect(ended.code != 0, "\(closing): \(ended)")
        }
    }

    @Test func `a picker that cannot report ends with an error`() async throws {
        for closing in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
            let ended = try await run("captured-picker", [], closing: closing)
            #expect(ended.code == 74, "\(closing): \(ended)")
        }
    }
}
