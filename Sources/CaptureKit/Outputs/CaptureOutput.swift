/// An output of a session, such as a movie or frames in memory.
///
/// It is a value that describes the result. A recorder of the daemon makes the result, and writes it into the
/// descriptor that comes with the output. Two kinds of outputs have no file: those saved into the media library, and
/// data and buffer outputs, for which this process maps the source's memory.
public protocol CaptureOutput: Sendable {
    /// The name by which the session's connections and statistics refer to it; unique in a session.
    var name: String { get }
    /// The kinds of input that it can be fed by, at most one of each.
    var mediaTypes: [MediaType] { get }
    /// Where it is written to; `nil` for what needs no file of the program's.
    var file: Descriptor? { get }
    /// The output as the bus describes it.
    var description: OutputDescription { get }
}

extension CaptureOutput {
    /// Throws when a value is not among those that the kind of output knows.
    static func check(_ value: String, among known: [String], of what: String) throws(CaptureError) {
        guard known.contains(value) else {
            throw CaptureError(
                .usage,
                "unknown \(what) '\(Printable.text(value))'; give one of \(known.joined(separator: ", "))"
            )
        }
    }

    /// Throws when a quality is out of range.
    static func check(quality: Int) throws(CaptureError) {
        guard (1...100).contains(quality) else {
            throw CaptureError(.usage, "a quality of \(quality) is out of range: 1 to 100")
        }
    }

    /// A greatest size in bytes, 0 for none.
    package static func maxFileSize(_ bytes: Int64?) throws(CaptureError) -> Int64 {
        guard let bytes else { return 0 }
        let range = OutputDescription.leastMaxFileSize...1 << 62
        guard range.contains(bytes) else {
            throw CaptureError(
                .usage,
                "a greatest size of \(bytes) bytes is out of range: \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return bytes
    }

    /// A least free space in bytes, 0 for none.
    package static func minFreeSpace(_ bytes: Int64?) throws(CaptureError) -> Int64 {
        guard let bytes else { return 0 }
        guard (1...1 << 62).contains(bytes) else {
            throw CaptureError(.usage, "a least free space of \(bytes) bytes is out of range: 1 to \(1 << 62)")
        }
        return bytes
    }

    /// Seconds as nanoseconds, 0 for none.
    package static func nanoseconds(_ seconds: Double?) throws(CaptureError) -> Int64 {
        guard let seconds else { return 0 }
        guard seconds > 0, seconds <= 31_536_000 else {
            throw CaptureError(.usage, "a duration of \(seconds) s is out of range: more than 0, at most a year")
        }
        return Int64(seconds * 1_000_000_000)
    }
}
