import CaptureCore

/// The files of a movie in segments: those that its recorder writes, and those that wait for their turn. Bound to the engine's
/// actor.
final class SegmentReserve {
    /// How far the hand-over of a file is.
    private enum HandOver {
        case none
        /// The file is on its way. The answer may come before that is known.
        case begun
        case answered(CaptureError?)
        /// It is on its way for long.
        case overdue
        case waiting(CheckedContinuation<CaptureError?, Never>)
        /// The recorder has not answered for long. The file counts as taken, and the next one waits for the answer.
        case late
        /// The output is done.
        case over
    }

    private let name: String
    /// The number of the last file that is begun.
    private var last: UInt32 = 0
    /// Those that are begun and not finished, by their numbers.
    private var begun: [UInt32: FileIdentity?] = [:]
    /// The next one first.
    private var waiting: [FileIdentity?]
    private var handOver = HandOver.none

    /// Of a movie whose recorder has the first one.
    ///
    /// - Parameter name: The output's name.
    init(first: FileIdentity?, of name: String) {
        self.name = name
        waiting = [first]
    }

    /// The files that the recorder writes or will write, where nobody else may.
    var identities: [FileIdentity] { (begun.values + waiting).compactMap(\.self) }

    /// Hands over a file, and waits until the recorder has taken it. One at a time.
    ///
    /// - Throws: `busy` if enough files wait already, or the recorder has not answered for long; `wrongState` at the end of the
    ///   output; why the recorder cannot write it.
    nonisolated(nonsending) func hand(_ file: any OpenFile, to recorder: any RecorderHandle) async throws(CaptureError)
    {
        if case .over = handOver { throw ended }
        guard case .none = handOver else {
            throw CaptureError(
                .busy,
                "the recorder of '\(name)' has not answered for the file before; try again in a while"
            )
        }
        guard waiting.count - (last == 0 ? 1 : 0) < SegmentRule.mostFiles else {
            throw CaptureError(
                .busy,
                "the output '\(name)' has \(SegmentRule.mostFiles) files in reserve already; wait until one is begun"
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
                case .overdue:
                    handOver = .late
                    continuation.resume(returning: nil)
                case .none, .waiting, .late, .over: continuation.resume(returning: ended)
                }
            }
        } catch {
            refusal = error
        }
        switch handOver {
        case .late, .over: break
        default: handOver = .none
        }
        guard let refusal else { return }
        if let place = waiting.lastIndex(of: file.identity) { waiting.remove(at: place) }
        throw refusal
    }

    /// The recorder keeps the file that it was handed, or cannot write it.
    ///
    /// - Returns: Whether the movie has to end: a file that counts as taken was refused, so that its program would take the
    ///   next one for it.
    func answer(_ refusal: CaptureError?) -> Bool {
        switch handOver {
        case .begun, .overdue: handOver = .answered(refusal)
        case .late:
            handOver = .none
            return refusal != nil
        case .waiting(let continuation):
            handOver = .none
            continuation.resume(returning: refusal)
        case .none, .answered, .over: break
        }
        return false
    }

    /// The recorder has not answered for long. It is not waited for, and the file is its own.
    func waitNoLonger() {
        switch handOver {
        case .begun: handOver = .overdue
        case .waiting(let continuation):
            handOver = .late
            continuation.resume(returning: nil)
        case .none, .overdue, .answered, .late, .over: break
        }
    }

    /// The output is done.
    func end() {
        let before = handOver
        handOver = .over
        if case .waiting(let continuation) = before { continuation.resume(returning: ended) }
    }

    private var ended: CaptureError {
        CaptureError(.wrongState, "the output '\(name)' ended before it took the file")
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
