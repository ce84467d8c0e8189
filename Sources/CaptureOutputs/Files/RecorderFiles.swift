import CaptureCore
import CaptureSystem
import Synchronization

/// The files of a recorder: those that are written, and those that a movie in segments goes on in. Thread-safe.
final class RecorderFiles: Sendable {
    private struct State {
        var written: [RecorderFile]
        /// The next one first.
        var waiting: [RecorderFile] = []
        /// From when on the movie was told to go on in the next file, by the file's clock without pauses.
        var cuts: [Timestamp] = []
    }
    /// How many cuts may be asked for that are not made yet.
    private static let mostCuts = 256

    private let sizeLimit: Int64
    private let state: Mutex<State>

    /// The files that came with the job.
    ///
    /// - Parameter sizeLimit: Bytes that each later one may have; 0 for no limit.
    init(_ files: [RecorderFile], sizeLimit: Int64) {
        self.sizeLimit = sizeLimit
        state = Mutex(State(written: files))
    }

    // MARK: The daemon's side

    /// Keeps a file for later.
    func add(_ descriptor: Descriptor) throws(CaptureError) {
        let file = try RecorderFile(descriptor, sizeLimit: sizeLimit)
        guard file.isSeekable else {
            throw CaptureError(
                .invalidArgument,
                "a file of a movie in segments is a pipe, or only added to; give a file"
            )
        }
        let isKept = state.withLock { state in
            guard state.waiting.count < SegmentRule.mostFiles else { return false }
            state.waiting.append(file)
            return true
        }
        if !isKept { throw CaptureError(.badData, "a recorder has \(SegmentRule.mostFiles) files in reserve already") }
    }

    /// The movie goes on in the next file with what is captured from that time on. Requests between two pictures are one.
    func requestCut(at time: Timestamp) {
        state.withLock { state in
            if state.cuts.count < RecorderFiles.mostCuts { state.cuts.append(time) }
        }
    }

    /// A fault if a file had a name and has none any more.
    func lookForNames() -> CaptureError? {
        state.withLock(\.written).lazy.compactMap { $0.lookForName() }.first
    }

    /// Whether the reader of a stream has left.
    var isLeft: Bool { state.withLock(\.written).first?.isLeft ?? false }

    /// Lets nothing wait for the reader of a stream.
    func cancel() {
        for file in state.withLock(\.written) { file.cancel() }
    }

    // MARK: The writer's side

    /// Whether a cut was asked for that lies before a time.
    func wantsCut(by time: Timestamp) -> Bool { state.withLock { $0.cuts.contains { $0 <= time } } }

    /// The next file, if one is there, for a cut at a time: those that were asked for until then are made with it.
    func next(at time: Timestamp) -> RecorderFile? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let file = state.waiting.removeFirst()
            state.written.append(file)
            state.cuts.removeAll { $0 <= time }
            return file
        }
    }

    /// A file is complete: what becomes of it is no fault of the recording any more.
    func finished(_ file: RecorderFile) {
        state.withLock { $0.written.removeAll { $0 === file } }
    }
}
