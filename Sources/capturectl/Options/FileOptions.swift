import ArgumentParser
import CaptureKit

/// How a recording's file is written.
struct FileOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Bring the movie's newest part into its file this often, as in 5s; 0.5 s if not given. A power cut loses about a second more than that.",
            valueName: "time"
        ),
        transform: NumberOptions.seconds
    )
    var fragment: Double?

    @Option(
        help: ArgumentHelp(
            "Say something of the whole file, as in title=Lecture. Keys: \(FileTag.names). Repeat it for more.",
            valueName: "key=value"
        ),
        completion: .list(FileTag.allCases.map { $0.rawValue + "=" })
    )
    var tag: [String] = []

    /// What the file says of itself.
    ///
    /// - Throws: `usage` for a tag that the format does not keep, or a value that cannot be.
    func tags(_ format: FileFormat) throws(CaptureError) -> [FileTag: String] {
        var tags: [FileTag: String] = [:]
        for text in tag {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let key = FileTag(rawValue: String(parts[0])) else {
                throw CaptureError(
                    .usage,
                    "--tag: '\(Printable.text(text))' is no KEY=VALUE with one of these keys: \(FileTag.names)"
                )
            }
            guard tags.updateValue(String(parts[1]), forKey: key) == nil else {
                throw CaptureError(.usage, "--tag: '\(key.rawValue)' is there twice")
            }
        }
        do throws(CaptureError) {
            try FileTag.check(tags, for: format.name)
        } catch {
            throw CaptureError(.usage, "--tag: \(error.message)")
        }
        return tags
    }

    /// Refuses fragments that are out of range, or not for the format.
    func check(_ format: FileFormat) throws(CaptureError) {
        guard let fragment else { return }
        guard format.kind == .movie else { throw CaptureError(.usage, "--fragment is for movies, such as lecture.mp4") }
        let range = OutputDescription.fragmentIntervals
        guard Double(range.lowerBound) / 1e9...Double(range.upperBound) / 1e9 ~= fragment else {
            throw CaptureError(.usage, "--fragment: \(fragment) s is out of range: 0.1 s to 30 s")
        }
    }

    /// The time of a fragment.
    var fragmentInterval: Duration {
        fragment.map { .seconds($0) } ?? .nanoseconds(OutputDescription.usualFragmentInterval)
    }
}

extension FileTag {
    /// All of them, for a person.
    fileprivate static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
