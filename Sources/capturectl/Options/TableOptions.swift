import ArgumentParser

/// How a table is printed.
struct TableOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help:
            "Show every column uncut. By default a terminal shows what fits; a file or pipe gets everything."
    )
    var wide = false

    @Flag(help: "Print JSON.")
    var json = false

    /// Prints what there is.
    ///
    /// - Parameter note: What is said in the place of a table without rows; `nil` for that table.
    func show<Row>(
        _ rows: [Row],
        _ table: ([Row]) -> Table,
        _ json: (Row) -> JSON,
        ifNone note: String? = nil
    ) {
        if self.json { return Output.print(JSON.array(rows.map(json))) }
        if rows.isEmpty, let note { return Output.note(note) }
        Output.print(table(rows), isWide: wide)
    }
}
