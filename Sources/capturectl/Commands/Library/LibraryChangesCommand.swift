import ArgumentParser
import CaptureKit
import Synchronization

struct LibraryChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show changes since a token. Without a token, print the current one.",
        discussion: """
            The last line has the token to continue from. With --json each line is a change with its token. If the \
            token is too old, the command exits with 65; list everything again.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A token that this command printed before.", valueName: "token")
    )
    var since: String?

    @Flag(help: "Keep showing changes, until Ctrl-C.")
    var follow = false

    @Flag(help: "Print a line of JSON for every change.")
    var json = false

    func run() async throws {
        if since?.isEmpty == true { throw CaptureError(.usage, "--since is empty; give a token, or leave it out") }
        try await LibraryRun.reading(bus) { library throws(CaptureError) in
            guard follow else { return try await tellOnce(library) }
            try await tellOn(library)
        }
    }

    private func tellOnce(_ library: MediaLibrary) async throws(CaptureError) {
        if let since {
            tell(try await differences(LibraryChangeToken(rawValue: since), in: library))
        } else {
            tell(try await library.currentToken())
        }
        try await LibraryRun.tellStatus(of: library)
    }

    private func tellOn(_ library: MediaLibrary) async throws(CaptureError) {
        let (events, feed) = AsyncStream<Bool>.makeStream()
        let interrupts = Interrupts { feed.yield(false) }
        // Listened before the token: what changes in between is in both.
        let notices = try await library.changeNotices()
        let watch = Task {
            for await _ in notices { feed.yield(true) }
            feed.finish()
        }
        defer {
            watch.cancel()
            withExtendedLifetime(interrupts) {}
        }
        let presence = try await followed()
        defer { presence.cancel() }
        var token: LibraryChangeToken
        if let since {
            token = try await differences(LibraryChangeToken(rawValue: since), in: library)
        } else {
            token = try await library.currentToken()
        }
        tell(token)
        try await LibraryRun.tellStatus(of: library)
        for await isNotice in events {
            guard isNotice else { return }
            let before = token
            token = try await differences(token, in: library)
            if !json, token != before { tell(token) }
            if Output.isUnread.load(ordering: .relaxed) { return }
        }
        throw CaptureError(.unreachable, "the connection to the bus is lost")
    }

    /// Says when the daemon goes and when it is back: nothing changes in between, and nothing is told of either.
    private func followed() async throws(CaptureError) -> Task<Void, Never> {
        let events = try await bus.connect().events()
        return Task {
            for await event in events {
                switch event {
                case .daemonVanished:
                    Output.message("the capture daemon went away; changes are shown when it is back")
                case .daemonAppeared: Output.message("the capture daemon is back")
                default: continue
                }
            }
        }
    }

    /// Prints every piece of a difference.
    ///
    /// - Returns: Where the next one begins.
    private func differences(
        _ token: LibraryChangeToken,
        in library: MediaLibrary
    ) async throws(CaptureError) -> LibraryChangeToken {
        var token = token
        while true {
            let changes = try await library.changes(since: token)
            token = changes.token
            if !changes.isEmpty {
                Output.print(json ? LibraryPresentation.json(changes).line : LibraryPresentation.text(changes))
            }
            if changes.isComplete { return token }
        }
    }

    private func tell(_ token: LibraryChangeToken) {
        let line: JSON = ["token": JSON(token.rawValue)]
        Output.print(json ? line.line : "token    \(Printable.text(token.rawValue, limit: 1000))")
    }
}
