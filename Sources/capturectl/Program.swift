import ArgumentParser
import CaptureKit
import CaptureSystem
import Glibc
import Synchronization

/// Runs a command line and reports its result.
enum Program {
    /// Parses and runs.
    ///
    /// - Parameter arguments: Without the program's name.
    /// - Returns: The exit code, after sysexits(3).
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            if let script = CompletionScript.requested(by: arguments) {
                Output.print(script)
                return checkOutput(0)
            }
            if arguments.first == "---completion" { return await complete(arguments) }
            try CommandName.check(arguments)
            try checkClusters(arguments)
            var command = try await parse(arguments)
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

    /// Parses a command line. The parser takes a third of its time for the root, of which a command whose name comes first
    /// needs nothing, unless it is wrong or help is asked for.
    private static func parse(_ arguments: [String]) async throws -> any ParsableCommand {
        let all = Capturectl.configuration.groupedSubcommands.flatMap(\.subcommands)
        if let name = arguments.first, let named = all.first(where: { $0.configuration.commandName == name }),
            let command = named as? any AsyncParsableCommand.Type, command.configuration.subcommands.isEmpty,
            let parsed = try? await command.asyncParseAsRoot(Array(arguments.dropFirst())), type(of: parsed) == named
        {
            return parsed
        }
        return try await Capturectl.asyncParseAsRoot(arguments)
    }

    /// Answers a shell. The parser waits for the words, so it does that on a thread of its own.
    private static func complete(_ arguments: [String]) async -> Int32 {
        await withCheckedContinuation { continuation in
            do {
                try WorkerThread.detached(name: "completion") {
                    do {
                        _ = try Capturectl.parseAsRoot(arguments)
                        continuation.resume(returning: 0)
                    } catch {
                        continuation.resume(returning: report(error))
                    }
                }
            } catch {
                continuation.resume(returning: report(error))
            }
        }
    }

    /// Refuses a word that looks like several short options, which the parser would take one by one: `-dash.mkv` has an `h`.
    ///
    /// - Throws: `usage`.
    private static func checkClusters(_ arguments: [String]) throws(CaptureError) {
        // What follows 'run' is for the script.
        let words = arguments.first == "run" ? [] : arguments.prefix { $0 != "--" }
        for word in words where word.count > 2 && word.first == "-" {
            // -1 and -.5 are numbers, which their options refuse.
            guard let second = word.dropFirst().first, second.isLetter else { continue }
            throw CaptureError(
                .usage,
                "'\(Printable.text(word))' is not an option; if it is a file, write './\(Printable.text(word))'"
            )
        }
    }

    /// Prints an error where it belongs.
    ///
    /// - Returns: The exit code that goes with it.
    static func report(_ error: any Error) -> Int32 {
        if let error = error as? CaptureError {
            Output.message(Printable.text(error.message, limit: 2000) + hint(error))
            return error.code.exitCode
        }
        if let code = error as? ExitCode { return checkOutput(code.rawValue) }
        let code = Capturectl.exitCode(for: error).rawValue
        let text = Capturectl.fullMessage(for: error)
        if code == 0 { Output.print(text) } else { Output.note(text) }
        return checkOutput(code)
    }

    /// Names the command that diagnoses an error.
    private static func hint(_ error: CaptureError) -> String {
        error.code == .unreachable ? "; see also: capturectl doctor" : ""
    }

    /// Turns success into an error if a line of standard output was lost.
    private static func checkOutput(_ code: Int32) -> Int32 {
        let fault = Output.lostFacts.load(ordering: .relaxed)
        if code != 0 || fault == 0 { return code }
        return report(CaptureError(.inputOutput, "standard output: \(unsafe String(cString: strerror(fault)))"))
    }
}
