@testable import MediaLibrary
import CaptureCore
import GRDB
import GRDBSQLite
import Testing

extension LibraryStore {
    /// Waits for the disk no more, in tests of what is read that write much.
    func hurry() throws { _ = try index.pragma("synchronous = OFF") }

    /// Puts assets into the index alone, without files.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - first: The number in the first one's id and name.
    ///   - program: Who made them; `nil` for five programs in turn.
    func fill(_ count: Int, first: Int = 1, program: String? = nil) throws {
        try index.write { database in
            try LibraryStore.putContent(database)
            try database.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + ?2 - 1)
                    INSERT INTO asset(
                        id, kind, name, created, modified, added, device, favourite, program, original
                    )
                    SELECT printf('%032x', i), CASE WHEN i % 10 < 7 THEN 'photo' WHEN i % 10 < 9 THEN 'movie' ELSE 'sound' END,
                        printf('IMG_%07d.jpg', i * 7919 % 10000019), 1400000000000 + i * (315360000000 / ?2),
                        0, 1700000000000 + i, 'camera', i % 7 = 0, coalesce(?3, 'app:' || (i % 5)), ?4 FROM n
                    """,
                arguments: [first, count, program, LibraryStore.fakeHash]
            )
        }
    }

    /// Puts one asset into the index alone.
    @discardableResult
    func put(
        _ number: Int,
        _ kind: MediaAssetKind = .photo,
        created: Int64? = nil,
        program: String = "app:maker",
        isFavourite: Bool = false,
        name: String? = nil
    ) throws -> String {
        let id = id(number)
        try index.write { database in
            try LibraryStore.putContent(database)
            try database.execute(
                sql: """
                    INSERT INTO asset(id, kind, name, created, modified, added, device, favourite, program, original)
                    VALUES(?, ?, ?, ?, 0, ?, '', ?, ?, ?)
                    """,
                arguments: [
                    id, kind.rawValue, name ?? "\(number).jpg", created ?? Int64(number) * 1000, number, isFavourite,
                    program, LibraryStore.fakeHash,
                ]
            )
        }
        return id
    }

    /// Takes one asset that has no file out of the bin.
    func unbin(_ id: String) throws {
        try index.write {
            try $0.cachedStatement(sql: "UPDATE asset SET binned = NULL, discarded = NULL WHERE id = ?").execute(
                arguments: [id])
        }
    }

    /// Removes one asset of the index alone for good.
    func purge(_ id: String) throws {
        try index.write { try $0.execute(sql: "DELETE FROM asset WHERE id = ?", arguments: [id]) }
    }

    /// All pages of a query, one after the other.
    func fetchAll(_ query: AssetFetchOptions, scope: LibraryScope) throws -> [String] {
        var query = query
        var ids: [String] = []
        while true {
            let page = try assets.fetch(query, scope: scope)
            ids += page.assets.map(\.id)
            guard let next = page.next else { return ids }
            #expect(page.assets.count == query.pageSize)
            query.page = next
        }
    }

    /// How many instructions SQLite executes for what is read.
    func steps<T>(_ body: () throws -> T) throws -> Int {
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        unsafe count.initialize(to: 0)
        defer { unsafe count.deallocate() }
        // Reading one after the other takes one connection.
        try index.read { database in
            let increment: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
                unsafe context?.assumingMemoryBound(to: Int.self).pointee += 1
                return 0
            }
            unsafe sqlite3_progress_handler(database.sqliteConnection, 1, increment, count)
        }
        defer { try? index.read { unsafe sqlite3_progress_handler($0.sqliteConnection, 0, nil, nil) } }
        _ = try body()
        return unsafe count.pointee
    }

    private static let fakeHash = String(repeating: "a", count: 64)

    private static func putContent(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO content(hash, size, kind, mediaType, codec, width, height, duration)
                VALUES(?, 1000, 'photo', 'image/jpeg', 'mjpeg', 640, 480, 0) ON CONFLICT DO NOTHING
                """,
            arguments: [fakeHash]
        )
    }
}

/// The id of the asset of a number.
func id(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
}

/// A row of random numbers that can be repeated.
struct Repeatable: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
