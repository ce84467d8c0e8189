import CaptureKit

/// The files of a movie in segments, for a person and as JSON.
enum SegmentPresentation {
    /// `lecture-0001.mkv to lecture-0003.mkv`
    static func place(_ made: [SegmentFile], left: [SegmentFile]) -> String {
        guard let first = left.first, let last = left.last else { return made.isEmpty ? "no file" : "no file is left" }
        let names = [first, last].map { Printable.text($0.path) }
        let removed = made.count - left.count
        return (left.count == 1 ? names[0] : "\(names[0]) to \(names[1])")
            + (removed > 0 ? " (\(Quantities.count(removed, "older file")) removed)" : "")
    }

    /// One that is complete.
    static func line(_ file: SegmentFile) -> String {
        let figures = [
            Quantities.time(file.segment.duration), Quantities.count(file.segment.frames, "frame"),
            Quantities.size(file.segment.bytes),
        ]
        let name = Printable.text(file.path) + (file.segment.isComplete ? "" : " (not finished)")
        return "\(name): \(figures.joined(separator: ", "))"
    }

    static func json(_ segments: [SegmentFile]) -> JSON {
        .array(
            segments.map { file in
                [
                    "file": JSON(file.path), "number": JSON(file.segment.number),
                    "time": .time(nanoseconds: file.segment.time),
                    "duration": .seconds(nanoseconds: file.segment.duration), "frames": JSON(file.segment.frames),
                    "bytes": JSON(file.segment.bytes), "complete": JSON(file.segment.isComplete),
                ]
            }
        )
    }
}
