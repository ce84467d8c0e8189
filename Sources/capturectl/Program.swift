import ArgumentParser
import CaptureKit
import Glibc
import Synchronization

/// Runs a command line and says what came of it.
enum Program {
    /// Parses and runs.
    ///
    /// - Parameter arguments: Without the program's name.
    /// - Returns: The exit code, after sysexits(3).
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            var command = try await Capturectl.asyncParseAsRoot(arguments)
            if type(of: command).configuration.commandName == "help" { try HelpTopic.check(arguments) }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return checkOutput(0)
        } catch {
            return report(error)
        }
    }

    /// Prints an error where it belongs.
    ///
    /// - Returns: The exit code that goes with it.
    static func report(_ error: any Error) -> Int32 {
        if let error = error as? CaptureError {
            Output.message(Printable.text(error.message, limit: 2000))
            return error.code.exitCode
        }
        if let code = error as? ExitCode { return checkOutput(code.rawValue) }
        let code = Capturectl.exitCode(for: error).rawValue
        let text = Capturectl.fullMessage(for: error)
        if code == 0 { Output.print(text) } else { Output.note(text) }
        return checkOutput(code)
    }

    /// Turns success into an error if a line of standard output was lost.
    private static func checkOutput(_ code: Int32) -> Int32 {
        let fault = Output.lostFacts.load(ordering: .relaxed)
        if code != 0 || fault == 0 { return code }
        return report(CaptureError(.inputOutput, "standard output: \(unsafe String(cString: strerror(fault)))"))
    }
}
