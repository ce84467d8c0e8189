public import CaptureBus
public import CaptureCore
import CaptureMessages
import Glibc
import Synchronization

/// The connection to `captured`, which owns the machine's cameras and microphones.
///
/// Everything else in the library takes one, or takes `shared()` when none is given. Thread-safe. When the daemon goes
/// away, calls throw `CaptureError.Code.unreachable`, and so do the sessions that lived in it.
public final class CaptureDaemon: Sendable {
    /// Seconds that a call may take, unless it may ask for a password: 10, or the bus's own limit (`nil`) where
    /// `SYSTEMD_BUS_TIMEOUT` sets that. Other answers of a person are reported by signals.
    static let timeout: Double? = unsafe getenv("SYSTEMD_BUS_TIMEOUT") == nil ? 10 : nil
    /// Seconds for a call that may ask for a password, for which polkit allows 120 s.
    static let passwordTimeout = 150.0

    private static let common = Mutex<CaptureDaemon?>(nil)

    package let connection: BusConnection
    /// Whether it was looked for on the session bus.
    let isOnSessionBus: Bool
    private let start: DaemonStart
    /// Whether a call of this connection has found the daemon running.
    private let wasRunning = Atomic<Bool>(false)
    /// What hears the ends of long requests, by their interface: each after the first request.
    let hubs = Mutex<[String: RequestHub]>([:])

    private init(_ connection: BusConnection, on bus: BusKind) {
        self.connection = connection
        isOnSessionBus = bus == .session
        start = DaemonStart(connection: connection, isUnit: bus == .system)
    }

    /// Connects to the bus that the daemon is on. The first call starts the daemon itself, if the bus can do that.
    ///
    /// - Parameter bus: The system bus in production.
    /// - Throws: `CaptureError.Code.unreachable` when the bus is not there. The first call throws it within a second if
    ///   the daemon is not installed, is masked or does not start.
    public static func connect(to bus: BusKind = .system) async throws(CaptureError) -> CaptureDaemon {
        CaptureDaemon(try await BusConnection.open(bus), on: bus)
    }

    /// The bus that `CAPTURED_BUS` names: the system's without it.
    package static func busOfEnvironment() throws(CaptureError) -> BusKind {
        let name = unsafe getenv("CAPTURED_BUS").map { unsafe String(cString: $0) } ?? ""
        switch name {
        case "", "system": return .system
        case "session": return .session
        default:
            let shown = Printable.text(name, limit: 100)
            throw CaptureError(.usage, "CAPTURED_BUS is '\(shown)'; it must be system or session")
        }
    }

    /// The connection that all parts of the process share: to the system bus, or to that which `CAPTURED_BUS` names. If it is
    /// lost or closed, the next call makes another.
    public static func shared() async throws(CaptureError) -> CaptureDaemon {
        if let daemon = common.withLock({ $0 }) { return daemon }
        let daemon = try await connect(to: try busOfEnvironment())
        // Of two that connected at once, the first is kept.
        let kept = common.withLock {
            if let first = $0 { return first }
            $0 = daemon
            return daemon
        }
        guard kept === daemon else {
            await daemon.close()
            return kept
        }
        daemon.connection.onClose { [weak daemon] _ in
            common.withLock { if $0 === daemon { $0 = nil } }
        }
        return daemon
    }

    static func given(_ daemon: CaptureDaemon?) async throws(CaptureError) -> CaptureDaemon {
        if let daemon { return daemon }
        return try await shared()
    }

    /// Closes the connection: attached sessions end, agents are gone. Idempotent.
    public func close() async {
        await connection.close()
    }

    /// The daemon's version.
    public func version() async throws(CaptureError) -> String {
        try await property("Version", of: CaptureNames.root, CaptureNames.manager).text ?? ""
    }

    /// Whether the daemon offers the synthetic devices.
    public func isSynthetic() async throws(CaptureError) -> Bool {
        try await property("Synthetic", of: CaptureNames.root, CaptureNames.manager).boolean ?? false
    }

    /// How the daemon is: its store, its configuration, its agents.
    public func health() async throws(CaptureError) -> DaemonHealth {
        try CaptureDaemon.understood(try await manage("GetHealth").first.flatMap(DaemonHealth.init), "GetHealth")
    }

    /// Says why this program captures, if no file of its own does. The question shows it as the program's own words, and it
    /// is stored with the answer.
    ///
    /// Holds for this connection and replaces what was said before. The program's metadata takes precedence. A daemon that was
    /// restarted does not know it: a program that runs for long says it again at `DaemonEvent.daemonAppeared`.
    ///
    /// - Parameter reasons: A sentence for each service in use; the question shows the first 300 characters.
    /// - Throws: `notPermitted` for a program in a sandbox, a service or a program with a user of its own, whose reasons
    ///   must be in metadata.
    public func setUsageDescriptions(_ reasons: [AuthorizationService: String]) async throws(CaptureError) {
        let entries = reasons.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key.rawValue), .string($0.value)) }
        try await consult("SetUsageDescriptions", [.dictionary("ss", entries)])
    }

    /// Reads the configuration again.
    public func reload() async throws(CaptureError) {
        try await manage("Reload")
    }

    /// Calls a method of the manager.
    @discardableResult
    func manage(
        _ member: String,
        _ arguments: [BusValue] = []
    ) async throws(CaptureError) -> [BusValue] {
        try await call(CaptureNames.root, CaptureNames.manager, member, arguments)
    }

    /// Calls a method of who may capture.
    ///
    /// - Parameter timeout: In seconds; `nil` for the bus's own.
    @discardableResult
    package func consult(
        _ member: String,
        _ arguments: [BusValue] = [],
        timeout: Double? = CaptureDaemon.timeout
    ) async throws(CaptureError) -> [BusValue] {
        try await call(CaptureNames.root, CaptureNames.authorization, member, arguments, timeout: timeout)
    }

    /// Calls a method of one of the daemon's objects. Passes the descriptors among the arguments (`h` and `a{sh}`)
    /// through a door, and puts their tickets in their places.
    ///
    /// - Parameter timeout: In seconds; `nil` for the bus's own.
    @discardableResult
    package func call(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue] = [],
        timeout: Double? = CaptureDaemon.timeout
    ) async throws(CaptureError) -> [BusValue] {
        // A session ends with its daemon. A call about it must neither start a new daemon nor keep a stopping one
        // alive.
        let startsService = !path.hasPrefix(CaptureNames.sessions + "/")
        if startsService, !wasRunning.load(ordering: .relaxed) {
            try await start.run()
            wasRunning.store(true, ordering: .relaxed)
        }
        var passed = arguments
        var door: DescriptorDoor?
        if arguments.contains(where: \.passesDescriptor) {
            let opened = try await DescriptorDoor(of: connection, startsService: startsService)
            door = opened
            for index in passed.indices { passed[index] = try await opened.passing(passed[index]) }
        }
        defer { withExtendedLifetime(door) {} }
        let values = passed.map(\.withTickets)
        return try await connection.call(
            CaptureNames.service,
            path,
            interface,
            member,
            signature: CaptureInterfaces.signature(interface, member, of: values),
            values,
            timeout: timeout,
            startsService: startsService
        )
    }

    /// Every property of an object's interface.
    func properties(of path: String, _ interface: String) async throws(CaptureError) -> [String: BusValue] {
        try await call(path, CaptureNames.properties, "GetAll", [.string(interface)]).first?.properties ?? [:]
    }

    private func property(
        _ name: String,
        of path: String,
        _ interface: String
    ) async throws(CaptureError) -> BusValue {
        let answer = try await call(
            path,
            CaptureNames.properties,
            "Get",
            [.string(interface), .string(name)]
        )
        return try CaptureDaemon.understood(answer.first, "\(interface).\(name)").unwrapped
    }

    /// What was read of the daemon's answer; nothing is, if that does not match its interface.
    package static func understood<Value>(_ value: Value?, _ member: String) throws(CaptureError) -> Value {
        guard let value else { throw malformed(member) }
        return value
    }

    /// The daemon's answer does not match its interface.
    package static func malformed(_ what: String) -> CaptureError {
        CaptureError(.badData, "cannot understand the capture daemon's answer to \(what)")
    }
}
