import GRDB

/// What tells one database of the daemon from another: its file, its tables, and what it is called in messages.
struct StoreKind: Sendable {
    /// As in `the store of answers`, for sentences.
    var name: String
    /// As in `a store of answers`.
    var indefiniteName: String
    /// How a person begins anew where the file is damaged, as in `start without any answer`.
    var startOver: String
    /// The file's name in the state directory.
    var fileName: String
    /// Says that a database is ours and of this kind (`PRAGMA application_id`).
    var applicationID: Int32
    /// Raised with every change of the tables (`PRAGMA user_version`).
    var version: Int32
    /// Makes the tables, and sets id and version, in an empty database. There is a table `meta` of keys and values.
    var create: @Sendable (Database) throws -> Void
    /// Brings the tables of an older version to the present one, the version included, within one transaction.
    var upgrade: @Sendable (Database, Int32) throws -> Void
}
