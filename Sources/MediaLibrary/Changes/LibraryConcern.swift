import GRDB

/// A moment for all readers at once, to tell later for which of them something has changed. Never given to a program.
public struct LibraryMoment: Hashable, Sendable {
    /// The number of the last change, by reader.
    var last: [String: Int64] = [:]

    init(_ database: Database) throws {
        let rows = try Row.fetchAll(database.cachedStatement(sql: "SELECT reader, last FROM reader"))
        for row in rows { last[try row.decode(forColumn: "reader")] = try row.decode(forColumn: "last") }
    }
}

/// Whom a change concerns.
public struct LibraryConcern: Hashable, Sendable {
    /// Whether it concerns those that see everything.
    public var all: Bool
    /// The ids of the programs that it concerns if they see a part: because it is about something that they see, saw until
    /// now or see from now on. All others get to know nothing of it, not even that something happened.
    public var programs: Set<String>

    /// Whether it concerns a reader.
    public func includes(_ scope: LibraryScope) -> Bool {
        switch scope {
        case .all: all
        case .limited(let program): programs.contains(program)
        case .nothing: false
        }
    }
}
