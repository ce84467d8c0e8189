import ArgumentParser
import CaptureKit

/// When a recording ends for the sake of its disk.
struct LimitOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "End the recording before the file is larger than this, as in 500M or 1.5G. K, M, G and T are powers of 1024.",
            valueName: "size"
        ),
        transform: NumberOptions.bytes
    )
    var maxSize: Int64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "End the recording before less than this is free on the file's disk, as in 2G.",
            valueName: "size"
        ),
        transform: NumberOptions.bytes
    )
    var minFree: Int64?

    /// Refuses what is out of range.
    func check() throws(CaptureError) {
        try NumberOptions.check(maxSize.map(Int.init), "--max-size", Int(OutputDescription.leastMaxFileSize)...Int.max)
        try NumberOptions.check(minFree.map(Int.init), "--min-free", 1...Int.max)
    }
}
