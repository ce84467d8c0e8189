import CaptureCore
import GRDB

/// A moment in what happened for a reader, by the numbers of its own log.
struct ChangeToken: Equatable {
    /// What the client knows.
    var base: Int64
    /// Up to where it is being told, in pieces.
    var end: Int64
    /// Up to where it has been told; `end` when all is.
    var told: Int64
    /// When the change of the number `base` was, 0 where it is not known any more: in a copy of the index that was brought
    /// back, the same numbers come to mean something else.
    var mark: Int64

    /// The moment up to which everything was told.
    init(_ moment: Int64, _ reader: String?, _ database: Database) throws {
        (base, end, told) = (moment, moment, moment)
        mark = try ReaderLog.time(of: moment, reader, database) ?? 0
    }

    /// Opens a token.
    ///
    /// - Throws: `staleToken` for one that was not given out to this reader by this library, or with which the log does not
    ///   go together any more.
    init(_ text: String, _ scope: LibraryScope, _ log: ReaderLog, _ sealing: Sealing, _ database: Database) throws {
        guard let bytes = try sealing.open(text, for: ChangeToken.purpose(scope), count: 32) else {
            throw CaptureError(
                .staleToken,
                "the token does not belong to this library, this program and what it may read; fetch again"
            )
        }
        base = SealedNumbers.number(bytes)
        end = SealedNumbers.number(bytes.dropFirst(8))
        told = SealedNumbers.number(bytes.dropFirst(16))
        mark = SealedNumbers.number(bytes.dropFirst(24))
        let time = try ReaderLog.time(of: base, scope.reader, database)
        guard base >= log.forgotten, end <= log.last, time == nil || time == mark else {
            throw CaptureError(
                .staleToken,
                "the changes since that token are no longer known; take a new token, then fetch again"
            )
        }
    }

    /// The token as it is given out, always of the same length.
    func sealed(_ scope: LibraryScope, _ sealing: Sealing) throws -> String {
        try sealing.seal(SealedNumbers.bytes([base, end, told, mark]), for: ChangeToken.purpose(scope))
    }

    private static func purpose(_ scope: LibraryScope) -> String { "changes for \(scope.identity)" }
}

/// How far a reader's log goes.
struct ReaderLog: Equatable {
    /// The number of the last change.
    var last: Int64 = 0
    /// The number of the last that is forgotten.
    var forgotten: Int64 = 0

    init(_ reader: String?, _ database: Database) throws {
        guard let reader else { return }
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT last, forgotten FROM reader WHERE reader = ?"),
            arguments: [reader]
        )
        guard let row else { return }
        last = try row.decode(forColumn: "last")
        forgotten = try row.decode(forColumn: "forgotten")
    }

    /// When the change of a number was; `nil` when it is not known.
    static func time(of number: Int64, _ reader: String?, _ database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT at FROM change WHERE reader = ? AND number = ?"),
            arguments: [reader, number]
        )
    }
}
