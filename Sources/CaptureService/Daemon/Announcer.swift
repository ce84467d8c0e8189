import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import Synchronization

/// Tells the bus and the journal what happens, in the order in which it does; of the bus those whom it concerns.
///
/// The engine and the gate call from their actors and must not wait, so events go through one queue to one task.
final class Announcer: EngineObserver {
    private enum Event: Sendable {
        case added(SessionSnapshot)
        case changed(SessionSnapshot)
        case removed(UInt32)
        case bufferMoved(SessionSnapshot, String)
        case outputSaved(SessionSnapshot, String, SavedOutput, connection: String)
        case segment(SessionSnapshot, String, SegmentEvent)
        case outputFinished(SessionSnapshot, String, CaptureError?, OutputStatistics)
        case levels(UInt32, String, [AudioLevel], connections: Set<String>)
        case answered(Decision)
    }

    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private struct Standing: Equatable {
        var state: SessionState
        var reason: CaptureError?
    }

    /// How sessions stand as the journal knows it, so that it is told of each state and reason once.
    private let states = Mutex<[UInt32: Standing]>([:])
    private let refusals: RefusalJournal
    private let listeners: Listeners

    init(_ listeners: Listeners, refusals: RefusalJournal = RefusalJournal()) {
        self.listeners = listeners
        self.refusals = refusals
        (events, continuation) = AsyncStream.makeStream()
    }

    func sessionAdded(_ session: SessionSnapshot) {
        continuation.yield(.added(session))
    }

    func sessionChanged(_ session: SessionSnapshot) {
        let now = Standing(state: session.state, reason: session.reason)
        let before = states.withLock { $0.updateValue(now, forKey: session.id) }
        SessionJournal.record(session, isNewState: before != now)
        continuation.yield(.changed(session))
    }

    func sessionRemoved(_ id: UInt32) {
        states.withLock { $0[id] = nil }
        continuation.yield(.removed(id))
    }

    func bufferMoved(_ session: SessionSnapshot, output: String) {
        continuation.yield(.bufferMoved(session, output))
    }

    func outputSaved(_ session: SessionSnapshot, output: String, _ saved: SavedOutput, to connection: String) {
        continuation.yield(.outputSaved(session, output, saved, connection: connection))
    }

    func outputSegment(_ session: SessionSnapshot, output: String, _ event: SegmentEvent) {
        continuation.yield(.segment(session, output, event))
    }

    func outputLevels(_ id: UInt32, output: String, _ levels: [AudioLevel], to connections: Set<String>) {
        continuation.yield(.levels(id, output, levels, connections: connections))
    }

    func outputFinished(_ session: SessionSnapshot, output: String, error: CaptureError?, statistics: OutputStatistics)
    {
        SessionJournal.record(session, output: output, error: error, statistics: statistics)
        continuation.yield(.outputFinished(session, output, error, statistics))
    }

    /// A decision was made: the journal is told of each (of the same refusal a few times a minute), the bus when a person
    /// has answered or an answer ended by itself. Settings are told of by the call that changes them.
    func decided(_ decision: Decision) {
        if let ending = ending(decision) { SessionJournal.record(decision, ending) }
        if [.answer, .inlineAnswer, .expired].contains(decision.cause) { continuation.yield(.answered(decision)) }
    }

    /// What a decision's line ends in; `nil` when it is left out, since the same request was refused so often already.
    private func ending(_ decision: Decision) -> String? {
        switch decision.cause {
        case .answer, .inlineAnswer, .settings, .expired: return ""
        default:
            // A decision without a process is the daemon's own.
            if decision.status.isYes || decision.pid == 0 { return "" }
            let (service, cause) = (decision.service.rawValue, decision.cause.rawValue)
            return refusals.admit("\(decision.program) \(service) \(cause)", of: decision.user)
        }
    }

    /// Ends the queue; `run` returns when everything before has been told.
    func finish() {
        continuation.finish()
    }

    /// Tells the bus, until `finish`.
    func run(_ objects: SessionObjects, bus: BusConnection) async {
        for await event in events {
            do throws(CaptureError) {
                switch event {
                case .added(let session): try await objects.publish(session, announcing: true)
                case .changed(let session): try await objects.update(session)
                case .removed(let id): try await objects.remove(id)
                case .bufferMoved(let session, let output):
                    try tell(bus, of: session, "BufferMoved", [.string(output)])
                case .outputSaved(let session, let output, let saved, let connection):
                    // To nobody but the program that recorded it: ids are for those who may read.
                    try bus.tell(
                        CaptureNames.sessionPath(session.id),
                        CaptureNames.session,
                        "OutputSaved",
                        [.string(output), saved.busValue],
                        to: connection
                    )
                case .segment(let session, let output, .began(let number)):
                    try tell(bus, of: session, "SegmentBegan", [.string(output), .uint32(number)])
                case .segment(let session, let output, .finished(let segment)):
                    try tell(bus, of: session, "SegmentFinished", [.string(output), segment.busValue])
                case .outputFinished(let session, let output, let error, let statistics):
                    try tell(
                        bus,
                        of: session,
                        "OutputFinished",
                        [
                            .string(output), .string(error?.code.rawValue ?? ""), .string(error?.message ?? ""),
                            statistics.busValue,
                        ]
                    )
                case .levels(let id, let output, let levels, let connections):
                    let arguments: [BusValue] = [.string(output), levels.busValue]
                    for connection in connections {
                        let path = CaptureNames.sessionPath(id)
                        try bus.tell(path, CaptureNames.session, "Levels", arguments, to: connection)
                    }
                case .answered(let decision):
                    try listeners.tell(
                        bus,
                        of: decision.status,
                        for: decision.service,
                        user: decision.user,
                        program: decision.program
                    )
                }
            } catch {
                // The bus is gone: so will be the daemon. The journal still gets to know.
                Journal.send("cannot announce an event on the bus: \(error)", priority: .error)
            }
        }
    }

    private func tell(
        _ bus: BusConnection,
        of session: SessionSnapshot,
        _ member: String,
        _ arguments: [BusValue]
    ) throws(CaptureError) {
        let path = CaptureNames.sessionPath(session.id)
        for listener in listeners.hear(session) {
            try bus.tell(path, CaptureNames.session, member, arguments, to: listener)
        }
    }
}
