import CaptureKit

/// Rows under headings, aligned, two spaces between columns; the last column is not filled up.
struct Table {
    enum Alignment {
        case left
        case right
    }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// A table with a heading for every column; those that begin with `>` stand right.
    init(_ headings: [String]) {
        alignments = headings.map { $0.hasPrefix(">") ? .right : .left }
        self.headings = headings.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 }
    }

    /// Adds a row; cells are made printable, missing ones are empty.
    mutating func add(_ cells: [String]) {
        rows.append(headings.indices.map { $0 < cells.count ? Printable.text(cells[$0]) : "" })
    }

    /// The lines, without headings when there are no rows.
    var text: String {
        guard !rows.isEmpty else { return "" }
        let all = [headings] + rows
        let widths = headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let fill = String(repeating: " ", count: widths[column] - cell.count)
                if column > 0 { line += "  " }
                switch alignments[column] {
                case .right: line += fill + cell
                case .left: line += column == row.count - 1 ? cell : cell + fill
                }
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
