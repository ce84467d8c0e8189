public import CaptureBus
public import CaptureCore

extension [TimedMetadata] {
    /// `a(xs)`: of each its time, in nanoseconds by the monotonic clock (0: now), and its text.
    public var busValue: BusValue {
        .array("(xs)", map { .structure([.int64($0.time?.nanoseconds ?? 0), .string($0.text)]) })
    }

    /// - Throws: `.invalidArgument` for anything else, and for more than may be told at once.
    public init(busValue value: BusValue) throws(CaptureError) {
        guard case .array(_, let elements) = value.unwrapped else {
            throw CaptureError(.invalidArgument, "metadata is not of type 'a(xs)'")
        }
        self = []
        for element in elements {
            guard case .structure(let parts) = element, parts.count == 2, let time = parts[0].integer, time >= 0,
                let text = parts[1].text
            else { throw CaptureError(.invalidArgument, "metadata is not of type 'a(xs)', or of a time before 0") }
            append(try TimedMetadata(json: text, at: time == 0 ? nil : Timestamp(nanoseconds: time)))
        }
        try TimedMetadata.check(self)
    }
}
