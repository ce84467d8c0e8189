import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// Requests that take a person or a long copy: a call begins one and gets its number, a signal to the caller ends it.
actor LongRequests {
    /// What differs between the interfaces that have such requests.
    struct Rules: Sendable {
        /// Which signal ends a request.
        var interface: String
        var signal: String
        /// What the signal carries as the result of a request that has none.
        var noResult: BusValue
        /// How many requests may be under way at a time.
        var mostOfConnection: Int
        var mostOfProgram = Int.max
        var mostOfUser: Int
        /// What a caller with too many is told.
        var tooMany: String
        /// What a request is called in the journal, and what it does, as in "no request 7 of this connection waits".
        var name: String
        var verb: String
        /// Whether `clientGone` returns only when the caller's requests have ended.
        var awaitsEnd: Bool
    }

    /// What came of a request. It may have a result with a fault, too.
    struct Outcome: Sendable {
        var fault: CaptureError?
        var result: BusValue
    }

    /// What a request does. Its task is cancelled when the caller cancels it or leaves.
    typealias Work = @Sendable (_ number: UInt32) async -> Outcome

    /// What a connection has under way.
    private struct Open {
        var identity: ClientIdentity
        /// Numbers are the connection's own, so that they tell nothing of what others do.
        var last: UInt32 = 0
        var running: [UInt32: (services: Set<Service>, task: Task<Void, Never>)] = [:]
    }

    let rules: Rules
    private let bus: BusConnection
    private var open: [String: Open] = [:]
    private var isEnding = false
    /// Whoever stops the daemon waits here for the last request.
    private var lastEnded: CheckedContinuation<Void, Never>?

    init(_ rules: Rules, bus: BusConnection) {
        self.rules = rules
        self.bus = bus
    }

    /// Begins a request.
    ///
    /// - Parameters:
    ///   - services: What it asks for, if it asks for services.
    ///   - joins: Whether one of the connection that asks for the same may stand for it.
    /// - Returns: The number that the signal will carry.
    /// - Throws: `.busy` when as many are under way as may; `.unreachable` when the daemon stops.
    @discardableResult
    func begin(
        for client: SessionClient,
        about services: Set<Service> = [],
        joins: Bool = false,
        _ work: @escaping Work
    ) throws(CaptureError) -> UInt32 {
        if isEnding { throw LongRequests.ended }
        var own = open[client.connection] ?? Open(identity: client.identity)
        if joins, let same = own.running.first(where: { $1.services.isSuperset(of: services) }) { return same.key }
        let ofUser = open.values.filter { $0.identity.user == client.identity.user }
        let ofProgram = ofUser.filter { $0.identity.program == client.identity.program }
        let count = { (those: [Open]) in those.reduce(0) { $0 + $1.running.count } }
        guard own.running.count < rules.mostOfConnection, count(ofProgram) < rules.mostOfProgram,
            count(ofUser) < rules.mostOfUser
        else { throw CaptureError(.busy, rules.tooMany) }
        own.last = own.last == .max ? 1 : own.last + 1
        let number = own.last
        own.running[number] = (services, Task { await self.run(number, work, for: client) })
        open[client.connection] = own
        return number
    }

    /// Cancels a request of a connection; the signal still tells of its end.
    ///
    /// - Throws: `.invalidArgument` when there is no such request.
    func cancel(_ number: UInt32, of connection: String) throws(CaptureError) {
        guard let request = open[connection]?.running[number] else {
            throw CaptureError(.invalidArgument, "no request \(number) of this connection \(rules.verb)")
        }
        request.task.cancel()
    }

    /// The caller left: cancels its requests. Unless the rules say so, this does not wait for their end: a file that
    /// never ends keeps nothing else of the caller's from being cleared away.
    func clientGone(_ connection: String) async {
        let tasks = open.removeValue(forKey: connection)?.running.values.map(\.task) ?? []
        if isIdle { stopWaiting() }
        for task in tasks { task.cancel() }
        if rules.awaitsEnd { for task in tasks { await task.value } }
    }

    /// The daemon stops: cancels every request and waits until all have ended. A request that takes longer than
    /// `patience` is not waited for any more, and may still be done: what one caller began keeps the daemon from stopping
    /// no longer than that.
    func shutDown(within patience: Duration = .seconds(10)) async {
        isEnding = true
        for request in open.values.flatMap(\.running.values) { request.task.cancel() }
        if !isIdle {
            let limit = Task {
                guard (try? await Task.sleep(for: patience)) != nil else { return }
                self.stopWaiting()
            }
            await withCheckedContinuation { lastEnded = $0 }
            limit.cancel()
        }
        let late = open.mapValues(\.running.keys)
        open = [:]
        let fault = CaptureError(
            .unreachable,
            "the capture daemon was stopped while that was under way; look whether it was done"
        )
        let outcome = Outcome(fault: fault, result: rules.noResult)
        for (connection, numbers) in late { for number in numbers { tell(number, outcome, connection) } }
    }

    /// Only the daemon gave up: the caller may try again with the next one.
    private static let ended = CaptureError(.unreachable, "the capture daemon was stopped before that was done")

    private var isIdle: Bool { open.values.allSatisfy(\.running.isEmpty) }

    private func stopWaiting() {
        lastEnded?.resume()
        lastEnded = nil
    }

    private func run(_ number: UInt32, _ work: Work, for client: SessionClient) async {
        let connection = client.connection
        var outcome = await work(number)
        // Nobody hears of it if the caller has left, or if it was given up.
        guard open[connection]?.running.removeValue(forKey: number) != nil else { return }
        if isEnding, outcome.fault?.code == .dismissed { outcome.fault = LongRequests.ended }
        tell(number, outcome, connection)
        if isIdle { stopWaiting() }
        // A caller that left before its request was noted is not heard of again, and its work has failed.
        if outcome.fault != nil, (try? await client.identifyAgain()) == nil, open[connection]?.running.isEmpty == true {
            open[connection] = nil
        }
    }

    private func tell(_ number: UInt32, _ outcome: Outcome, _ connection: String) {
        func send(_ fault: CaptureError?, _ result: BusValue) throws(CaptureError) {
            let texts = [fault?.code.rawValue ?? "", fault?.message ?? ""].map { BusValue.string($0) }
            let arguments = [.uint32(number)] + texts + [result]
            try bus.tell(CaptureNames.root, rules.interface, rules.signal, arguments, to: connection)
        }
        do throws(CaptureError) {
            try send(outcome.fault, outcome.result)
        } catch {
            Journal.send("cannot report the result of \(rules.name): \(error)", priority: .warning)
            let why = "it was done, but its result could not be reported: \(error.message)"
            // A connection to a bus that is gone hears nothing.
            try? send(outcome.fault ?? CaptureError(.internalFault, why), rules.noResult)
        }
    }
}
