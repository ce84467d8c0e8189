import ArgumentParser
import CaptureKit

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show who used which camera, microphone or the media library, and every decision.",
        discussion: """
            The latest first. You are shown what is yours, root is shown everything. Times are given as 2026-03-01, \
            '2026-03-01 12:30', today, yesterday, or as a span before now such as 90min, 12h or 7d. BY says what \
            decided and, where an answer was set or reset or a switch was turned, whose program did that.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("What this user did. (default: you)", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("What this program did, by its id.", valueName: "program"))
    var program: String?

    @Option(help: ArgumentHelp("What was about this service.", valueName: "service"))
    var service: AuthorizationService?

    @Option(parsing: .unconditional, help: ArgumentHelp("What ended then or later, or lasts.", valueName: "time"))
    var since: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("What began at this time or earlier.", valueName: "time"))
    var until: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let filter = try filter()
        let events = try await CaptureHistory(of: try await bus.connect()).events(filter)
        if json { return Output.print(JSON.array(events.map(HistoryPresentation.json))) }
        if events.isEmpty { return Output.note("nothing of that kind is in the history") }
        Output.print(HistoryPresentation.table(events))
    }

    /// What the options say.
    ///
    /// - Throws: `usage`.
    func filter() throws(CaptureError) -> HistoryFilter {
        try UserName.check(user)
        if let program { try ProgramName.check(program) }
        var filter = HistoryFilter()
        filter.user = user
        filter.program = program
        filter.service = service
        if let since { filter.since = try MomentArgument.milliseconds(since, "--since", .past) }
        if let until { filter.until = try MomentArgument.milliseconds(until, "--until", .past) }
        if let since = filter.since, let until = filter.until, since > until {
            throw CaptureError(.usage, "--since is later than --until, so nothing could be shown")
        }
        return filter
    }
}
