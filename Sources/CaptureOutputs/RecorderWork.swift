import CaptureCore
import CaptureSystem

/// The parts of a recording that is under way. Thread-safe, as each of them is.
struct RecorderWork {
    let files: RecorderFiles
    let readers: [MediaType: StreamReader]
    let passing: Passing
    let markers: Markers
    /// `nil` for a movie without metadata.
    let metadata: MetadataQueue?
    let feed: PipelineFeed
    let writer: WorkerThread

    /// Does what the daemon says of its parts.
    ///
    /// - Returns: What the daemon is to be told.
    func obey(
        _ command: RecorderCommand,
        _ descriptors: [Descriptor],
        _ counters: RecorderCounters
    ) -> RecorderReport? {
        let pauses = passing.pauses
        switch command {
        case .stop, .begin, .shoot: break
        case .videoMoved: if let file = descriptors.first { readers[.video]?.move(to: file) }
        case .audioMoved: if let file = descriptors.first { readers[.audio]?.move(to: file) }
        case .file:
            guard let file = descriptors.first else { return nil }
            do throws(CaptureError) {
                try files.add(file)
                return .file(nil)
            } catch {
                // The movie goes on without it.
                return .file(error)
            }
        case .cut(let time): files.requestCut(at: inFile(time))
        case .pause(let time): pauses.pause(at: time)
        case .resume(let time): pauses.resume(at: time)
        case .mark(let marker, let time): markers.add(marker.title, at: inFile(time))
        case .note(let note, let time):
            // What is told of a pause is left out, as what is captured then is.
            if !pauses.contains(time) { metadata?.add(note.text, at: inFile(time)) }
        case .enable(let kind, let time): passing.gate.set(kind, isEnabled: true, at: time)
        case .disable(let kind, let time): passing.gate.set(kind, isEnabled: false, at: time)
        case .setGain(let gain): passing.sound?.setGain(gain)
        case .watchLevels(let isWatched): counters.watchLevels(isWatched)
        }
        let isPaused = pauses.isPaused
        counters.update { $0.isPaused = isPaused }
        return nil
    }

    /// A time by the clock of the file, which stands still during a pause.
    func inFile(_ time: Timestamp) -> Timestamp {
        time.advanced(by: -passing.pauses.length(until: time))
    }
}

extension Recorder {
    /// Writes a line to standard error, which the journal keeps.
    public static func log(_ text: String) {
        StandardError.write("captured-recorder: \(text)")
    }
}
