import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// What takes a person or a long copy: begun by a call, ended by a signal to its caller.
actor LibraryRequests {
    /// What is done, in a task that is cancelled when the caller takes it back or leaves.
    typealias Work = @Sendable () async throws(CaptureError) -> [String: BusValue]
    /// The same, told its request's number.
    typealias NumberedWork = @Sendable (UInt32) async throws(CaptureError) -> [String: BusValue]

    /// How many of a connection, of a program's and of a user's may be under way at a time.
    static let mostOfConnection = 16
    static let mostOfProgram = 16
    static let mostOfUser = 64

    /// What a connection has under way.
    private struct Open {
        var client: SessionClient
        /// Numbers are the connection's own, so that they tell nothing of what others do.
        var last: UInt32 = 0
        var tasks: [UInt32: Task<Void, Never>] = [:]
    }

    private let bus: BusConnection
    private var open: [String: Open] = [:]
    private var isEnding = false

    init(bus: BusConnection) {
        self.bus = bus
    }

    /// Begins something.
    ///
    /// - Returns: The number that the signal `Finished` will carry.
    /// - Throws: `.busy` when as many are under way as may.
    func begin(for client: SessionClient, _ work: @escaping Work) throws(CaptureError) -> UInt32 {
        try begin(for: client) { _ throws(CaptureError) in try await work() }
    }

    /// Begins something that is told its number.
    func begin(for client: SessionClient, _ work: @escaping NumberedWork) throws(CaptureError) -> UInt32 {
        let ofUser = open.values.filter { $0.client.identity.user == client.identity.user }
        let ofProgram = ofUser.filter { $0.client.identity.program == client.identity.program }
        let count = { (those: [Open]) in those.reduce(0) { $0 + $1.tasks.count } }
        guard open[client.connection]?.tasks.count ?? 0 < Self.mostOfConnection, count(ofProgram) < Self.mostOfProgram,
            count(ofUser) < Self.mostOfUser
        else {
            throw CaptureError(
                .busy,
                "\(Self.mostOfProgram) requests of a program and \(Self.mostOfUser) of a user to the media library may be "
                    + "under way at a time; wait for one to end"
            )
        }
        var own = open[client.connection] ?? Open(client: client)
        own.last = own.last == .max ? 1 : own.last + 1
        let number = own.last
        own.tasks[number] = Task { await self.run(number, work, for: client) }
        open[client.connection] = own
        return number
    }

    /// Takes back a request of a connection; `Finished` still tells of its end.
    ///
    /// - Throws: `.invalidArgument` when there is no such request.
    func cancel(_ number: UInt32, of connection: String) throws(CaptureError) {
        guard let task = open[connection]?.tasks[number] else {
            throw CaptureError(.invalidArgument, "no request \(number) of this connection is under way")
        }
        task.cancel()
    }

    /// The caller left: what is under way for it is cancelled, and ends when it can. A file that never ends keeps nothing
    /// else of the caller's from being cleared away.
    func clientGone(_ connection: String) {
        guard let own = open.removeValue(forKey: connection) else { return }
        for task in own.tasks.values { task.cancel() }
    }

    /// Nobody gave up but the daemon: whoever asked may try again with the next one.
    private static let ended = CaptureError(.unreachable, "the capture daemon was stopped before that was done")

    /// The daemon ends: what is under way is cancelled; waits until it has ended.
    func shutDown() async {
        isEnding = true
        let tasks = open.values.flatMap { Array($0.tasks.values) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func run(_ number: UInt32, _ work: NumberedWork, for client: SessionClient) async {
        let connection = client.connection
        var fault: CaptureError?
        var result: [String: BusValue] = [:]
        var isThere = false
        do throws(CaptureError) {
            // Of a connection that left before this was noted nobody hears any more.
            _ = try await client.identifyAgain()
            isThere = true
            result = try await work(number)
        } catch {
            fault = isEnding && error.code == .dismissed ? LibraryRequests.ended : error
        }
        open[connection]?.tasks[number] = nil
        if !isThere { clientGone(connection) }
        do throws(CaptureError) {
            try finish(number, fault, result, for: connection)
        } catch {
            Journal.send("cannot report the result of a request to the media library: \(error)", priority: .warning)
            let late = CaptureError(
                .internalFault,
                "it was done, but its result could not be reported: \(error.message)"
            )
            // A connection to a bus that is gone hears nothing.
            try? finish(number, fault ?? late, [:], for: connection)
        }
    }

    private func finish(
        _ number: UInt32,
        _ fault: CaptureError?,
        _ result: [String: BusValue],
        for connection: String
    ) throws(CaptureError) {
        try bus.tell(
            CaptureNames.root,
            CaptureNames.library,
            "Finished",
            [
                .uint32(number), .string(fault?.code.rawValue ?? ""), .string(fault?.message ?? ""),
                .properties(result),
            ],
            to: connection
        )
    }
}
