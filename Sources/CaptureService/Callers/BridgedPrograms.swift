import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureSystem
import Glibc

/// The programs that capture through `captured-pipewire`, which makes sessions in their names.
///
/// The bridge names a process. The daemon identifies it as it identifies callers, asks for it, and ends its sessions when it
/// ends. Only the bridge that ships with this daemon may do that, and only for processes of its own user.
actor BridgedPrograms {
    struct Entry {
        let identity: ClientIdentity
        /// When its process started, as `/proc/PID/stat` has it.
        let startTime: UInt64
        fileprivate let watch: ProcessEnd
    }

    /// The group that the installed bridge runs with: no program of the user's can trace it or load code into it.
    static let group = "captured-bridge"

    /// The name of all programs that use PulseAudio: its server says which of them is meant, and can be told anything.
    static let pulseName = "PulseAudio applications"

    private let identification: Identification
    private let program: ShippedProgram
    private let isSystem: Bool
    private let stated: StatedReasons
    let history: HistoryKeeper
    let refusals: RefusalJournal
    private var present: @Sendable ([ClientIdentity]) async -> Void = { _ in }
    private var gone: @Sendable (ClientIdentity, _ connection: String) async -> Void = { _, _ in }
    /// By connection of the bridge, in the order in which they came. A process is there twice if it goes by two names.
    private var entries: [String: [Entry]] = [:]

    /// - Parameters:
    ///   - program: The bridge.
    ///   - isSystem: Whether it needs the group, as it does where users are kept apart.
    ///   - stated: Told how programs came.
    ///   - history: Told of strangers, as `refusals` is.
    init(
        identification: Identification,
        program: ShippedProgram,
        isSystem: Bool,
        stated: StatedReasons,
        history: HistoryKeeper,
        refusals: RefusalJournal
    ) {
        self.identification = identification
        self.program = program
        self.isSystem = isSystem
        self.stated = stated
        self.history = history
        self.refusals = refusals
    }

    /// - Parameters:
    ///   - present: Told which programs are there, whenever that changes.
    ///   - gone: Told when one has ended, with the connection of its bridge.
    func serve(
        present: @escaping @Sendable ([ClientIdentity]) async -> Void,
        gone: @escaping @Sendable (ClientIdentity, _ connection: String) async -> Void
    ) {
        self.present = present
        self.gone = gone
    }

    /// A program as the client of a session that its bridge makes.
    ///
    /// - Parameters:
    ///   - process: The process that captures.
    ///   - startTime: When it started, as `/proc/PID/stat` has it.
    ///   - bridge: How it came.
    ///   - isByPortal: Whether its client says that the desktop's camera portal connected it. The process is the portal then,
    ///     and who has its socket is the program.
    ///   - said: Which process its client says that it is; 0 if it does not.
    ///   - connections: How many connections PipeWire takes for each process's.
    ///   - caller: Who calls.
    /// - Throws: `.notPermitted` unless the caller is the bridge and the process is one of its user's, which can be
    ///   identified.
    func client(
        _ process: Int32,
        startedAt startTime: UInt64,
        bridge: Bridge,
        isByPortal: Bool,
        said: Int32,
        connections: [Int32: Int],
        through caller: SessionClient
    ) async throws(CaptureError) -> SessionClient {
        try await check(caller.identity)
        guard process > 0, process != caller.identity.pid else {
            throw CaptureError(.invalidArgument, "\(process) is not the number of another process")
        }
        let user = caller.identity.user
        var named = NamedProcess(number: process, startTime: startTime)
        var (identity, way) = (try await identify(process, startTime, user), Bridge.pipewire)
        if isByPortal, BridgedPrograms.isPortal(identity) {
            (named, identity) = try await holder(of: identity, said: said, connections, beside: caller.identity)
        } else if BridgedPrograms.isCounted(identity) {
            try await PipeWireHolding.check(identity, made: connections[process] ?? 0)
        }
        if bridge == .pulse, BridgedPrograms.isServer(identity) {
            way = .pulse
            identity.name = BridgedPrograms.pulseName
        }
        try await follow(identity, of: caller.connection, startedAt: named.startTime)
        if identity.tier == .claimed { stated.state(way, of: identity, on: caller.connection) }
        let (name, program) = (identity.name, named)
        let again = { @Sendable [weak self] () async throws(CaptureError) -> ClientIdentity in
            guard let self else { throw CaptureError(.unreachable, "captured is shutting down") }
            var again = try await self.identify(program.number, program.startTime, user)
            again.name = name
            return again
        }
        return SessionClient(
            identity: identity,
            through: caller.identity,
            connection: caller.connection,
            identifyAtStart: { () async throws(CaptureError) -> ClientIdentity in
                let now = try await again()
                // It may have closed some since, but has the one that captures.
                if BridgedPrograms.isCounted(now) { try await PipeWireHolding.check(now, made: 1) }
                return now
            },
            identifyAgain: again
        )
    }

    /// Whether a program's connections to PipeWire are counted: one of the account's is always, one in a sandbox where its
    /// sockets are in the daemon's network. Those of another network are listed nowhere here.
    private static func isCounted(_ client: ClientIdentity) -> Bool {
        switch client.tier {
        case .claimed: true
        case .sandboxed: Files.link(at: "/proc/\(client.pid)/ns/net") == Files.link(at: "/proc/self/ns/net")
        default: false
        }
    }

    /// A bridge left the bus: nothing is known any more of who came through it.
    func clientGone(_ connection: String) async {
        if entries.removeValue(forKey: connection) != nil { await tellPresent() }
    }

    func check(_ caller: ClientIdentity) async throws(CaptureError) {
        var isBridge = program.isRun(by: caller)
        if isBridge, isSystem {
            let group = try await WorkerThread.run("groups") { UserDatabase.group(named: Self.group).value }
            isBridge = group.map(caller.groups.contains) ?? false
        }
        guard isBridge else {
            throw CaptureError(.notPermitted, "only captured-pipewire, as it is installed, captures for other programs")
        }
    }

    func identify(
        _ process: Int32,
        _ startTime: UInt64,
        _ user: UInt32
    ) async throws(CaptureError) -> ClientIdentity {
        let peer = try await BusConnection.look("who-captures", at: user) { () throws(CaptureError) in
            try PeerFacts.look(at: process, startedAt: startTime, of: user)
        }
        return try ClientIdentity.identify(try await identification.facts(from: peer))
    }

    /// Whether a process may be PipeWire's server for PulseAudio's clients: it runs PipeWire's program, as it is
    /// installed. That it is, the bridge has by the process's own word alone.
    private static func isServer(_ identity: ClientIdentity) -> Bool {
        runs(identity, ["pipewire", "pipewire-pulse"])
    }

    private func follow(
        _ identity: ClientIdentity,
        of connection: String,
        startedAt startTime: UInt64
    ) async throws(CaptureError) {
        if entries[connection]?.contains(where: { $0.identity == identity }) == true { return }
        let watch: ProcessEnd
        do throws(SystemError) {
            watch = try ProcessEnd(of: identity.pid) { [weak self] in
                Task { await self?.ended(identity, of: connection) }
            }
        } catch {
            throw CaptureError(.notPermitted, "process \(identity.pid) cannot be followed: \(error)")
        }
        let formers = programs(through: connection).map(\.identity).filter { former in
            var renamed = former
            renamed.name = identity.name
            return former.pid == identity.pid && renamed != identity
        }
        entries[connection, default: []].append(Entry(identity: identity, startTime: startTime, watch: watch))
        // The process ran another program before, whose sessions end.
        for former in formers { await ended(former, of: connection) }
        await tellPresent()
        // Another process may have the number since it was identified; the one that is followed must be the same.
        var again = try await identify(identity.pid, startTime, identity.user)
        again.name = identity.name
        guard again == identity else {
            throw CaptureError(.notPermitted, "process \(identity.pid) changed while it was identified")
        }
    }

    private func ended(_ identity: ClientIdentity, of connection: String) async {
        guard let place = entries[connection]?.firstIndex(where: { $0.identity == identity }) else { return }
        entries[connection]?.remove(at: place)
        stated.processGone(identity.pid, on: connection)
        await gone(identity, connection)
        await tellPresent()
    }

    /// Those that came through a connection of the bridge's.
    func programs(through connection: String) -> [Entry] {
        entries[connection] ?? []
    }

    private func tellPresent() async {
        await present(entries.values.joined().map(\.identity))
    }
}
