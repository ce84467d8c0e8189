@testable import MediaLibrary
import CaptureCore
import GRDB
import Testing

/// A library with albums, choices and something that happened.
struct ReadingSample {
    let temporary: TemporaryLibrary
    let library: LibraryStore
    let album: String
    let span: Range<Int64>
    let page: String
    let tokens: [LibraryScope: LibraryChangeToken]

    static let limited = LibraryScope.limited(program: "app:limited")

    init(_ count: Int) throws {
        temporary = try TemporaryLibrary()
        library = try temporary.library()
        try library.hurry()
        try library.fill(count)
        album = try library.albums.create("tenth", program: "app:1", scope: .all).id
        try library.index.write { database in
            try database.execute(
                sql: """
                    INSERT INTO listed(
                        asset, album, reader, position, maker, binned, kind, favourite, created, added, name
                    )
                    SELECT number, 1, '', number << 20, program, 0, kind, favourite, created, added, name
                    FROM asset WHERE number / 10 % 10 = 3;
                    UPDATE album SET tail = ? << 20;
                    """,
                arguments: [count]
            )
        }
        let chosen = (0..<10).map { id(30 + 1 + $0 * (count / 10)) }
        let new = try library.choices.choose("app:limited", chosen)
        #expect(new.count == 10)
        // A fifth of ten years, from the middle of a minute to the middle of another.
        span = 1_463_072_012_345..<1_526_144_098_765
        page = try #require(try library.assets.fetch(AssetFetchOptions(), scope: .all).next)
        var tokens: [LibraryScope: LibraryChangeToken] = [:]
        for scope in [.all, ReadingSample.limited] { tokens[scope] = try library.history.token(scope: scope) }
        self.tokens = tokens
        for number in 0..<100 {
            _ = try library.assets.change(
                number % 10 == 0 ? chosen[number / 10] : id(number * (count / 100) + 5),
                AssetChanges(isFavourite: number % 3 == 0),
                scope: .all
            )
        }
        _ = try library.index.pragma("wal_checkpoint")
    }
}

/// What is asked of a library, in one way each.
enum ReadingWork {
    /// A name for what is asked, and asking it.
    typealias Work = (name: String, run: (ReadingSample) throws -> Void)

    static var predicates: [(name: String, set: (inout AssetFetchOptions, ReadingSample) -> Void)] {
        [
            ("type", { query, _ in query.kinds = [.photo, .sound] }),
            ("date", { query, sample in (query.from, query.until) = (sample.span.lowerBound, sample.span.upperBound) }),
            ("album", { query, sample in query.album = sample.album }),
            ("program", { query, _ in query.program = "app:2" }),
            ("favourite", { query, _ in query.isFavourite = true }),
        ]
    }

    static var queries: [(name: String, make: (ReadingSample) -> AssetFetchOptions)] {
        var queries: [(name: String, make: (ReadingSample) -> AssetFetchOptions)] = [
            ("all", { _ in AssetFetchOptions() })
        ]
        for (index, first) in predicates.enumerated() {
            queries.append(
                (
                    first.name,
                    { sample in
                        var query = AssetFetchOptions()
                        first.set(&query, sample)
                        return query
                    }
                )
            )
            for second in predicates[(index + 1)...] {
                queries.append(
                    (
                        "\(first.name) and \(second.name)",
                        { sample in
                            var query = AssetFetchOptions()
                            first.set(&query, sample)
                            second.set(&query, sample)
                            return query
                        }
                    )
                )
            }
        }
        return queries
    }

    static var all: [Work] {
        var works: [Work] = []
        for scope in [.all, ReadingSample.limited] {
            let reader = scope == .all ? "" : ", limited"
            for query in queries {
                works.append(
                    (
                        "page of \(query.name)\(reader)",
                        { sample in
                            let found = try sample.library.assets.fetch(query.make(sample), scope: scope).assets.count
                            #expect(scope == .all ? found > 0 : found <= 10, "\(query.name)")
                        }
                    )
                )
                works.append(
                    (
                        "count of \(query.name)\(reader)",
                        { sample in
                            let found = try sample.library.assets.count(query.make(sample), scope: scope)
                            #expect(scope == .all ? found > 0 : found <= 10, "\(query.name)")
                        }
                    )
                )
            }
            works.append(
                (
                    "changes\(reader)",
                    { sample in
                        let token = try #require(sample.tokens[scope])
                        let changes = try sample.library.history.changes(since: token, scope: scope)
                        #expect(changes.changed.count == (scope == .all ? 100 : 10) && changes.isComplete)
                    }
                )
            )
            works.append(
                (
                    "albums\(reader)",
                    { sample in
                        let albums = try sample.library.albums.all(scope: scope)
                        #expect(albums.count <= 1)
                    }
                )
            )
            works.append(("token\(reader)", { _ = try $0.library.history.token(scope: scope) }))
        }
        works.append(
            (
                "changing, binning and restoring",
                { sample in
                    _ = try sample.library.assets.change(id(31), AssetChanges(created: 1_500_000_000_000), scope: .all)
                    _ = try sample.library.assets.change(id(31), AssetChanges(created: 1_400_000_000_000), scope: .all)
                    try sample.library.bin.delete([id(32)], scope: .all)
                    try sample.library.unbin(id(32))
                }
            )
        )
        works.append(
            (
                "choosing and moving",
                { sample in
                    _ = try sample.library.choices.choose("app:other", [id(33), id(36)])
                    try sample.library.members.move([id(33)], inAlbum: sample.album, before: id(36), scope: .all)
                    try sample.library.choices.forgetChosen("app:other")
                }
            )
        )
        works.append(
            (
                "second page",
                { sample in
                    _ = try sample.library.assets.fetch(AssetFetchOptions(page: sample.page), scope: .all)
                }
            )
        )
        for order in [AssetFetchOptions.Order.added, .name] {
            works.append(
                (
                    "page by \(order.rawValue)",
                    { sample in
                        _ = try sample.library.assets.fetch(
                            AssetFetchOptions(order: order, isAscending: true),
                            scope: .all
                        )
                    }
                )
            )
        }
        return works
    }
}
