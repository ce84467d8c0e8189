import CaptureKit

/// A column of a table: its heading, and what happens to it on a narrow terminal.
struct Column: ExpressibleByStringLiteral {
    enum Alignment {
        case left
        case right
    }

    /// What happens to it on a narrow terminal.
    enum Fitting {
        /// Always shown whole.
        case fixed
        /// Shown only in a table with everything.
        case detail
        /// Left out if the table would not fit.
        case optional
        /// Cut at its end.
        case text
        /// A name that people type elsewhere: cut in its middle only if nothing else helps, and the cut is reported.
        case name
    }

    let heading: String
    let alignment: Alignment
    let fitting: Fitting

    private init(_ heading: String, _ fitting: Fitting) {
        alignment = heading.hasPrefix(">") ? .right : .left
        self.heading = heading.hasPrefix(">") ? String(heading.dropFirst()) : heading
        self.fitting = fitting
    }

    /// A column that is always shown whole, and right-aligned if its heading begins with `>`.
    init(stringLiteral heading: String) { self.init(heading, .fixed) }

    static func detail(_ heading: String) -> Column { Column(heading, .detail) }
    static func optional(_ heading: String) -> Column { Column(heading, .optional) }
    static func text(_ heading: String) -> Column { Column(heading, .text) }
    static func name(_ heading: String) -> Column { Column(heading, .name) }
}

/// Rows under headings, aligned, with two spaces between columns; the last column is not padded.
struct Table {
    private var columns: [Column]
    private var rows: [[String]] = []
    /// Whether a name that somebody may want to type is cut.
    private(set) var isCut = false

    /// A table without rows.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Whether there are no rows.
    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row; cells are made printable, missing ones are empty.
    mutating func add(_ cells: [String]) {
        rows.append(columns.indices.map { $0 < cells.count ? Printable.text(cells[$0], limit: .max) : "" })
    }

    /// The lines, without headings when there are no rows.
    var text: String {
        guard !rows.isEmpty else { return "" }
        let widths = widths
        return ([columns.map(\.heading)] + rows).map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let fill = String(repeating: " ", count: widths[column] - TextWidth.of(cell))
                if column > 0 { line += "  " }
                switch columns[column].alignment {
                case .right: line += fill + cell
                case .left: line += column == row.count - 1 ? cell : cell + fill
                }
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    /// The short table for a terminal: without details, and with cells cut until a line fits.
    ///
    /// - Parameter width: The terminal's columns; `nil` for everything.
    func fitted(to width: Int?) -> Table {
        guard let width else { return self }
        var table = self
        for row in table.rows.indices { table.rows[row] = table.rows[row].map { TextWidth.cut($0, to: Table.most) } }
        table.drop { $0.fitting == .detail }
        for column in table.columns.indices.reversed() where table.rows.allSatisfy({ $0[column].isEmpty }) {
            table.drop(at: column)
        }
        while table.width > width, let last = table.columns.lastIndex(where: { $0.fitting == .optional }) {
            table.drop(at: last)
        }
        // On a terminal so narrow the first columns say the most.
        while table.narrowest > width, table.columns.count > 1 { table.drop(at: table.columns.count - 1) }
        table.shorten(.text, to: width)
        table.shorten(.name, to: width)
        return table
    }

    private var widths: [Int] {
        columns.indices.map { column in
            (rows.map { TextWidth.of($0[column]) } + [TextWidth.of(columns[column].heading)]).max() ?? 0
        }
    }

    private var width: Int { widths.reduce(0, +) + 2 * max(columns.count - 1, 0) }

    /// The width of the table when everything is cut as short as is sensible.
    private var narrowest: Int {
        let least = zip(columns, widths).map { column, width in
            column.fitting == .text || column.fitting == .name
                ? min(width, max(Table.least, TextWidth.of(column.heading))) : width
        }
        return least.reduce(0, +) + 2 * max(columns.count - 1, 0)
    }

    private mutating func drop(_ isLeftOut: (Column) -> Bool) {
        for column in columns.indices.reversed() where isLeftOut(columns[column]) { drop(at: column) }
    }

    private mutating func drop(at column: Int) {
        columns.remove(at: column)
        for row in rows.indices { rows[row].remove(at: column) }
    }

    /// Narrows the widest column of a kind until the table fits, or all of the kind are as narrow as is sensible.
    private mutating func shorten(_ fitting: Column.Fitting, to width: Int) {
        var widths = widths
        var excess = self.width - width
        var isShorter: Set<Int> = []
        while excess > 0 {
            let candidates = columns.indices.filter { column in
                columns[column].fitting == fitting && widths[column] > Table.least
                    && widths[column] > TextWidth.of(columns[column].heading)
            }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            isShorter.insert(widest)
            excess -= 1
        }
        for column in isShorter {
            for row in rows.indices {
                let cell = rows[row][column]
                guard TextWidth.of(cell) > widths[column] else { continue }
                let isName = fitting == .name
                rows[row][column] = TextWidth.cut(cell, to: widths[column], inMiddle: isName)
                if isName { isCut = true }
            }
        }
    }

    /// The columns that a cell keeps.
    private static let least = 8
    /// The columns that any cell has at most on a terminal.
    private static let most = 200
}
