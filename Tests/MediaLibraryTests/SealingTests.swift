@testable import MediaLibrary
import CaptureCore
import GRDB
import Testing

@Suite struct `Places in pages and tokens` {
    let temporary: TemporaryLibrary
    let library: LibraryStore
    let limited = LibraryScope.limited(program: "app:limited")

    init() throws {
        (temporary, library) = try TemporaryLibrary.opened()
        try library.hurry()
        try library.fill(20, program: "app:limited")
    }

    /// What programs may send in the place of a text that they were given.
    private func wrong(_ text: String) -> [String] {
        var random = Repeatable(state: 5)
        var texts = ["", "0", "x", String(repeating: "0", count: text.utf8.count), text + "00", text.uppercased()]
        texts += [String(text.dropLast()), String(text.dropLast(2)), " " + text, text + "\0"]
        for _ in 0..<200 {
            var bytes = Array(text.utf8)
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let digits = Array("0123456789abcdef".utf8).filter { $0 != bytes[place] }
            bytes[place] = digits.randomElement(using: &random) ?? 0
            texts.append(String(decoding: bytes, as: UTF8.self))
            texts.append(String(text.prefix(Int.random(in: 0..<text.utf8.count, using: &random))))
            let noise = (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            texts.append(String(decoding: noise, as: UTF8.self))
        }
        return texts.filter { $0 != text }
    }

    @Test func `open for nobody who made them up or changed them`() throws {
        let token = try library.history.token(scope: .all)
        for text in wrong(token.rawValue) {
            #expect(
                code { _ = try library.history.changes(since: .init(rawValue: text), scope: .all) } == .staleToken,
                "\(text)"
            )
        }
        for order in [AssetFetchOptions.Order.created, .name] {
            var query = AssetFetchOptions(order: order, pageSize: 3)
            let page = try #require(try library.assets.fetch(query, scope: .all).next)
            for text in wrong(page) + [token.rawValue] {
                query.page = text
                #expect(code { _ = try library.assets.fetch(query, scope: .all) } == .staleToken, "\(text)")
            }
            #expect(code { _ = try library.history.changes(since: .init(rawValue: page), scope: .all) } == .staleToken)
        }
    }

    @Test func `hold for what one reads, and for its query`() throws {
        let scopes: [LibraryScope] = [.all, limited, .limited(program: "all"), .nothing]
        let query = AssetFetchOptions(pageSize: 3)
        for scope in scopes {
            let token = try library.history.token(scope: scope)
            let next = try library.assets.fetch(query, scope: scope).next
            for other in scopes where other != scope {
                #expect(code { _ = try library.history.changes(since: token, scope: other) } == .staleToken)
                guard let next, other != .nothing else { continue }
                var page = query
                page.page = next
                #expect(code { _ = try library.assets.fetch(page, scope: other) } == .staleToken)
            }
        }
        let page = try library.assets.fetch(query, scope: .all).next
        let others = [
            AssetFetchOptions(kinds: [.photo], pageSize: 3, page: page),
            AssetFetchOptions(from: 1, pageSize: 3, page: page),
            AssetFetchOptions(until: 1, pageSize: 3, page: page),
            AssetFetchOptions(program: "app:limited", pageSize: 3, page: page),
            AssetFetchOptions(isFavourite: false, pageSize: 3, page: page),
            AssetFetchOptions(isBinned: true, pageSize: 3, page: page),
            AssetFetchOptions(order: .added, pageSize: 3, page: page),
            AssetFetchOptions(isAscending: true, pageSize: 3, page: page),
        ]
        for other in others { #expect(code { _ = try library.assets.fetch(other, scope: .all) } == .staleToken) }
        let longer = AssetFetchOptions(pageSize: 5, page: page)
        #expect(try library.assets.fetch(longer, scope: .all).assets.count == 5)
    }

    @Test func `are of one library`() throws {
        let other = try TemporaryLibrary()
        try other.library().fill(20, program: "app:limited")
        let token = try other.library().history.token(scope: .all)
        #expect(code { _ = try library.history.changes(since: token, scope: .all) } == .staleToken)
    }

    @Test func `say nothing by how they look`() throws {
        let tokens = try (0..<20).map { _ in try library.history.token(scope: limited) }
        #expect(Set(tokens).count == 20 && Set(tokens.map(\.rawValue.utf8.count)).count == 1)
        try library.fill(5000, first: 1000, program: "app:limited")
        let later = try library.history.token(scope: limited)
        #expect(later.rawValue.utf8.count == tokens[0].rawValue.utf8.count)
        let pieces = try library.history.changes(since: tokens[0], scope: limited, limit: 1)
        #expect(pieces.token.rawValue.utf8.count == tokens[0].rawValue.utf8.count)
        let pages = try ["a.jpg", String(repeating: "é", count: 127)].enumerated().map { index, name in
            try library.put(90_000 + index, name: name)
            return try library.assets.fetch(AssetFetchOptions(order: .name, pageSize: 3 + index), scope: .all).next?
                .utf8.count
        }
        #expect(pages[0] == pages[1])
    }

    @Test func `go on where they were when the asset there is gone`() throws {
        for order in [AssetFetchOptions.Order.created, .added, .name] {
            let query = AssetFetchOptions(order: order, pageSize: 4)
            let all = try library.fetchAll(query, scope: .all)
            var page = query
            page.page = try library.assets.fetch(query, scope: .all).next
            try library.purge(all[3])
            #expect(try library.assets.fetch(page, scope: .all).assets.map(\.id) == Array(all[4..<8]))
        }
    }

    @Test(arguments: [
        AssetFetchOptions(pageSize: 0), AssetFetchOptions(pageSize: 1001), AssetFetchOptions(pageSize: .min),
        AssetFetchOptions(from: 5, until: 5),
        AssetFetchOptions(program: ""), AssetFetchOptions(album: "no id"), AssetFetchOptions(order: .position),
    ])
    func `are not needed to refuse a query that means nothing`(_ query: AssetFetchOptions) throws {
        #expect(code { _ = try library.assets.fetch(query, scope: .all) } == .invalidArgument)
        #expect(code { _ = try library.assets.count(query, scope: .all) } == .invalidArgument)
    }

    @Test func `and dates at the end of numbers are found`() throws {
        for (from, until) in [(Int64.min, Int64.max), (nil, .max), (.min, nil), (.min, .min + 1), (.max - 1, .max)] {
            let query = AssetFetchOptions(from: from, until: until)
            let expected = from == .max - 1 || until == .min + 1 ? 0 : 20
            #expect(try library.assets.count(query, scope: .all) == expected)
            #expect(try library.fetchAll(query, scope: .all).count == expected)
        }
    }
}
