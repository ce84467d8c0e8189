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
}
