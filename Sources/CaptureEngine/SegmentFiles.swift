import CaptureCore

/// The files of a movie in segments: those that its recorder writes, and those that wait for their turn. Bound to the engine's
/// actor.
final class SegmentFiles {
    /// How far the hand-over of a file is.
    private enum HandOver {
        case none
        /// The file is on its way. The answer may come before that is known.
        case begun
        case answered(CaptureError?)
        case waiting(CheckedContinuation<CaptureError?, Never>)
        /// No file is handed over any more: the output is done, or its recorder did not answer in time, so that a late answer
        /// would be taken for another's.
        case over
    }

    private let name: String
    /// The number of the last file that is begun.
    private var last: UInt32 = 1
    /// Those that are begun and not finished, by their numbers.
    private var begun: [UInt32: FileIdentity?]
    /// The next one first.
    private var waiting: [FileIdentity?] = []
    private var handOver = HandOver.none

    /// Of a movie whose recorder has the first one.
    ///
    /// - Parameter name: The output's name.
    init(first: FileIdentity?, of name: String) {
        self.name = name
        begun = [1: first]
    }

    /// The files that the recorder writes or will write, where nobody else may.
    var identities: [FileIdentity] { (begun.values + waiting).compactMap(\.self) }

    /// Hands over a file, and waits until the recorder has taken it. One at a time.
    ///
    /// - Throws: `busy` if enough files wait already; `wrongState` at the end of the output; `timedOut`, and why the recorder
    ///   cannot write it.
    nonisolated(nonsending) func hand(_ file: any OpenFile, to recorder: any RecorderHandle) async throws(CaptureError)
    {
        guard case .none = handOver, waiting.count < SegmentRule.mostFiles else {
            throw CaptureError(
                .busy,
                "the output '\(name)' has \(waiting.count) files in reserve already; wait until one is begun"
            )
        }
        waiting.append(file.identity)
        handOver = .begun
        let refusal: CaptureError?
        do throws(CaptureError) {
            try await recorder.add(file)
            refusal = await withCheckedContinuation { continuation in
                switch handOver {
                case .begun: handOver = .waiting(continuation)
                case .answered(let refusal): continuation.resume(returning: refusal)
                case .none, .waiting, .over: continuation.resume(returning: ended)
                }
            }
        } catch {
            refusal = error
        }
        if case .over = handOver {} else { handOver = .none }
        guard let refusal else { return }
        if let place = waiting.lastIndex(of: file.identity) { waiting.remove(at: place) }
        throw refusal
    }

    /// The recorder keeps the file that it was handed, or cannot write it.
    func answer(_ refusal: CaptureError?) {
        switch handOver {
        case .begun: handOver = .answered(refusal)
        case .waiting(let continuation):
            handOver = .none
            continuation.resume(returning: refusal)
        case .none, .answered, .over: break
        }
    }

    /// The recorder took too long to answer.
    func giveUpAnswer() {
        stop(CaptureError(.timedOut, "the recorder of '\(name)' did not take the file in time; the movie goes on"))
    }

    /// The output is done.
    func end() { stop(ended) }

    private var ended: CaptureError {
        CaptureError(.wrongState, "the output '\(name)' ended before it took the file")
    }

    private func stop(_ error: CaptureError) {
        let before = handOver
        handOver = .over
        if case .waiting(let continuation) = before { continuation.resume(returning: error) }
    }

    /// The recorder told of a file.
    ///
    /// - Returns: Whether it can be so.
    func note(_ event: SegmentEvent) -> Bool {
        switch event {
        case .began(let number):
            guard number == last + 1, !waiting.isEmpty else { return false }
            last = number
            begun[number] = waiting.removeFirst()
        case .finished(let segment):
            // Who made it may do with it what they like.
            guard begun.removeValue(forKey: segment.number) != nil else { return false }
        }
        return true
    }
}
