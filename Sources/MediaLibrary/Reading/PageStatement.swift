import CaptureCore
import GRDB

/// The statement that finds the numbers of a page's assets.
///
/// Each kind of each list, marked and unmarked, is one range of an index, in order: the page is merged from a few of
/// them, and no row is looked at that is not on it. Every range names its index, so that the statement fails rather than
/// search a table.
struct PageStatement {
    private(set) var parts: [String] = []
    private(set) var arguments: [any DatabaseValueConvertible] = []
    private let order: AssetFetchOptions.Order
    private let ascending: Bool

    /// - Parameter sortsDates: Whether to take everything of the dates and sort it, where it is not ordered by them. Else
    ///   what is in order is gone through until there are enough of these dates.
    init(_ query: AssetFetchOptions, _ selection: Selection, after place: PagePlace?, sortsDates: Bool) {
        order = query.order
        ascending = query.isAscending
        for list in selection.lists {
            for kind in selection.kinds {
                for mark in selection.marks {
                    var base = selection.condition(list)
                    base.sql += " AND kind = ? AND favourite = ?"
                    base.arguments += [kind.rawValue, mark] as [any DatabaseValueConvertible]
                    let number = list.isWhole ? "number" : "asset"
                    if query.order == .created {
                        addByDate(selection, list, base, number, place)
                    } else {
                        let dates = selection.dates
                        if !dates.sql.isEmpty { base.sql += " AND " + dates.sql }
                        base.arguments += dates.arguments
                        addByKey(selection.source(list, sortsDates ? .created : order), base, number, place)
                    }
                }
            }
        }
    }

    /// The statement for a page.
    ///
    /// Dates together with another order than theirs have no index of their own: few assets of these dates are sorted, of
    /// many the ordered ones are gone through, so that both ways together take no more than the root of what there is.
    static func best(
        _ query: AssetFetchOptions,
        _ selection: Selection,
        _ place: PagePlace?,
        _ database: Database
    ) throws -> PageStatement {
        var sortsDates = false
        if query.order != .created, query.from != nil || query.until != nil {
            var all = selection
            (all.from, all.until) = (nil, nil)
            let dated = try selection.count(database)
            sortsDates = try dated * dated <= (query.pageSize + 1) * all.count(database)
        }
        return PageStatement(query, selection, after: place, sortsDates: sortsDates)
    }

    /// The whole, with as many rows as there are arguments for after these.
    var sql: String {
        let way = ascending ? "ASC" : "DESC"
        let collation = order == .name ? " COLLATE NOCASE" : ""
        return """
            SELECT \(MediaAsset.columns), page.number AS pageNumber, page.key AS pageKey
            FROM (
                \(parts.joined(separator: "\n    UNION ALL "))
                ORDER BY 2\(collation) \(way), 1 \(way) LIMIT ?
            ) AS page
            CROSS JOIN asset ON asset.number = page.number
            CROSS JOIN content ON content.hash = coalesce(asset.edit, asset.original)
            ORDER BY page.key\(collation) \(way), page.number \(way)
            """
    }

    private typealias Condition = (sql: String, arguments: [any DatabaseValueConvertible])

    /// By date, the dates and the place are bounds of the same key, of which the narrower one counts.
    private mutating func addByDate(
        _ selection: Selection,
        _ list: AssetList,
        _ base: Condition,
        _ number: String,
        _ place: PagePlace?
    ) {
        let source = selection.source(list, .created)
        var from = selection.from
        var until = selection.until
        guard let place, case .number(let key) = place.key else {
            add(source, base, number, Selection.dates(from, until))
            return
        }
        if from ?? .min <= key, key < until ?? .max {
            add(source, base, number, ("created = ? AND \(number) \(comparison) ?", [key, place.number]))
        }
        if ascending {
            guard key < .max else { return }
            from = max(from ?? .min, key + 1)
        } else {
            until = min(until ?? .max, key)
        }
        add(source, base, number, Selection.dates(from, until))
    }

    private mutating func addByKey(_ source: String, _ base: Condition, _ number: String, _ place: PagePlace?) {
        guard let place else {
            add(source, base, number, ("", []))
            return
        }
        let key = place.key.value
        add(source, base, number, ("\(order.key) = ? AND \(number) \(comparison) ?", [key, place.number]))
        add(source, base, number, ("\(order.key) \(comparison) ?", [key]))
    }

    private mutating func add(_ source: String, _ base: Condition, _ number: String, _ more: Condition) {
        parts.append(
            "SELECT \(number) AS number, \(order.rawValue) AS key FROM \(source) WHERE "
                + [base.sql, more.sql].filter { !$0.isEmpty }.joined(separator: " AND ")
        )
        arguments += base.arguments + more.arguments
    }

    private var comparison: String { ascending ? ">" : "<" }
}
