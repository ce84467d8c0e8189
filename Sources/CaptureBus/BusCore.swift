import CBus
import CSystemd
import CaptureCore
import CaptureSystem
import Glibc

/// Everything of sd-bus that a connection has. Thread-bound: made and used on the bus thread only.
@safe final class BusCore {
    /// Why a call fails once `close` was asked for.
    static let closed = CaptureError(.unreachable, "the connection to the bus is closed")
    /// Why a call fails once the bus is gone.
    static let lost = CaptureError(.unreachable, "the connection to the bus is lost")

    /// `nil` once the connection is closed.
    private(set) var bus: OpaquePointer?
    let uniqueName: String
    /// Not for waiting; handlers post their answers back.
    let loop: BusLoop
    /// Why the connection is closed.
    private var ending = BusCore.closed

    var nextToken: UInt64 = 1
    var pending: [UInt64: PendingCall] = [:]
    var exports: [String: [ExportedInterface]] = [:]
    /// Messages to reply to, for the calls that wait or run.
    var incoming: [UInt64: OpaquePointer] = unsafe [:]
    var calls = CallQueues<WaitingCall>(reserved: [0, getuid()])
    /// The users of connections that have called, if known; `nil` while the bus is being asked.
    var users: [String: UInt32?] = [:]
    /// Senders with a refused call that the failure handler is being told about.
    var telling: Set<String> = []
    var vanishing = Vanishing()
    /// Signals dropped since the bus last read.
    var signalsLeftOut = 0
    var quickMethods: [QuickMethod] = []
    /// What looks at calls before sd-bus looks for their object.
    var callFilter: OpaquePointer?
    var matches: [UInt64: Match] = [:]
    /// Told of each call that is answered by an error, before its caller is.
    var failureHandler: (@Sendable (BusCall, CaptureError) async -> Void)?
    /// What is done at intervals, and when next.
    var ticks: [ObjectIdentifier: (tick: Tick, due: Timestamp)] = [:]
    private var disconnectHandlers: [@Sendable (CaptureError) -> Void] = []
    private(set) var closeHandlers: [UInt64: @Sendable (CaptureError) -> Void] = [:]

    init(_ kind: BusKind, loop: BusLoop) throws(CaptureError) {
        self.loop = loop
        let opened = unsafe try BusCore.open(kind)
        var name: UnsafePointer<CChar>?
        // Waits for the bus's answer to Hello, with sd-bus's own time limit.
        let code = unsafe sd_bus_get_unique_name(opened, &name)
        guard code >= 0, let name = unsafe name else {
            unsafe sd_bus_close_unref(opened)
            throw BusErrors.noGreeting(code, kind, user: getuid())
        }
        uniqueName = unsafe String(cString: name)
        unsafe bus = opened
    }

    deinit {
        unsafe sd_bus_close_unref(bus)
    }

    private static func open(_ kind: BusKind) throws(CaptureError) -> OpaquePointer {
        var bus: OpaquePointer?
        var code: Int32
        switch kind {
        case .system: code = unsafe standard_bus_open(&bus, true, "captured", nil)
        case .session: code = unsafe standard_bus_open(&bus, false, "captured", nil)
        case .address(let address):
            code = unsafe sd_bus_new(&bus)
            if code >= 0 { code = unsafe sd_bus_set_address(bus, address) }
            if code >= 0 { code = unsafe sd_bus_set_bus_client(bus, 1) }
            if code >= 0 { code = unsafe sd_bus_start(bus) }
        }
        guard code >= 0, let bus = unsafe bus else {
            unsafe sd_bus_close_unref(bus)
            let reason = code == -ENOMEDIUM ? "its address is not set" : SystemError.text(of: -code)
            throw CaptureError(.unreachable, "the \(kind) bus cannot be reached: \(reason)", errno: -code)
        }
        return unsafe bus
    }

    /// The connection, while it is open.
    func connected() throws(CaptureError) -> OpaquePointer {
        guard let bus = unsafe bus else { throw ending }
        return unsafe bus
    }

    /// Whether the connection is open and not about to close.
    var isConnected: Bool { unsafe bus.map { unsafe sd_bus_is_open($0) > 0 } ?? false }

    func token() -> UInt64 {
        defer { nextToken += 1 }
        return nextToken
    }

    /// Handles what has arrived, a bounded amount of it so that posted work gets its turn.
    ///
    /// - Returns: Why the connection is lost, or `nil`.
    func process() -> CaptureError? {
        for _ in 0..<64 {
            guard mayProcess() else { break }
            let code = unsafe sd_bus_process(bus, nil)
            if code < 0 { return CaptureError(.unreachable, BusCore.lost.message, errno: -code) }
            if code == 0 { break }
        }
        return nil
    }

    /// What to poll for now; to be asked again before every poll.
    func pollInterest() -> (descriptor: Int32, events: Int16, milliseconds: Int32)? {
        let descriptor = unsafe sd_bus_get_fd(bus)
        let events = unsafe sd_bus_get_events(bus)
        var deadline: UInt64 = 0
        let code = unsafe sd_bus_get_timeout(bus, &deadline)
        guard descriptor >= 0, events >= 0, code >= 0 else { return nil }
        for (_, due) in ticks.values { deadline = min(deadline, UInt64(max(0, due.nanoseconds)) / 1000 + 1) }
        let interest = isCongested ? events & ~POLLIN : events
        if deadline == UInt64.max { return (descriptor, Int16(truncatingIfNeeded: interest), -1) }
        let now = UInt64(max(0, Timestamp.now.nanoseconds)) / 1000
        let milliseconds = deadline <= now ? 0 : min((deadline - now + 999) / 1000, 1 << 30)
        return (descriptor, Int16(truncatingIfNeeded: interest), Int32(milliseconds))
    }

    /// What sd-bus says of a message, copied; `nil` where it says nothing.
    func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }

    /// Calls `handler` when the connection is lost, at once when it is already.
    func onDisconnect(_ handler: @escaping @Sendable (CaptureError) -> Void) {
        if unsafe bus == nil { handler(ending) } else { disconnectHandlers.append(handler) }
    }

    /// Calls `handler` when the connection is closed for whatever reason, at once when it is already.
    ///
    /// - Returns: What `forgetClose` takes.
    @discardableResult
    func onClose(_ handler: @escaping @Sendable (CaptureError) -> Void) -> UInt64 {
        let token = token()
        if unsafe bus == nil { handler(ending) } else { closeHandlers[token] = handler }
        return token
    }

    /// Ends an `onClose`.
    func forgetClose(_ token: UInt64) { closeHandlers[token] = nil }

    /// Writes out what was sent, unless the bus does not take it for two seconds.
    private func flush(_ bus: OpaquePointer) {
        let end = ContinuousClock.now + .seconds(2)
        var queued: UInt64 = 0
        while unsafe sd_bus_get_n_queued_write(bus, &queued) >= 0, queued > 0 {
            let left = Int32(ContinuousClock.now.duration(to: end) / .milliseconds(1))
            var file = pollfd(fd: unsafe sd_bus_get_fd(bus), events: Int16(POLLOUT), revents: 0)
            guard left > 0 else { return }
            let ready = unsafe poll(&file, 1, left)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0, unsafe sd_bus_process(bus, nil) >= 0 else { return }
        }
    }

    /// Closes the connection and fails everything that waits for it. What was sent before is written out when the
    /// closing is our own wish.
    func close(_ reason: CaptureError) {
        guard let bus = unsafe bus else { return }
        ending = reason
        if reason == BusCore.closed { unsafe flush(bus) }
        let ours = pending.values.sorted { $0.token < $1.token }
        for call in ours { complete(call, .failure(reason)) }
        for match in matches.values.sorted(by: { $0.token < $1.token }) { match.installed(.failure(reason)) }
        matches = [:]
        for path in exports.keys.sorted() { unexport(path) }
        while let (_, message) = unsafe incoming.popFirst() { unsafe sd_bus_message_unref(message) }
        calls = CallQueues(reserved: [])
        vanishing = Vanishing()
        unsafe sd_bus_slot_unref(callFilter)
        unsafe callFilter = nil
        unsafe self.bus = nil
        unsafe sd_bus_close_unref(bus)
        let handlers = disconnectHandlers
        disconnectHandlers = []
        if reason != BusCore.closed { for handler in handlers { handler(reason) } }
        let ended = closeHandlers
        closeHandlers = [:]
        for (_, handler) in ended.sorted(by: { $0.key < $1.key }) { handler(reason) }
    }
}
