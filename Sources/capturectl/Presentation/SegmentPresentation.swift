import CaptureKit

/// The files of a movie in segments, for a person and as JSON.
enum SegmentPresentation {
    /// `lecture-0001.mkv to lecture-0003.mkv`
    static func place(_ segments: [SegmentFile]) -> String {
        guard let first = segments.first, let last = segments.last else { return "no file" }
        let names = [first, last].map { Printable.text($0.path) }
        return segments.count == 1 ? names[0] : "\(names[0]) to \(names[1])"
    }

    /// One that is complete.
    static func line(_ file: SegmentFile) -> String {
        let figures = [
            Quantities.time(file.segment.duration), Quantities.count(file.segment.frames, "frame"),
            Quantities.size(file.segment.bytes),
        ]
        return "\(Printable.text(file.path)): \(figures.joined(separator: ", "))"
    }

    static func json(_ segments: [SegmentFile]) -> JSON {
        .array(
            segments.map { file in
                [
                    "file": JSON(file.path), "number": JSON(file.segment.number),
                    "time": .time(nanoseconds: file.segment.time),
                    "duration": .seconds(nanoseconds: file.segment.duration), "frames": JSON(file.segment.frames),
                    "bytes": JSON(file.segment.bytes),
                ]
            }
        )
    }
}
