public import CaptureCore

/// What an answer in settings is beside what it says.
public struct SettingOptions: Hashable, Sendable {
    /// How long a yes holds: for always, or until a moment to come.
    public var lifetime: GrantLifetime
    /// How many answers the user may have in settings; `nil` for any number.
    public var most: Int?
    /// Whether it may allow what is not allowed already.
    public var mayLoosen: Bool
    /// Who sets it, for the journal and the history.
    public var author: SettingsAuthor?
    /// Whether to wait until files that end by this change are finished.
    public var awaitsFiles: Bool

    /// Options of the given values.
    public init(
        lifetime: GrantLifetime = .always,
        most: Int? = nil,
        mayLoosen: Bool = true,
        author: SettingsAuthor? = nil,
        awaitsFiles: Bool = true
    ) {
        self.lifetime = lifetime
        self.most = most
        self.mayLoosen = mayLoosen
        self.author = author
        self.awaitsFiles = awaitsFiles
    }
}

/// The answers that settings give for one program.
struct SettingChange {
    let user: UInt32
    let program: String
    let statuses: [Service: AuthorizationStatus]
    var lifetime = GrantLifetime.always
    /// The file that a yes of an `exe:` id is bound to.
    var file: ExecutableFile?

    /// Whose answers they become.
    var owner: UInt32 { ClientIdentity.answerUser(of: program, user: user) }
    /// The program's id, for people.
    var name: String { DisplayText.neutralized(program, limit: 100) }
    var hasYes: Bool { statuses.values.contains(where: \.isYes) }

    /// The program as policy sees it.
    ///
    /// - Throws: `invalidArgument` for what cannot be set, whatever policy says.
    func subject() throws(CaptureError) -> PolicySubject {
        let id = try ProgramID(program)
        for (service, status) in statuses.sorted(by: { $0.key < $1.key }) {
            guard status == .authorized || status == .denied || (status == .limited && service.canBeLimited) else {
                let limited = service.canBeLimited ? ", limited" : ""
                throw CaptureError(
                    .invalidArgument,
                    "an answer about \(service.rawValue) must be authorized\(limited) or denied, not \(status.word)"
                )
            }
            if case .app = id, status != .denied {
                throw CaptureError(
                    .invalidArgument,
                    "any file can run as \(name), so it can only be allowed when it asks: run "
                        + "'capturectl auth reset \(name) \(service.rawValue)', then start the program"
                )
            }
        }
        return PolicySubject(named: id, user: id.tier.belongsToMachine ? nil : user)
    }

    /// The rows to be stored.
    ///
    /// - Throws: `invalidArgument` for a lifetime that does not fit or an executable that is not there.
    func rows(at time: AnswerTime) throws(CaptureError) -> [StoredAnswer] {
        guard lifetime == .always || (hasYes && (lifetime.moment ?? 0) > time.wall) else {
            throw CaptureError(
                .invalidArgument,
                hasYes
                    ? "a yes holds for always or until a later time, not a past one"
                    : "a no holds until it is changed, not until a date"
            )
        }
        let id = try ProgramID(program)
        if case .executable(let path) = id {
            guard file != nil || !hasYes else {
                throw CaptureError(
                    .invalidArgument,
                    "captured cannot find the file \(path); to allow a file in a private folder, let it ask"
                )
            }
        }
        return statuses.sorted { $0.key < $1.key }.map { service, status in
            StoredAnswer(
                user: owner,
                program: program,
                service: service,
                tier: id.tier,
                status: status,
                reason: .settings,
                time: time,
                // A denial holds for whatever file comes to lie there.
                executable: status.isYes ? file : nil,
                detail: "set by id",
                lifetime: status.isYes ? lifetime : .always
            )
        }
    }
}

/// Which answers settings forget.
struct SettingScope {
    /// Whose; `nil` for everybody's.
    let owner: UInt32?
    /// A program's id; `nil` for every program.
    let program: String?
    let services: Set<Service>

    /// - Parameters:
    ///   - user: `nil` for everybody. Not looked at for `unit:` and `uid:`.
    ///   - services: None for all.
    init(user: UInt32?, program: String?, _ services: Set<Service>) {
        owner = user.map { user in program.map { ClientIdentity.answerUser(of: $0, user: user) } ?? user }
        self.program = program
        self.services = services.isEmpty ? Set(Service.allCases) : services
    }
}
