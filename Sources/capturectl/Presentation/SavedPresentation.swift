import CaptureKit

/// What came of recordings that were to be saved into the media library.
enum SavedPresentation {
    /// What was saved, for a program; null for what is not there.
    static func json(_ saved: SavedOutput?) -> JSON {
        guard let saved else { return .null }
        return ["id": JSON(saved.asset), "album": JSON(saved.album), "remark": JSON(saved.remark)]
    }

    /// The recordings that wait, one in a row.
    static func table(_ kept: [KeptRecording]) -> Table {
        var table = Table(["ID", "BEGUN", .text("NAME"), .optional(">SIZE"), .detail("PROGRAM"), .text("WHY")])
        for recording in kept {
            table.add([
                String(recording.id.prefix(LibraryPresentation.shownDigits)),
                Clock.Moment(seconds: recording.started / 1000).text, recording.name, Quantities.size(recording.size),
                recording.program, recording.reason,
            ])
        }
        return table
    }

    static func json(_ recording: KeptRecording) -> JSON {
        [
            "id": JSON(recording.id), "started": .time(milliseconds: recording.started), "name": JSON(recording.name),
            "album": JSON(recording.album), "size": JSON(recording.size), "program": JSON(recording.program),
            "reason": JSON(recording.reason),
        ]
    }
}
