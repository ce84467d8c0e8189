@testable import MediaLibrary
import CaptureCore
import Foundation
import GRDB
import Testing

/// Ten or a hundred times the assets, and every answer takes as long. `CAPTURE_LIBRARY_ASSETS=1000000` compares a million
/// with ten thousand.
@Suite(.serialized) struct `A large library` {
    /// How much longer the large one may take.
    static let bound = 1.5

    /// A name for what is asked, and asking it.
    typealias Work = (name: String, run: (Sample) throws -> Void)

    /// A library with albums, choices and something that happened.
    struct Sample {
        let temporary: TemporaryLibrary
        let library: MediaLibrary
        let album: String
        let span: Range<Int64>
        let page: String
        let tokens: [LibraryScope: String]

        static let limited = LibraryScope.limited(program: "app:limited")

        init(_ count: Int) throws {
            temporary = try TemporaryLibrary()
            library = try temporary.library()
            try library.hurry()
            try library.fill(count)
            album = try library.createAlbum("tenth", program: "app:1", scope: .all).id
            try library.write { database in
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
            let new = try library.choose("app:limited", chosen)
            #expect(new.count == 10)
            // A fifth of ten years, from the middle of a minute to the middle of another.
            span = 1_463_072_012_345..<1_526_144_098_765
            page = try #require(try library.fetch(AssetQuery(), scope: .all).next)
            var tokens: [LibraryScope: String] = [:]
            for scope in [.all, Self.limited] { tokens[scope] = try library.token(scope: scope) }
            self.tokens = tokens
            for number in 0..<100 {
                _ = try library.change(
                    number % 10 == 0 ? chosen[number / 10] : id(number * (count / 100) + 5),
                    AssetChange(isFavourite: number % 3 == 0),
                    scope: .all
                )
            }
            _ = try library.pragma("wal_checkpoint")
        }
    }

    static var predicates: [(name: String, set: (inout AssetQuery, Sample) -> Void)] {
        [
            ("type", { query, _ in query.kinds = [.photo, .sound] }),
            ("date", { query, sample in (query.from, query.until) = (sample.span.lowerBound, sample.span.upperBound) }),
            ("album", { query, sample in query.album = sample.album }),
            ("program", { query, _ in query.program = "app:2" }),
            ("favourite", { query, _ in query.isFavourite = true }),
        ]
    }

    static var queries: [(name: String, make: (Sample) -> AssetQuery)] {
        var queries: [(name: String, make: (Sample) -> AssetQuery)] = [("all", { _ in AssetQuery() })]
        for (index, first) in predicates.enumerated() {
            queries.append(
                (
                    first.name,
                    { sample in
                        var query = AssetQuery()
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
                            var query = AssetQuery()
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

    static var works: [Work] {
        var works: [Work] = []
        for scope in [.all, Sample.limited] {
            let reader = scope == .all ? "" : ", limited"
            for query in queries {
                works.append(
                    (
                        "page of \(query.name)\(reader)",
                        { sample in
                            let found = try sample.library.fetch(query.make(sample), scope: scope).assets.count
                            #expect(scope == .all ? found > 0 : found <= 10, "\(query.name)")
                        }
                    )
                )
                works.append(
                    (
                        "count of \(query.name)\(reader)",
                        { sample in
                            let found = try sample.library.count(query.make(sample), scope: scope)
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
                        let changes = try sample.library.changes(since: token, scope: scope)
                        #expect(changes.changed.count == (scope == .all ? 100 : 10) && changes.isComplete)
                    }
                )
            )
            works.append(
                (
                    "albums\(reader)",
                    { sample in
                        let albums = try sample.library.albums(scope: scope)
                        #expect(albums.count <= 1)
                    }
                )
            )
            works.append(("token\(reader)", { _ = try $0.library.token(scope: scope) }))
        }
        works.append(
            (
                "second page",
                { sample in
                    _ = try sample.library.fetch(AssetQuery(page: sample.page), scope: .all)
                }
            )
        )
        for order in [AssetOrder.added, .name] {
            works.append(
                (
                    "page by \(order.rawValue)",
                    { sample in
                        _ = try sample.library.fetch(AssetQuery(order: order, ascending: true), scope: .all)
                    }
                )
            )
        }
        return works
    }

    @Test func `answers in the time of a small one`() throws {
        let count = ProcessInfo.processInfo.environment["CAPTURE_LIBRARY_ASSETS"].flatMap(Int.init) ?? 50_000
        let small = try Sample(count >= 1_000_000 ? 10_000 : count / 10)
        let large = try Sample(count)
        let shows = count >= 1_000_000
        for work in Self.works {
            var ratio = Double.infinity
            // Others use the machine too: what comes out once within the bound is not slower by its own account.
            for _ in 0..<5 where ratio > Self.bound {
                let times = try Self.medians(work, small, large)
                ratio = min(ratio, times.large / times.small)
                if shows {
                    print(
                        "\(work.name): \(Int(times.small * 1e6)) and \(Int(times.large * 1e6)) µs, "
                            + "\((ratio * 100).rounded() / 100) times"
                    )
                }
            }
            #expect(ratio <= Self.bound, "\(work.name)")
        }
    }

    private static func medians(_ work: Work, _ small: Sample, _ large: Sample) throws -> (small: Double, large: Double)
    {
        var times: [[Double]] = [[], []]
        for _ in 0..<15 {
            for (index, sample) in [small, large].enumerated() {
                let time = try ContinuousClock().measure { try work.run(sample) }
                times[index].append(Double(time.components.attoseconds) * 1e-18 + Double(time.components.seconds))
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        return (medians[0], medians[1])
    }

    @Test func `is never searched from end to end`() throws {
        let sample = try Sample(500)
        let statements = try sample.library.traced {
            for work in Self.works { try work.run(sample) }
            for order in [AssetOrder.added, .name, .position] {
                for page in [nil, ""] {
                    for isBinned in [false, true] {
                        var query = AssetQuery(
                            from: sample.span.lowerBound,
                            album: order == .position ? sample.album : nil,
                            isBinned: isBinned,
                            order: order,
                            limit: 1
                        )
                        let first = try sample.library.fetch(query, scope: .all)
                        guard page != nil, let next = first.next else { continue }
                        query.page = next
                        _ = try sample.library.fetch(query, scope: .all)
                    }
                }
            }
            for scope in [.all, Sample.limited] {
                _ = try sample.library.asset(id(31), scope: scope)
                _ = try sample.library.album(named: "tenth", scope: scope)
            }
            _ = try sample.library.chosen("app:limited")
        }
        #expect(statements.count > 60)
        for statement in statements {
            let plan = try sample.library.read { database in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + statement).map { $0["detail"] as String }
            }
            let scans = plan.filter { line in
                line.hasPrefix("SCAN")
                    && !["CONSTANT ROW", "SCAN page", "SCAN span", "SCAN (subquery"].contains {
                        line.contains($0)
                    }
            }
            // One row for each reader that there ever was.
            #expect(scans.allSatisfy { $0 == "SCAN reader" }, "\(statement)\n\(plan)")
        }
    }
}

extension MediaLibrary {
    /// The statements that reading calls execute, each once.
    fileprivate func traced(_ body: () throws -> Void) throws -> Set<String> {
        let statements = Statements()
        try read { $0.trace { statements.insert($0) } }
        try body()
        try read { $0.trace(nil) }
        return statements.found
    }

    /// Reading one after the other takes one connection, and this is its thread.
    private final class Statements: @unchecked Sendable {
        var found: Set<String> = []

        func insert(_ event: Database.TraceEvent) {
            guard case .statement(let statement) = event, statement.sql.hasPrefix("SELECT") else { return }
            found.insert(statement.expandedSQL)
        }
    }
}
