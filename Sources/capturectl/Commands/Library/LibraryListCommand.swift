import ArgumentParser
import CaptureKit

struct LibraryListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List assets, the latest first.",
        discussion: """
            Give times as 2026-03-01, '2026-03-01 12:30', today, yesterday, or as a span before now such as 12h or 7d. \
            If reading is denied, the list is empty and standard error says why.
            """
    )

    @OptionGroup var bus: BusOptions

    @OptionGroup var assets: AssetFilterOptions

    @Option(help: ArgumentHelp("Sort by created, added, name or, with --album, position.", valueName: "order"))
    var order: AssetFetchOptions.Order = .created

    @Flag(help: "Reverse: the earliest first, or from A to Z.")
    var ascending = false

    @Option(
        name: [.customShort("n"), .long],
        parsing: .unconditional,
        help: ArgumentHelp("List at most this many. (default: 100)", valueName: "number")
    )
    var limit: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("List this page; page 2 begins after the first --limit assets.", valueName: "number")
    )
    var page: Int?

    @Flag(name: .shortAndLong, help: "List all assets.")
    var all = false

    @OptionGroup var table: TableOptions

    func validate() throws {
        if all, limit != nil { throw ValidationError("give either --limit or --all") }
        if all, page != nil { throw ValidationError("give either --page or --all") }
        if order == .position, assets.album == nil { throw ValidationError("--order position needs --album") }
    }

    func run() async throws {
        try NumberOptions.check(limit, "--limit", 1...Int.max)
        try NumberOptions.check(page, "--page", 1...Int.max)
        _ = try assets.filter()
        let most = all ? Int.max : limit ?? 100
        let page = page ?? 1
        let (found, status, hasMore) = try await LibraryRun.reading(bus) { library throws(CaptureError) in
            try await fetch(most, page, from: library)
        }
        table.show(found, LibraryPresentation.table, LibraryPresentation.json)
        LibraryRun.tell(status)
        if found.isEmpty, LibraryPresentation.refusal(status) == nil {
            Output.note(page == 1 ? "no asset matches" : "there is nothing on page \(page)")
        }
        if hasMore {
            let size = limit.map { "--limit \($0) " } ?? ""
            Output.note("there are more: \(size)--page \(page + 1) lists the next ones, --all lists all")
        }
    }

    private func fetch(
        _ most: Int,
        _ page: Int,
        from library: MediaLibrary
    ) async throws(CaptureError) -> ([MediaAsset], AuthorizationStatus, hasMore: Bool) {
        guard var options = try await assets.filter(in: library) else {
            return ([], try await library.authorizationStatus(for: .readWrite), false)
        }
        options.order = order
        options.isAscending = ascending
        // No library has so many that the number does not fit.
        let (product, isTooMany) = most.multipliedReportingOverflow(by: page - 1)
        var skipped = isTooMany ? Int.max : product
        options.pageSize = min(max(most, skipped), 1000)
        var found: [MediaAsset] = []
        var status = AuthorizationStatus.notDetermined
        for try await page in library.pages(options) {
            status = page.status
            let rest = page.assets.dropFirst(skipped)
            skipped -= min(skipped, page.assets.count)
            let left = most - found.count
            found += rest.prefix(left)
            if rest.count > left || (found.count == most && page.next != nil) { return (found, status, true) }
        }
        return (found, status, false)
    }
}
