public import CaptureBus
public import CaptureCore

extension SegmentRule: BusCodable {
    /// `duration` x in nanoseconds (0), `size` x in bytes (0), `aligned` b (false).
    public init(busValue value: BusValue) throws(CaptureError) {
        var reader = try PropertyReader(value, "the output's segments")
        self.init(
            duration: try reader.number("duration", 0...Int64.max) ?? 0,
            fileSize: try reader.number("size", 0...Int64.max) ?? 0,
            isAligned: try reader.flag("aligned") ?? false
        )
        try reader.end()
    }

    /// The rule as `a{sv}`.
    public var busValue: BusValue {
        .properties(["duration": .int64(duration), "size": .int64(fileSize), "aligned": .bool(isAligned)])
    }
}

extension MovieSegment: BusRecord {
    /// What `SegmentFinished` tells.
    package static let fields: [BusField<MovieSegment>] = [
        BusField("number", \.number, isRequired: true), BusField("time", \.time), BusField("duration", \.duration),
        BusField("frames", \.frames), BusField("bytes", \.bytes), BusField("complete", \.isComplete),
    ]

    /// One of which nothing is known.
    package init() { self.init(number: 0, time: 0, duration: 0, frames: 0, bytes: 0) }
}
