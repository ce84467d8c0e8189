import ArgumentParser
import CaptureKit

/// Which program to look at, and how to print it.
struct ProgramOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("The user that the program runs as. (default: you)", valueName: "name")
    )
    var user: String?

    @Argument(
        help: ArgumentHelp("A program's id, as 'auth list' prints it, or its path.", valueName: "program"),
        completion: .programs,
        transform: ProgramName.whole
    )
    var program: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if user != nil, program == nil { throw ValidationError("--user needs a program") }
    }

    /// Refuses malformed names of users and programs.
    ///
    /// - Throws: `usage`.
    func check() throws(CaptureError) {
        try UserName.check(user)
        if let program { try ProgramName.check(program) }
    }
}
