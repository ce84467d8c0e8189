import ArgumentParser
import CaptureKit

/// How a movie is split into files.
struct SegmentOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Go on in another file after this time, as in 10m; files are numbered, as in lecture-0001.mkv. manual: only when 'capturectl cut' says so.",
            valueName: "time"
        ),
        completion: .list(["1m", "10m", "1h", "manual"])
    )
    var segment: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Go on in another file before this one is larger than this, as in 500M.", valueName: "size"),
        transform: NumberOptions.bytes
    )
    var segmentSize: Int64?

    @Flag(help: "Count the time of --segment from midnight: with 10m, files begin at 14:00, 14:10 and so on.")
    var byClock = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Keep at least this much of the recording, as in 2h, and remove its older files.",
            valueName: "time"
        ),
        transform: NumberOptions.seconds
    )
    var keep: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Keep at most this much of the recording, as in 10G, beside the file that is being written, and remove its older files.",
            valueName: "size"
        ),
        transform: NumberOptions.bytes
    )
    var keepSize: Int64?

    /// Seconds.
    private static let longestKept = 3_155_760_000.0

    /// The rule; `nil` for one file.
    func rule() throws(CaptureError) -> SegmentRule? {
        let isSplit = segment != nil || segmentSize != nil
        if !isSplit {
            let given = [(byClock, "--by-clock"), (keep != nil, "--keep"), (keepSize != nil, "--keep-size")]
            if let option = given.first(where: \.0)?.1 {
                throw CaptureError(.usage, "\(option) is for segments; give --segment or --segment-size, too")
            }
            return nil
        }
        var rule = SegmentRule(fileSize: segmentSize ?? 0, isAligned: byClock)
        if let segment, segment != "manual" {
            let seconds: Double
            do {
                seconds = try NumberOptions.seconds(segment)
            } catch {
                throw CaptureError(
                    .usage,
                    "'\(Printable.text(segment))' is no time for --segment; give 90, 10s, 1m30s or manual"
                )
            }
            guard seconds > 0, seconds <= 31_536_000 else {
                throw CaptureError(.usage, "--segment \(Printable.text(segment)) is out of range: 0.1 s to a year")
            }
            rule.duration = Int64(seconds * 1e9)
        } else if byClock {
            throw CaptureError(.usage, "--by-clock needs the time of --segment, as in --segment 10m")
        }
        do throws(CaptureError) {
            try rule.check()
        } catch {
            throw CaptureError(.usage, error.message)
        }
        if let keep, !(keep > 0 && keep <= SegmentOptions.longestKept) {
            throw CaptureError(.usage, "--keep: \(keep) is out of range: seconds above 0, at most 100 years")
        }
        if let keepSize, keepSize <= 0 { throw CaptureError(.usage, "--keep-size: 0 is out of range: 1 or more") }
        if keep != nil, keepSize != nil { throw CaptureError(.usage, "give either --keep or --keep-size, not both") }
        return rule
    }

    /// How much of the movie stays.
    var retention: SegmentRetention {
        if let keep { return .newest(.seconds(keep)) }
        if let keepSize { return .atMost(bytes: UInt64(max(keepSize, 0))) }
        return .everything
    }
}
