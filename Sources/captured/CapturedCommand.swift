import ArgumentParser
import CaptureCore
import CaptureService
import Glibc

/// The daemon's command line.
struct CapturedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "captured",
        abstract: "Owns the cameras and microphones of a machine, and captures with consent.",
        version: CaptureVersion.text
    )

    @Option(help: "The bus to serve: system, session, or an address.")
    var bus = "system"

    @Flag(help: "Offer a synthetic camera, depth camera and microphone beside the real ones.")
    var synthetic = false

    @Option(help: "The folder that keeps answers; created with mode 0700 if missing.")
    var stateDir: String?

    @Option(help: "Read configuration and policy from this folder alone, not from /usr/lib/captured and /etc/captured.")
    var configDir: String?

    @Option(help: "The recorder to start as a child.")
    var recorder: String?

    /// Parses and serves.
    ///
    /// - Returns: The exit code, after sysexits(3).
    static func serve(_ arguments: [String]) async -> Int32 {
        do {
            let command = try CapturedCommand.parse(arguments)
            return await command.serve()
        } catch {
            let code = exitCode(for: error).rawValue
            return print(fullMessage(for: error) + "\n", code)
        }
    }

    /// Prints the requested text to standard output, or the errors to standard error.
    ///
    /// - Returns: The exit code; 74 if the requested text cannot be printed.
    private static func print(_ text: String, _ code: Int32) -> Int32 {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes[done...].withUnsafeBytes { rest in
                unsafe write(code == 0 ? STDOUT_FILENO : STDERR_FILENO, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return code == 0 && errno != EPIPE ? 74 : code }
            done += count
        }
        return code
    }

    private func serve() async -> Int32 {
        let options = DaemonOptions(
            bus: bus,
            synthetic: synthetic,
            stateDirectory: stateDir,
            configDirectory: configDir,
            recorder: recorder
        )
        return await Daemon.run(options)
    }
}
