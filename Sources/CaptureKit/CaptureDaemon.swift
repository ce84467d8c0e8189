public import CaptureBus
public import CaptureCore
import Glibc
import Synchronization

/// The connection to `captured`, which owns the machine's cameras and microphones.
///
/// Everything else in the library takes one, or takes `shared()` when none is given. Thread-safe. When the daemon goes
/// away, calls throw `CaptureError.Code.unreachable`, and so do the sessions that lived in it.
public final class CaptureDaemon: Sendable {
    /// No call outlasts this many seconds, but those that may take a password: what else a person answers is reported by
    /// signals.
    static let timeout = 10.0
    /// That many for a call that may take a password, for which polkit has 120 s.
    static let passwordTimeout = 150.0

    private static let common = Mutex<CaptureDaemon?>(nil)

    let connection: BusConnection
    /// What hears of requests to the media library, once there was one.
    let library = Mutex<LibraryHub?>(nil)

    private init(_ connection: BusConnection) {
        self.connection = connection
    }

    /// Connects to the bus that the daemon is on. The daemon itself is started by the first call, where the bus can.
    ///
    /// - Parameter bus: The system bus in production.
    /// - Throws: `CaptureError.Code.unreachable` when the bus is not there.
    public static func connect(to bus: BusKind = .system) async throws(CaptureError) -> CaptureDaemon {
        CaptureDaemon(try await BusConnection.open(bus))
    }

    /// The connection that the process's parts have in common: to the session bus where `CAPTURED_BUS` is `session`,
    /// else to the system bus. One that was lost or closed is followed by another.
    public static func shared() async throws(CaptureError) -> CaptureDaemon {
        if let daemon = common.withLock({ $0 }) { return daemon }
        let isSession = unsafe getenv("CAPTURED_BUS").map { unsafe String(cString: $0) } == "session"
        let daemon = try await connect(to: isSession ? .session : .system)
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

    /// How the daemon is: its store, its configuration, its agents. Every value printable as text.
    public func health() async throws(CaptureError) -> DaemonHealth {
        DaemonHealth(try await manage("GetHealth").first?.properties ?? [:])
    }

    /// Reads the configuration again.
    public func reload() async throws(CaptureError) {
        try await manage("Reload")
    }

    /// Calls a method of the manager.
    @discardableResult
    func manage(
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = []
    ) async throws(CaptureError) -> [BusValue] {
        try await call(CaptureNames.root, CaptureNames.manager, member, signature, arguments)
    }

    /// Calls a method of one of the daemon's objects. Passes the descriptors among the arguments (`h` and `a{sh}`)
    /// through a door, and puts their tickets in their places.
    ///
    /// - Parameter timeout: In seconds.
    @discardableResult
    func call(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ signature: String = "",
        _ arguments: [BusValue] = [],
        timeout: Double = CaptureDaemon.timeout
    ) async throws(CaptureError) -> [BusValue] {
        // A session ends with its daemon. A call about it must neither start a new daemon nor keep a stopping one
        // alive.
        let startsService = !path.hasPrefix(CaptureNames.sessions + "/")
        var passed = arguments
        var door: DescriptorDoor?
        if arguments.contains(where: \.passesDescriptor) {
            let opened = try await DescriptorDoor(of: connection, startsService: startsService)
            door = opened
            for index in passed.indices { passed[index] = try await opened.passing(passed[index]) }
        }
        defer { withExtendedLifetime(door) {} }
        return try await connection.call(
            CaptureNames.service,
            path,
            interface,
            member,
            signature: String(signature.map { $0 == "h" ? "s" : $0 }),
            passed.map(\.withTickets),
            timeout: timeout,
            startsService: startsService
        )
    }

    /// Every property of an object's interface.
    func properties(of path: String, _ interface: String) async throws(CaptureError) -> [String: BusValue] {
        try await call(path, CaptureNames.properties, "GetAll", "s", [.string(interface)]).first?.properties ?? [:]
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
            "ss",
            [.string(interface), .string(name)]
        )
        guard let value = answer.first else { throw CaptureDaemon.malformed("\(interface).\(name)") }
        return value.unwrapped
    }

    /// The daemon answered something that is not of its interface.
    static func malformed(_ what: String) -> CaptureError {
        CaptureError(.badData, "the capture daemon's answer to \(what) is not of the known form")
    }
}
