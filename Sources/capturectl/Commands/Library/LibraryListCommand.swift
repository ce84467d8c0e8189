import ArgumentParser
import CaptureKit

struct LibraryListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List assets, the latest first.",
        discussion: """
            Times are given as 2026-03-01, '2026-03-01 12:30', today, yesterday, or as a span before now such as 12h or \
            7d. Where reading is denied the list is empty, and standard error says why.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var assets: AssetFilterOptions

    @Option(help: ArgumentHelp("In the order of created, added, name or, with --album, position.", valueName: "order"))
    var order: AssetFetchOptions.Order = .created

    @Flag(help: "The earliest first, or from A to Z.")
    var ascending = false

    @Option(parsing: .unconditional, help: ArgumentHelp("At most that many. (default: 100)", valueName: "number"))
    var limit: Int?

    @Flag(help: "All of them.")
    var all = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if all, limit != nil { throw ValidationError("give either --limit or --all") }
        if order == .position, assets.album == nil { throw ValidationError("--order position goes with --album") }
    }

    func run() async throws {
        try NumberOptions.check(limit, "--limit", 1...Int.max)
        _ = try assets.filter()
        let most = all ? Int.max : limit ?? 100
        let (found, status, hasMore) = try await LibraryRun.during(bus) { library throws(CaptureError) in
            try await fetch(most, from: library)
        }
        if json {
            Output.print(JSON.array(found.map(LibraryPresentation.json)))
        } else {
            Output.print(LibraryPresentation.table(found))
        }
        LibraryRun.tell(status)
        if found.isEmpty, LibraryPresentation.refusal(status) == nil { Output.note("there is nothing of that kind") }
        if hasMore { Output.note("there are more: --limit NUMBER or --all shows them") }
    }

    private func fetch(
        _ most: Int,
        from library: MediaLibrary
    ) async throws(CaptureError) -> ([MediaAsset], AuthorizationStatus, hasMore: Bool) {
        guard var options = try await assets.filter(in: library) else {
            return ([], try await library.authorizationStatus(for: .readWrite), false)
        }
        options.order = order
        options.isAscending = ascending
        options.pageSize = min(most, 1000)
        var found: [MediaAsset] = []
        var status = AuthorizationStatus.notDetermined
        for try await page in library.pages(options) {
            status = page.status
            let left = most - found.count
            found += page.assets.prefix(left)
            if page.assets.count > left || (found.count == most && page.next != nil) { return (found, status, true) }
        }
        return (found, status, false)
    }
}
