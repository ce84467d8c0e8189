import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

/// What takes a person or a long copy: begun by a call, ended by a signal to its caller.
actor LibraryRequests {
    /// What is done, in a task that is cancelled when the caller takes it back or leaves.
    typealias Work = @Sendable () async throws(CaptureError) -> [String: BusValue]
    /// The same, told its request's number.
    typealias NumberedWork = @Sendable (UInt32) async throws(CaptureError) -> [String: BusValue]

    /// How many of a connection, and how many of a user's, may be under way at a time.
    static let mostOfConnection = 16
    static let mostOfUser = 64

    private let bus: BusConnection
    private var last: UInt32 = 0
    private var open: [String: [UInt32: Task<Void, Never>]] = [:]
    /// Whose those of a connection are.
    private var users: [String: UInt32] = [:]

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
        let user = client.identity.user
        let ofUser = open.reduce(0) { users[$1.key] == user ? $0 + $1.value.count : $0 }
        guard open[client.connection, default: [:]].count < Self.mostOfConnection, ofUser < Self.mostOfUser else {
            throw CaptureError(
                .busy,
                "\(Self.mostOfConnection) requests of a connection and \(Self.mostOfUser) of a user to the media library may "
                    + "be under way at a time; wait for those that are"
            )
        }
        users[client.connection] = user
        last += 1
        let number = last
        open[client.connection, default: [:]][number] = Task { await self.run(number, work, for: client.connection) }
        return number
    }

    /// Takes back a request of a connection; `Finished` still tells of its end.
    ///
    /// - Throws: `.invalidArgument` when there is no such request.
    func cancel(_ number: UInt32, of connection: String) throws(CaptureError) {
        guard let task = open[connection]?[number] else {
            throw CaptureError(.invalidArgument, "no request \(number) of this connection is under way")
        }
        task.cancel()
    }

    /// The caller left: what is under way for it is cancelled, and ends when it can. A file that never ends keeps nothing
    /// else of the caller's from being cleared away.
    func clientGone(_ connection: String) {
        for task in open[connection, default: [:]].values { task.cancel() }
    }

    private func run(_ number: UInt32, _ work: NumberedWork, for connection: String) async {
        var fault: CaptureError?
        var result: [String: BusValue] = [:]
        do throws(CaptureError) {
            result = try await work(number)
        } catch {
            fault = error
        }
        open[connection]?[number] = nil
        if open[connection]?.isEmpty == true {
            open[connection] = nil
            users[connection] = nil
        }
        // A caller that is gone does not hear it.
        try? bus.emit(
            CaptureNames.root,
            CaptureNames.library,
            "Finished",
            signature: "ussa{sv}",
            [
                .uint32(number), .string(fault?.code.rawValue ?? ""), .string(fault?.message ?? ""),
                .properties(result),
            ],
            to: connection
        )
    }
}
