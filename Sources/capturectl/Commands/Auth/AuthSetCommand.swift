import ArgumentParser
import CaptureKit

struct AuthSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store an answer for a program, as if it had asked.",
        discussion: """
            A no, and the end of a yes, take effect at once, even in running sessions. Only root can set another \
            user's answers. Only root can allow a service, or a program with a user of its own, because that yes \
            counts for everybody; the person at the machine can say no to these without a password. A yes belongs to a \
            file. An app: id does not name one, so you can only allow such a program when it asks. You cannot change \
            what policy restricts.

            library sets both of its levels at once: none, add-only, limited (reading what you choose, with 'library \
            choose') or all. Allowing less than before takes no password. A program that may read may also add.
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

    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: ArgumentHelp("Whose answer it is. (default: your own)", valueName: "name")
    )
    var user: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("When a yes ends, as in 2026-03-01, '2026-03-01 12:30', 8h or 7d.", valueName: "time")
    )
    var until: String?

    @Argument(
        help: ArgumentHelp("The program's id, as in unit:camera.service, or its path.", valueName: "program"),
        completion: .programs,
        transform: ProgramName.whole
    )
    var program: String

    @Argument(
        help: ArgumentHelp("camera, microphone, library-add, library-read-write or library.", valueName: "service")
    )
    var service: Subject

    @Argument(
        help: ArgumentHelp("authorized or denied; for library: none, add-only, limited or all.", valueName: "answer")
    )
    var answer: Answer

    func run() async throws {
        try UserName.check(user)
        try ProgramName.check(program)
        let change = try change()
        let end = try end()
        guard !change.isYes else {
            let daemon = try await bus.connect()
            let limit = until.map { "--until \(ShellWord.quoted($0)) " } ?? ""
            let what = "\(ShellWord.quoted(program)) \(service.rawValue) \(answer.rawValue)"
            let asRoot = "auth set --user \(ShellWord.user(user)) \(limit)\(what)"
            return try await PasswordAgent.during(asRoot: asRoot) { () async throws(CaptureError) in
                try await set(change, until: end, over: daemon)
            }
        }
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
                throw CaptureError(.usage, "library takes one of \(known), not \(answer.rawValue)")
            }
            return .library(choice)
        }
        switch answer {
        case .authorized, .denied: return .answer(service, isAllowed: answer == .authorized)
        default:
            let hint = AuthorizationService.ofLibrary.contains(service) ? "; \(answer.rawValue) is for library" : ""
            throw CaptureError(
                .usage,
                "\(service.rawValue) takes authorized or denied, not \(answer.rawValue)\(hint)"
            )
        }
    }

    /// When the answer ends, in milliseconds since 1970.
    ///
    /// - Throws: `usage`.
    func end(now: Int64 = Clock.now().seconds) throws(CaptureError) -> Int64? {
        guard let until else { return nil }
        guard try change().isYes else {
            throw CaptureError(.usage, "--until only goes with a yes; a no holds until you change it")
        }
        let end = try MomentArgument.milliseconds(until, "--until", .future, now: now)
        guard end > now * 1000 else {
            throw CaptureError(.usage, "--until: '\(Printable.text(until))' is in the past; give a later time")
        }
        return end
    }
}
