import CaptureCore
import CaptureSystem
import Synchronization

/// What the thread of a streaming device is told: to stop, or to go on into another sink.
///
/// Thread-safe. The thread polls `descriptor` beside its device; while it is told nothing, nothing here is touched.
final class StreamControl: Sendable {
    /// What the thread is to do.
    enum Order {
        case stop
        /// Goes on into another sink; `atOnce` says that nothing may be written into the one before any more, whatever
        /// that costs, not even what the device was handed already.
        case move(any MediaSink, atOnce: Bool)
    }

    private struct State {
        var isStopping = false
        var hasEnded = false
        /// What the thread writes now.
        var sink: (any MediaSink)?
        var move: (sink: any MediaSink, atOnce: Bool)?
    }

    /// The proof that the thread checks before it publishes.
    let proof: ProofOfLife
    private let state: Mutex<State>
    private let order: EventSignal
    private let answer: EventSignal

    /// Readable while there is an order.
    var descriptor: Int32 { order.descriptor }

    /// - Parameters:
    ///   - sink: The first sink to write to. Its readers hear of it if the thread fails.
    ///   - proof: The proof that the control side works.
    init(_ sink: (any MediaSink)? = nil, _ proof: ProofOfLife = ProofOfLife()) throws(SystemError) {
        self.proof = proof
        state = Mutex(State(sink: sink))
        order = try EventSignal()
        answer = try EventSignal()
    }

    /// Tells the thread to end; idempotent.
    func stop() {
        state.withLock { $0.isStopping = true }
        order.raise()
    }

    /// Tells the thread to go on into another sink, and waits until the one before is written no more. Once at a time.
    ///
    /// - Throws: `.deviceLost` when the stream has ended or ends meanwhile: then nothing is written either.
    func move(to sink: any MediaSink, atOnce: Bool) throws(CaptureError) {
        let isTold = state.withLock { state in
            if state.hasEnded || state.isStopping { return false }
            state.move = (sink, atOnce)
            return true
        }
        if isTold { order.raise() }
        while isTold {
            let (isMoved, hasEnded) = state.withLock { ($0.move == nil, $0.hasEnded) }
            if isMoved { return }
            if hasEnded { break }
            _ = try CaptureError.wrap(.internalFault, try Poll.wait(answer.descriptor))
            answer.lower()
        }
        throw CaptureError(.deviceLost, "the device stopped before its stream could continue elsewhere")
    }

    /// The order, on the thread, when `descriptor` is readable; `nil` when it was carried out already.
    func heard() -> Order? {
        state.withLock { state in
            // It stays readable for whoever looks again before the end.
            if state.isStopping { return .stop }
            order.lower()
            return state.move.map { .move($0.sink, atOnce: $0.atOnce) }
        }
    }

    /// The thread writes another sink from now on: what fails from here is that one's end.
    func writes(_ sink: any MediaSink) {
        state.withLock { $0.sink = sink }
    }

    /// The sink before is written no more.
    func moved() {
        state.withLock { $0.move = nil }
        answer.raise()
    }

    /// The thread is at its end; whoever waits for it to go on is told.
    ///
    /// - Parameter reason: What the sink's readers are told; `nil` after a stop, when whoever stopped tells them.
    func ended(_ reason: StreamEnd? = nil) {
        let sink = state.withLock { state in
            state.hasEnded = true
            return state.sink
        }
        if let reason { sink?.finish(reason) }
        answer.raise()
    }

    /// For a thread that copies every buffer into its sink, and so can change it between two.
    ///
    /// - Returns: Whether it is to stop.
    func obey(_ sink: inout any MediaSink) -> Bool {
        switch heard() {
        case .stop: return true
        case .move(let next, _):
            let former = sink
            sink = next
            writes(next)
            former.finish(.moved)
            moved()
            return false
        case nil: return false
        }
    }
}
