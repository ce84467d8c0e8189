import ArgumentParser
import CaptureKit

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show who used cameras, microphones and the media library, and every decision.",
        discussion: """
            The latest entry comes first. You see your own entries; root sees everything. Give times as 2026-03-01, \
            '2026-03-01 12:30', 16:00, today, yesterday, or as a span before now such as 90min, 12h or 7d. BY says \
            what decided. If an answer was set or reset, or a switch was turned, it also says which user and program \
            did that.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("Only entries of this user. (default: you; for root everybody)", valueName: "name")
    )
    var user: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Only entries of this program, by its id or path.", valueName: "program"),
        completion: .programs,
        transform: ProgramName.whole
    )
    var program: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Only entries about this service.", valueName: "service"))
    var service: AuthorizationService?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only what ended at this time or later, or still lasts.", valueName: "time")
    )
    var since: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Only what began at this time or earlier.", valueName: "time"))
    var until: String?

    @OptionGroup var table: TableOptions

    func run() async throws {
        let filter = try filter()
        let events = try await CaptureHistory(of: try await bus.connect()).events(filter)
        let none = "the history has no such entries"
        table.show(events, HistoryPresentation.table, HistoryPresentation.json, ifNone: none)
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
            throw CaptureError(.usage, "--since is later than --until, so nothing can match")
        }
        return filter
    }
}
