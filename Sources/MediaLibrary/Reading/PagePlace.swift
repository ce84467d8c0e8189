import CaptureCore
import GRDB

/// The last asset of a page, after which the next one begins: by what it was ordered by when the page was read, so that
/// the place holds when the asset goes.
struct PagePlace: Equatable {
    /// What the page is ordered by: milliseconds, a position or a name.
    enum Key: Equatable {
        case number(Int64)
        case name(String)

        var value: DatabaseValue {
            switch self {
            case .number(let number): number.databaseValue
            case .name(let name): name.databaseValue
            }
        }
    }

    var key: Key
    /// The asset's number.
    var number: Int64

    /// The place as it is given out, of one length for each order.
    func sealed(_ query: AssetFetchOptions, _ scope: LibraryScope, _ sealing: Sealing) throws -> String {
        var bytes = SealedNumbers.bytes([number])
        switch key {
        case .number(let key): bytes += SealedNumbers.bytes([key])
        case .name(let name):
            let name = Array(name.utf8.prefix(LibraryName.limit))
            bytes += [UInt8(name.count)] + name + Array(repeating: 0, count: LibraryName.limit - name.count)
        }
        return try sealing.seal(bytes, for: PagePlace.purpose(query, scope))
    }

    /// The place that a query names.
    ///
    /// - Throws: `staleToken` for one that was not given out for this query and reader by this library.
    init?(_ query: AssetFetchOptions, _ scope: LibraryScope, _ sealing: Sealing) throws {
        guard let page = query.page else { return nil }
        let isName = query.order == .name
        let bytes = try sealing.open(
            page,
            for: PagePlace.purpose(query, scope),
            count: isName ? 8 + 1 + LibraryName.limit : 16
        )
        guard let bytes else {
            throw CaptureError(
                .staleToken,
                "the place of the page is not one of this library for this query and program; begin with the first page"
            )
        }
        number = SealedNumbers.number(bytes)
        let rest = bytes.dropFirst(8)
        key =
            isName
            ? .name(String(decoding: rest.dropFirst().prefix(Int(rest.first ?? 0)), as: UTF8.self))
            : .number(SealedNumbers.number(rest))
    }

    private static func purpose(_ query: AssetFetchOptions, _ scope: LibraryScope) -> String {
        "page of \(query.identity) for \(scope.identity)"
    }
}

extension PagePlace {
    /// The place of a row of a page.
    init(_ row: Row, _ order: AssetFetchOptions.Order) throws {
        key =
            order == .name
            ? .name(try row.decode(forColumn: "pageKey")) : .number(try row.decode(forColumn: "pageKey"))
        number = try row.decode(forColumn: "pageNumber")
    }
}
