import ArgumentParser
import CaptureKit

/// Which program is looked at, and how it is printed.
struct ProgramOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("Whom the program runs as. (default: you)", valueName: "name"))
    var user: String?

    @Argument(help: ArgumentHelp("A program's id, as 'auth list' prints it.", valueName: "program"))
    var program: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if user != nil, program == nil { throw ValidationError("--user goes with a program") }
    }

    /// Refuses names that are no user's and no program's.
    ///
    /// - Throws: `usage`.
    func check() throws(CaptureError) {
        try UserName.check(user)
        if let program { try ProgramName.check(program) }
    }
}
