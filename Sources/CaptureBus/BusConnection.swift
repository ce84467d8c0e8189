import CSystemd
public import CaptureCore
import Logging
import Synchronization

/// Which bus.
public enum BusKind: Hashable, Sendable, CustomStringConvertible {
    /// The machine's.
    case system
    /// The user's.
    case session
    /// One at an address, as in `unix:path=/run/bus`.
    case address(String)

    /// As in `system`.
    public var description: String {
        switch self {
        case .system: "system"
        case .session: "session"
        case .address(let address): address
        }
    }
}

/// A connection to a bus, with a thread of its own that every sd-bus object lives on.
///
/// Thread-safe. Exports, signals and answers go out in the order in which they were asked for. The connection closes
/// with its last reference; handlers of exported objects that refer to it keep it open until `close`.
public final class BusConnection: Sendable {
    /// The name that the bus gave the connection, as in `:1.42`.
    public let uniqueName: String
    let loop: BusLoop
    /// Who made each connection, by its name.
    let makers = Mutex<[String: ConnectionMaker]>([:])

    private init(_ loop: BusLoop, uniqueName: String) {
        self.loop = loop
        self.uniqueName = uniqueName
    }

    deinit {
        loop.stop()
    }

    /// Connects to a bus and waits until it has greeted.
    ///
    /// - Throws: `.unreachable` when the bus is not there.
    public static func open(_ kind: BusKind) async throws(CaptureError) -> BusConnection {
        let (loop, name) = try await BusLoop.start(kind)
        return BusConnection(loop, uniqueName: name)
    }

    /// Sends out what was asked for, fails what waits with `.unreachable`, and closes. Idempotent.
    public func close() async {
        loop.stop()
        await withCheckedContinuation { continuation in
            if !loop.post({ $0.onClose { _ in continuation.resume() } }) { continuation.resume() }
        }
    }

    /// Calls a method and waits for its answer. A cancelled task still waits.
    ///
    /// - Parameters:
    ///   - destination: A well-known or unique name.
    ///   - path: The object.
    ///   - interface: The interface.
    ///   - member: The method.
    ///   - signature: The types of the arguments.
    ///   - arguments: Values of these types.
    ///   - timeout: Seconds, at least a thousandth, after which the call fails with `.unreachable`; `.infinity` waits
    ///     for as long as the other side is there, and `nil` for 25 s or what `SYSTEMD_BUS_TIMEOUT` says.
    ///   - startsService: Whether a service that is not there is started for it.
    /// - Returns: The values of the answer, of whatever types the other side chose.
    /// - Throws: The other side's error; `.unreachable` when there is no answer; `.internalFault` when the arguments
    ///   are not of the types.
    public func call(
        _ destination: String,
        _ path: String,
        _ interface: String,
        _ member: String,
        signature: String = "",
        _ arguments: [BusValue] = [],
        timeout: Double? = nil,
        startsService: Bool = true
    ) async throws(CaptureError) -> [BusValue] {
        let types = try BusType.parse(signature)
        try types.check(arguments, of: member)
        let call = OutgoingCall(
            destination: destination,
            path: path,
            interface: interface,
            member: member,
            types: types,
            arguments: arguments,
            timeout: timeout,
            startsService: startsService
        )
        return try await loop.perform { core, done in core.call(call, done) }
    }

    /// Calls a method of the bus itself, as `call` does.
    public func askBus(
        _ member: String,
        signature: String = "",
        _ arguments: [BusValue] = [],
        timeout: Double? = nil
    ) async throws(CaptureError) -> [BusValue] {
        let bus = CaptureNames.bus
        return try await call(
            bus,
            CaptureNames.busPath,
            bus,
            member,
            signature: signature,
            arguments,
            timeout: timeout
        )
    }

    /// Calls a method of the bus that takes no arguments, and returns at once.
    ///
    /// - Parameter completion: Gets what `askBus` returns or throws, once, on the bus thread: it must not wait for anything.
    public func askBus(
        _ member: String,
        timeout: Double? = nil,
        _ completion: @escaping @Sendable (Result<[BusValue], CaptureError>) -> Void
    ) {
        if !loop.post({ $0.ask(member, timeout: timeout, completion) }) { completion(.failure(BusCore.closed)) }
    }

    /// Sends a signal, to everyone who subscribed or to one connection alone.
    ///
    /// - Throws: `.internalFault` when the arguments are not of the types; `.unreachable` when the connection is gone.
    public func emit(
        _ path: String,
        _ interface: String,
        _ member: String,
        signature: String = "",
        _ arguments: [BusValue] = [],
        to destination: String? = nil
    ) throws(CaptureError) {
        let types = try BusType.parse(signature)
        try types.check(arguments, of: member)
        guard unsafe sd_bus_member_name_is_valid(member) > 0 else {
            throw CaptureError(.internalFault, "'\(member)' is no member name")
        }
        try post(path, interface) { core throws(CaptureError) in
            try core.emit(path, interface, member, types, arguments, to: destination)
        }
    }

    /// Makes an object reachable; calls may arrive before this returns.
    ///
    /// - Throws: `.internalFault` when the path is taken; `.unreachable` when the connection is gone.
    public func export(_ object: BusObject) async throws(CaptureError) {
        try await loop.perform { core throws(CaptureError) in try core.export(object) }
    }

    /// Takes an object off the bus, after what was sent before. Calls that are being answered still are.
    public func unexport(_ path: String) {
        loop.post { $0.unexport(path) }
    }

    /// Sets properties and announces those whose values are others than before, to everyone who subscribed or to some
    /// connections alone.
    ///
    /// - Throws: `.internalFault` for an unknown property or a value of another type; `.unreachable` when the
    ///   connection is gone.
    public func update(
        _ object: BusObject,
        _ interface: String,
        _ values: [String: BusValue],
        to destinations: [String]? = nil
    ) throws(CaptureError) {
        try object.check(values, of: interface)
        // Set and announced in one turn of the bus thread, which also answers who reads them: nobody sees the one
        // without the other.
        try post(object.path, interface) { core throws(CaptureError) in
            var changed: [String] = []
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                if try object.setProperty(name, of: interface, to: value) { changed.append(name) }
            }
            if !changed.isEmpty { try core.propertiesChanged(object.path, interface, changed, to: destinations) }
        }
    }

    /// Calls `handler` for every signal that matches, on the bus thread, in order: it must not wait for anything.
    ///
    /// - Returns: The subscription, which ends with its last reference.
    public func subscribe(
        _ match: BusMatch,
        _ handler: @escaping @Sendable (BusSignal) -> Void
    ) async throws(CaptureError) -> BusSubscription {
        let token: UInt64 = try await loop.perform { core, done in core.subscribe(match, handler, done) }
        let loop = loop
        return BusSubscription { loop.post { $0.unsubscribe(token) } }
    }

    /// Calls `work` on the bus thread, now and at every interval: it must not wait for anything. The thread wakes for the bus
    /// anyway, so this costs less than a timer of its own.
    ///
    /// - Parameter interval: In nanoseconds.
    /// - Returns: What goes on until its last reference goes, or until the connection is closed.
    public func every(_ interval: Int64, _ work: @escaping @Sendable () -> Void) -> BusSubscription {
        let tick = Tick(interval, work)
        let loop = loop
        loop.post { $0.begin(tick) }
        return BusSubscription { loop.post { $0.end(tick) } }
    }

    /// Calls `handler` once, on the bus thread, when the connection is lost, and at once when it is gone already. Not
    /// called when `close` comes first.
    public func onDisconnect(_ handler: @escaping @Sendable (CaptureError) -> Void) {
        if !loop.post({ $0.onDisconnect(handler) }) { handler(BusCore.lost) }
    }

    /// The same, called when the connection is closed, too: for what waits for signals, which come no more either way.
    public func onClose(_ handler: @escaping @Sendable (CaptureError) -> Void) {
        if !loop.post({ $0.onClose(handler) }) { handler(BusCore.lost) }
    }

    /// The same until the subscription ends, for what does not last as long as the connection.
    ///
    /// - Throws: `.unreachable` when it is closed already.
    public func watchClose(
        _ handler: @escaping @Sendable (CaptureError) -> Void
    ) async throws(CaptureError) -> BusSubscription {
        let token: UInt64 = try await loop.perform { core throws(CaptureError) in core.onClose(handler) }
        let loop = loop
        return BusSubscription { loop.post { $0.forgetClose(token) } }
    }

    /// Calls `handler` for each call to an object of ours that is answered by an error, before the caller gets that; one
    /// handler at a time. It must not call this connection for the caller's sake and wait long: the caller waits, too.
    public func onFailure(_ handler: @escaping @Sendable (BusCall, CaptureError) async -> Void) {
        loop.post { $0.failureHandler = handler }
    }

    /// Names are checked here; what can go wrong later is a connection that is lost, of which `onDisconnect` tells, or
    /// an object that was taken off the bus meanwhile.
    private func post(
        _ path: String,
        _ interface: String,
        _ work: @escaping @Sendable (BusCore) throws(CaptureError) -> Void
    ) throws(CaptureError) {
        guard unsafe sd_bus_object_path_is_valid(path) > 0, unsafe sd_bus_interface_name_is_valid(interface) > 0 else {
            throw CaptureError(.internalFault, "'\(path)' with '\(interface)' is no object with an interface")
        }
        let isPosted = loop.post { core in
            do throws(CaptureError) {
                try work(core)
            } catch {
                if core.isConnected { log.warning("\(path): \(error.message)") }
            }
        }
        if !isPosted { throw BusCore.closed }
    }
}
