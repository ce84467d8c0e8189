import ArgumentParser
import CaptureKit

struct AuthSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store an answer for a program, as if it had been asked.",
        discussion: """
            A no takes effect at once, in running sessions too, and so does the end of a yes. Another user's answers take \
            root, and so does a yes to a service or a user of a program's own, which counts for everybody; a no to these is \
            free to who sits at the machine. A yes belongs to a file, which app: ids do not name: those programs are allowed \
            when they ask. What policy restricts cannot be set.

            library sets both of its levels at once: none, add-only, limited (reading what you choose, with 'library \
            choose') or all. What allows less than before is free. Who may read the library may add to it.
            """
    )

    /// What an answer is about: a service, or both levels of the library.
    enum Subject: String, ExpressibleByArgument, CaseIterable {
        case camera
        case microphone
        case libraryAdd = "library-add"
        case libraryReadWrite = "library-read-write"
        case library

        /// The services that it stands for.
        var services: [AuthorizationService] {
            AuthorizationService(rawValue: rawValue).map { [$0] } ?? AuthorizationService.ofLibrary
        }
    }

    /// What can be stored.
    enum Answer: String, ExpressibleByArgument, CaseIterable {
        case authorized
        case denied
        case none
        case addOnly = "add-only"
        case limited
        case all
    }

    /// What is to be stored.
    enum Change: Hashable {
        case answer(AuthorizationService, isAllowed: Bool)
        case library(LibraryChoice)

        var isYes: Bool {
            switch self {
            case .answer(_, let isAllowed): isAllowed
            case .library(let choice): choice != .none
            }
        }
    }

    @OptionGroup var bus: BusOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Whose answer it is. (default: your own)", valueName: "name"))
    var user: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("A yes ends then, as in 2026-03-01, '2026-03-01 12:30', 8h or 7d.", valueName: "time")
    )
    var until: String?

    @Argument(help: ArgumentHelp("The program's id, as in unit:camera.service.", valueName: "program"))
    var program: String

    @Argument(
        help: ArgumentHelp("camera, microphone, library-add, library-read-write or library.", valueName: "service")
    )
    var service: Subject

    @Argument(
        help: ArgumentHelp("authorized or denied; for library none, add-only, limited or all.", valueName: "answer")
    )
    var answer: Answer

    func run() async throws {
        try UserName.check(user)
        try ProgramName.check(program)
        let change = try change()
        let end = try end()
        guard !change.isYes else { return try await set(change, until: end, over: try await bus.connect()) }
        try await bus.withdraw { daemon throws(CaptureError) in
            try await set(change, until: end, over: daemon)
        } overSocket: { socket throws(CaptureError) in
            try await socket.set(program, service.rawValue, answer.rawValue, user: user ?? "")
        }
    }

    private func set(_ change: Change, until end: Int64?, over daemon: CaptureDaemon) async throws(CaptureError) {
        let panel = AuthorizationPanel(on: daemon)
        switch change {
        case .answer(let service, let isAllowed):
            try await panel.set(program, service, isAllowed: isAllowed, until: end, user: user ?? "")
        case .library(let choice):
            try await panel.set(program, library: choice, until: end, user: user ?? "")
            if choice == .limited, user == nil {
                Output.note(
                    "to choose what it may read: capturectl library choose '\(Printable.text(program, limit: 200))'"
                )
            }
        }
    }

    /// What the words mean together.
    ///
    /// - Throws: `usage`.
    func change() throws(CaptureError) -> Change {
        guard let service = AuthorizationService(rawValue: service.rawValue) else {
            guard let choice = LibraryChoice(rawValue: answer.rawValue) else {
                let known = LibraryChoice.allCases.map(\.rawValue).joined(separator: ", ")
                throw CaptureError(.usage, "library is set to one of \(known), not to \(answer.rawValue)")
            }
            return .library(choice)
        }
        switch answer {
        case .authorized, .denied: return .answer(service, isAllowed: answer == .authorized)
        default:
            let hint = AuthorizationService.ofLibrary.contains(service) ? "; \(answer.rawValue) is for library" : ""
            throw CaptureError(
                .usage,
                "\(service.rawValue) is set to authorized or denied, not to \(answer.rawValue)\(hint)"
            )
        }
    }

    /// When the answer ends, in milliseconds since 1970.
    ///
    /// - Throws: `usage`.
    func end(now: Int64 = Clock.now().seconds) throws(CaptureError) -> Int64? {
        guard let until else { return nil }
        guard try change().isYes else {
            throw CaptureError(.usage, "--until goes with a yes: a no holds until it is changed")
        }
        let end = try MomentArgument.milliseconds(until, "--until", .future, now: now)
        guard end > now * 1000 else {
            throw CaptureError(.usage, "--until: '\(Printable.text(until))' is over already; give a time to come")
        }
        return end
    }
}
