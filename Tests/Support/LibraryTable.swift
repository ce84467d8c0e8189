public import Authorization
public import CaptureCore

extension PersonsAnswer {
    /// A yes for chosen assets.
    public static let chosen = PersonsAnswer(true, isLimited: true)
}

/// A row of the table of the media library: what was asked, what the person chose, and what follows.
public struct LibraryRow: Sendable, CustomStringConvertible {
    /// What is asked for in one request.
    public var asked: Set<Service>
    /// What the person answers; nothing where nothing is asked.
    public var answers: [Service: PersonsAnswer]
    /// The status without a level.
    public var withoutLevel: AuthorizationStatus
    /// That of adding.
    public var add: AuthorizationStatus
    /// That of reading and changing.
    public var readWrite: AuthorizationStatus
    /// Whether another request to add prompts.
    public var addPrompts: Bool
    /// Whether another request to read prompts.
    public var readWritePrompts: Bool

    /// A row of the given cells.
    public init(
        _ asked: Set<Service>,
        _ answers: [Service: PersonsAnswer],
        _ withoutLevel: AuthorizationStatus,
        _ add: AuthorizationStatus,
        _ readWrite: AuthorizationStatus,
        prompts addPrompts: Bool,
        _ readWritePrompts: Bool
    ) {
        self.asked = asked
        self.answers = answers
        self.withoutLevel = withoutLevel
        self.add = add
        self.readWrite = readWrite
        self.addPrompts = addPrompts
        self.readWritePrompts = readWritePrompts
    }

    /// What is asked and answered.
    public var description: String {
        "asked \(asked.sorted().map(\.rawValue)), answered \(answers.map { "\($0.key.rawValue) \($0.value.status.word)" })"
    }

    /// Both levels.
    public static let both: Set<Service> = [.libraryAdd, .libraryReadWrite]

    /// The whole table. Asked, chosen: without a level, add-only, read-write; whether add-only and read-write prompt again.
    public static let table: [LibraryRow] = [
        LibraryRow([], [:], .notDetermined, .notDetermined, .notDetermined, prompts: true, true),
        LibraryRow(
            [.libraryAdd],
            [.libraryAdd: true],
            .notDetermined,
            .authorized,
            .notDetermined,
            prompts: false,
            true
        ),
        LibraryRow([.libraryAdd], [.libraryAdd: false], .notDetermined, .denied, .notDetermined, prompts: false, true),
        LibraryRow(
            [.libraryReadWrite],
            [.libraryReadWrite: .chosen],
            .authorized,
            .limited,
            .limited,
            prompts: false,
            false
        ),
        LibraryRow(
            [.libraryReadWrite],
            [.libraryReadWrite: true],
            .authorized,
            .authorized,
            .authorized,
            prompts: false,
            false
        ),
        LibraryRow(
            [.libraryReadWrite],
            [.libraryReadWrite: false],
            .denied,
            .notDetermined,
            .denied,
            prompts: true,
            false
        ),
        LibraryRow(
            both,
            [.libraryAdd: true, .libraryReadWrite: false],
            .denied,
            .authorized,
            .denied,
            prompts: false,
            false
        ),
        LibraryRow(both, [.libraryReadWrite: .chosen], .authorized, .limited, .limited, prompts: false, false),
        LibraryRow(
            both,
            [.libraryAdd: true, .libraryReadWrite: true],
            .authorized,
            .authorized,
            .authorized,
            prompts: false,
            false
        ),
        LibraryRow(
            both,
            [.libraryAdd: false, .libraryReadWrite: false],
            .denied,
            .denied,
            .denied,
            prompts: false,
            false
        ),
    ]
}
