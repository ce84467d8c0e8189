import CaptureCore
import GRDB

/// The answers, on disk: a database of the daemon's own, beside which nothing else is believed.
///
/// Thread-safe. What cannot be read or written makes the store unusable; each later call looks whether that is mended.
public final class AuthorizationStore: Sendable {
    /// The file's name in the state directory.
    public static let fileName = "authorization.sqlite"

    let file: GuardedStore

    /// Opens or creates the store in a state directory, which is made when it is absent. Never throws: a store that
    /// cannot be used says so in `state` and refuses every call.
    ///
    /// - Parameter directory: The daemon's state directory, which has to be its own, mode 0700.
    public convenience init(directory: String) {
        self.init(.directory(directory))
    }

    /// A store that lives as long as the object, for tests.
    public static func inMemory() -> AuthorizationStore {
        AuthorizationStore(.memory)
    }

    private init(_ location: StoreLocation) {
        file = GuardedStore(StoreSchema.kind, location)
    }

    /// Whether it can be relied on, as of the last call.
    public var state: StoreState { file.state }

    /// The command that makes it usable again, as of the last call; empty when it is usable or no command does.
    public var remedy: String { file.remedy }

    /// Looks whether it can be relied on now, so that what was mended shows.
    public func look() { file.look() }

    /// How many writes were begun since it was opened.
    var writes: UInt64 { file.writes }

    /// Which state of its file it is; `nil` when it cannot be relied on or is in use just now. Never waits.
    var stamp: FileStamp? { file.stamp }

    /// The stored answers for a program id.
    func answers(user: UInt32, program: String) throws(CaptureError) -> [StoredAnswer] {
        try file.access(.reading) { database in
            try Row.fetchAll(
                database.cachedStatement(sql: "SELECT * FROM answer WHERE user = ? AND program = ?"),
                arguments: [user, program]
            ).map(StoredAnswer.init)
        }
    }

    /// All stored answers, by user, program and service.
    func allAnswers() throws(CaptureError) -> [StoredAnswer] {
        try file.access(.reading) { database in
            try Row.fetchAll(database, sql: "SELECT * FROM answer ORDER BY user, program, service, executable")
                .map(StoredAnswer.init)
        }
    }

    /// How many answers of a user come from settings.
    func settingsCount(of user: UInt32) throws(CaptureError) -> Int {
        try file.access(.reading) { database in
            try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM answer WHERE user = ? AND reason = ?",
                arguments: [user, AnswerReason.settings.rawValue]
            ) ?? 0
        }
    }

    /// Writes answers; when it returns they are on disk, all or none.
    ///
    /// - Parameter replacingAll: Whether other answers to the same user, program and service go, whatever file they were
    ///   given for.
    /// - Throws: `invalidArgument` for a yes for chosen assets about anything but reading the library; `inputOutput` when
    ///   the store cannot be used.
    func put(_ answers: [StoredAnswer], replacingAll: Bool = false) throws(CaptureError) {
        if let wrong = answers.first(where: { $0.status == .limited && !$0.service.canBeLimited }) {
            throw CaptureError(
                .invalidArgument,
                "an answer about \(wrong.service.rawValue) cannot be limited; only library-read-write can"
            )
        }
        try file.access(.writing) { database in
            for answer in answers {
                if replacingAll {
                    try database.execute(
                        sql: "DELETE FROM answer WHERE user = ? AND program = ? AND service = ?",
                        arguments: [answer.user, answer.program, answer.service.rawValue]
                    )
                }
                try answer.put(database)
                try StoreConnection.mark(database, answer.time.wall)
            }
        }
    }

    /// Removes answers; when it returns that is on disk.
    ///
    /// - Parameters:
    ///   - user: Whose; `nil` for everybody's.
    ///   - program: Whose; `nil` for every program's.
    ///   - isKept: Which of those stay.
    /// - Returns: The answers that went.
    func remove(
        user: UInt32?,
        program: String?,
        keeping isKept: (StoredAnswer) -> Bool
    ) throws(CaptureError) -> [StoredAnswer] {
        try file.access(.writing) { database in
            let found = try Row.fetchAll(
                database,
                sql: "SELECT * FROM answer WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR program = ?2)",
                arguments: [user, program]
            ).map(StoredAnswer.init)
            let gone = found.filter { !isKept($0) }
            for row in gone {
                try database.execute(
                    sql: "DELETE FROM answer WHERE user = ? AND program = ? AND service = ? AND executable = ?",
                    arguments: [row.user, row.program, row.service.rawValue, row.executableKey]
                )
            }
            return gone
        }
    }

    /// A setting of the open connection, as SQLite reads it back: for tests and `doctor`.
    func pragma(_ name: String) throws(CaptureError) -> String { try file.pragma(name) }
}
