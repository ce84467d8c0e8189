import CaptureCore

extension LiveOutput {
    /// Has its recorder put metadata into the movie: all of it, or none.
    ///
    /// - Throws: `invalidArgument` for an output without metadata, and for more than may be told at once; `overQuota` for more
    ///   than it takes in a second; `busy` if its recorder is behind; `wrongState` if its file is not being written, or paused.
    func append(_ items: [TimedMetadata]) throws(CaptureError) {
        guard description.hasMetadata else {
            throw CaptureError(
                .invalidArgument,
                "the output '\(description.name)' has no metadata; a movie gets the track when it is described"
            )
        }
        try checkRecording()
        try TimedMetadata.check(items)
        guard !statistics.isPaused || items.allSatisfy({ $0.time != nil }) else {
            throw CaptureError(
                .wrongState,
                "the output '\(description.name)' is paused, and leaves out what is told now; resume it first"
            )
        }
        if metadata.since.duration(to: .now) >= .seconds(1) { metadata = (0, .now) }
        guard metadata.count + items.count <= TimedMetadata.mostPerSecond else {
            throw CaptureError(
                .overQuota,
                "the output '\(description.name)' takes \(TimedMetadata.mostPerSecond) items of metadata in a second; "
                    + "tell less often"
            )
        }
        if let recorder, !recorder.note(items) {
            throw CaptureError(
                .busy,
                "the recorder of '\(description.name)' is behind with its metadata; tell it again in a moment"
            )
        }
        metadata.count += items.count
    }
}
