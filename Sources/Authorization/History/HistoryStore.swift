public import CaptureCore
import GRDB

/// The history on disk: a database of its own beside the store of answers, guarded as that is.
///
/// Entries are appended; what is there is only ever ended, put together with its like where a program makes too many, and
/// removed when it is old. Thread-safe.
public final class HistoryStore: Sendable {
    /// The file's name in the state directory.
    public static let fileName = "history.sqlite"

    let file: GuardedStore
    /// This start of the daemon.
    let run = "\(UInt64.random(in: 0 ... .max))"
    private let now: @Sendable () -> AnswerTime

    /// Opens or creates the history in a state directory. Never throws: one that cannot be used says so in `state`, and
    /// nothing can start.
    public convenience init(directory: String) {
        self.init(.directory(directory)) { .now }
    }

    /// A history that lives as long as the object, for tests.
    public static func inMemory() -> HistoryStore {
        HistoryStore(.memory) { .now }
    }

    init(_ location: StoreLocation, now: @escaping @Sendable () -> AnswerTime) {
        file = GuardedStore(HistorySchema.kind, location)
        self.now = now
        // What fails here is in `state`, and done again before the next use.
        try? file.access(.writing, closeOthers)
    }

    /// Whether it can be relied on, as of the last call.
    public var state: StoreState { file.state }

    /// The command that makes it usable again, as of the last call; empty when it is usable or no command does.
    public var remedy: String { file.remedy }

    /// Looks whether it can be relied on now, so that what was mended shows.
    public func look() { file.look() }

    /// Appends uses that begin now; when it returns they are on disk, all or none.
    func begin(_ uses: [DeviceUse]) throws(CaptureError) -> [DeviceUseKey] {
        let now = now()
        let keys = uses.map { _ in DeviceUseKey(value: .random(in: 1 ... .max)) }
        try file.access(.writing) { database in
            try closeOthers(database)
            for (use, key) in zip(uses, keys) {
                try HistoryEntry(use, began: now).append(database, use: key.value, run: run)
            }
            try HistoryStore.live(database, now)
        }
        return keys
    }

    /// Ends uses; when it returns that is on disk.
    func end(_ ends: [UseEnd]) throws(CaptureError) {
        try file.access(.writing) { database in
            for end in ends {
                try database.execute(
                    sql: """
                        UPDATE entry SET ended = ?, duration = ?, outcome = ?, message = ?
                        WHERE use = ? AND ended IS NULL
                        """,
                    arguments: [end.time.wall, end.duration, end.outcome.rawValue, end.message, end.key.value]
                )
                if database.changesCount == 0 {
                    // The file that it began in is not the one that is there now.
                    var entry = HistoryEntry(end.use, began: end.began)
                    entry.ended = end.time.wall
                    entry.duration = end.duration
                    entry.outcome = end.outcome.rawValue
                    entry.message = end.message
                    try entry.append(database, use: end.key.value, run: run)
                }
            }
            try HistoryStore.live(database, now())
        }
    }

    /// Appends decisions. Requests that came to nothing for the same reason within an hour are one entry with a count.
    func append(_ entries: [HistoryEntry]) throws(CaptureError) {
        try file.access(.writing) { database in
            for entry in entries where try !HistoryStore.addTo(database, entry) {
                try entry.append(database, use: nil, run: run)
            }
            try HistoryStore.live(database, now())
        }
    }

    /// Notes that the daemon lives, for the end of what it leaves open.
    func beat() throws(CaptureError) {
        let now = now()
        try file.access(.writing) { try HistoryStore.live($0, now) }
    }

    /// A page of entries, the latest first.
    ///
    /// - Parameters:
    ///   - filter: Which. A user in it must be a number.
    ///   - program: Whose uses of the media library are shown; `nil` for those of every program.
    /// - Throws: `inputOutput` when the history cannot be used.
    public func page(_ filter: HistoryFilter, libraryOf program: String? = nil) throws(CaptureError) -> [HistoryEntry] {
        let now = now()
        let user = filter.user.flatMap { UInt32($0) }
        // Without a number, everybody's entries would be shown.
        guard filter.user == nil || user != nil else {
            throw CaptureError(.internalFault, "the history only knows users by their numbers")
        }
        return try file.access(.reading) { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM entry WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR program = ?2)
                        AND (?3 IS NULL OR service = ?3) AND (?4 IS NULL OR ended IS NULL OR ended >= ?4)
                        AND (?5 IS NULL OR wall <= ?5) AND (?6 IS NULL OR id < ?6)
                        AND (?8 IS NULL OR program = ?8 OR service NOT IN (?9, ?10))
                    ORDER BY id DESC LIMIT ?7
                    """,
                arguments: [
                    user, filter.program, filter.service?.rawValue, filter.since, filter.until, filter.before,
                    filter.limit, program, Service.libraryAdd.rawValue, Service.libraryReadWrite.rawValue,
                ]
            ).map { try HistoryEntry($0, now: now) }
        }
    }

    /// Ends what a daemon that was killed left open, at the latest time at which it is known to have lived.
    private func closeOthers(_ database: Database) throws {
        let open = try Row.fetchAll(
            database,
            sql: "SELECT * FROM entry WHERE ended IS NULL AND run <> ?",
            arguments: [run]
        )
        if open.isEmpty { return }
        let words = (try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'alive'") ?? "")
            .split(separator: " ", omittingEmptySubsequences: false)
        for row in open {
            let entry = try HistoryEntry(row, now: now())
            var latest = entry.began
            if words.count == 3, let wall = Int64(words[0]), let sinceBoot = Int64(words[1]) {
                latest = AnswerTime(wall: wall, sinceBoot: sinceBoot, boot: String(words[2]))
            }
            let duration = entry.began.elapsed(at: latest)
            try database.execute(
                sql: "UPDATE entry SET ended = ?, duration = ?, outcome = ?, message = ? WHERE id = ?",
                arguments: [
                    entry.began.end(after: duration), duration, UseOutcome.daemonEnded.rawValue,
                    "captured ended unexpectedly; this is the last time at which it is known to have run", entry.id,
                ]
            )
        }
    }

    private static func live(_ database: Database, _ now: AnswerTime) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO meta(key, value) VALUES('alive', ?)",
            arguments: ["\(now.wall) \(now.sinceBoot) \(now.boot)"]
        )
    }

    /// Counts a request that came to nothing in the entry of an earlier one; false when there is none, or it must stand
    /// by itself.
    private static func addTo(_ database: Database, _ entry: HistoryEntry) throws -> Bool {
        guard entry.kind == .decision, entry.outcome.isEmpty, entry.isRepeatable else { return false }
        try database.execute(
            sql: """
                UPDATE entry SET times = times + ?, ended = ?, message = ?, pid = ? WHERE id = (
                    SELECT max(id) FROM entry WHERE kind = ? AND user = ? AND program = ? AND service = ? AND status = ?
                        AND cause = ? AND ended BETWEEN ? AND ?)
                """,
            arguments: [
                entry.times, entry.began.wall, entry.message, entry.pid, entry.kind.rawValue, entry.user,
                entry.program, entry.service.rawValue, entry.status.rawValue, entry.cause,
                entry.began.end(after: -3_600_000), entry.began.wall,
            ]
        )
        return database.changesCount > 0
    }
}

/// The end of a use, with all that its entry is made of.
struct UseEnd: Sendable {
    var key: DeviceUseKey
    var use: DeviceUse
    var began: AnswerTime
    var time: AnswerTime
    var outcome: UseOutcome
    var message: String

    /// Milliseconds.
    var duration: Int64 { began.elapsed(at: time) }
}
