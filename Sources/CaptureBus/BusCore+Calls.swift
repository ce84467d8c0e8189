import CSystemd
import CaptureCore
import CaptureSystem
import Logging

/// A method call on its way, or awaiting its reply.
@safe final class PendingCall {
    unowned let core: BusCore
    let token: UInt64
    private(set) var call: OutgoingCall
    let completion: (Result<[BusValue], CaptureError>) -> Void
    var slot: OpaquePointer?

    init(
        _ core: BusCore,
        _ call: OutgoingCall,
        _ completion: @escaping (Result<[BusValue], CaptureError>) -> Void
    ) {
        self.core = core
        token = core.token()
        self.call = call
        // The message has its own copies; descriptors are not to stay open until the answer.
        self.call.arguments = []
        self.completion = completion
    }
}

/// What to call.
struct OutgoingCall: Sendable {
    var destination: String
    var path: String
    var interface: String
    var member: String
    var types: [BusType]
    var arguments: [BusValue]
    /// Seconds until the call fails by itself; `nil`: the usual time.
    var timeout: Double?
    /// Whether a service that is not there is started for it.
    var startsService = true

    /// How much an answer may contain. Services have well-known names; a unique name can belong to any program.
    var limits: MessageReader.Limits { destination.hasPrefix(":") ? .strangersAnswer : .answer }

    /// The timeout as sd-bus takes it: 0 is the usual one, and the greatest number means none.
    var microseconds: UInt64 {
        guard let timeout else { return 0 }
        return timeout.isFinite ? UInt64((max(timeout, 0.001) * 1_000_000).rounded()) : UInt64.max
    }
}

extension BusCore {
    /// Sends a call; `completion` is called exactly once, on the bus thread.
    func call(
        _ call: OutgoingCall,
        _ completion: @escaping (Result<[BusValue], CaptureError>) -> Void
    ) {
        do throws(CaptureError) {
            try send(call, completion)
        } catch {
            completion(.failure(error))
        }
    }

    private func send(
        _ call: OutgoingCall,
        _ completion: @escaping (Result<[BusValue], CaptureError>) -> Void
    ) throws(CaptureError) {
        let bus = unsafe try connected()
        var message: OpaquePointer?
        var code = unsafe sd_bus_message_new_method_call(
            bus,
            &message,
            call.destination,
            call.path,
            call.interface,
            call.member
        )
        guard code >= 0, let message = unsafe message else {
            throw BusErrors.failure(code, "call \(call.member) of \(call.path)", as: .invalidArgument)
        }
        defer { unsafe sd_bus_message_unref(message) }
        code = unsafe sd_bus_message_set_auto_start(message, call.startsService ? 1 : 0)
        guard code >= 0 else { throw BusErrors.failure(code, "call \(call.member) of \(call.path)") }
        try unsafe MessageWriter(message: message).append(call.arguments, types: call.types)
        let pending = PendingCall(self, call, completion)
        code = unsafe sd_bus_call_async(
            bus,
            &pending.slot,
            message,
            { message, userdata, _ in
                guard let message = unsafe message, let userdata = unsafe userdata else { return 0 }
                let pending = unsafe Unmanaged<PendingCall>.fromOpaque(userdata).takeUnretainedValue()
                unsafe pending.core.received(message, for: pending)
                return 0
            },
            Unmanaged.passUnretained(pending).toOpaque(),
            call.microseconds
        )
        if code < 0 { throw BusErrors.failure(code, "call \(call.member) of \(call.path)", as: .unreachable) }
        self.pending[pending.token] = pending
        log.debug("calling \(call.interface).\(call.member) of \(call.destination) at \(call.path)")
    }

    private func received(_ message: OpaquePointer, for pending: PendingCall) {
        let call = pending.call
        if !isConnected {
            complete(pending, .failure(BusCore.lost))
        } else if let error = unsafe BusErrors.error(in: message, destination: call.destination, path: call.path) {
            complete(pending, .failure(error))
        } else {
            complete(
                pending,
                Result { () throws(CaptureError) in
                    do throws(CaptureError) {
                        return try unsafe MessageReader.values(of: message, call.limits)
                    } catch {
                        throw CaptureError(.badData, "the answer to \(call.member) cannot be read: \(error.message)")
                    }
                }
            )
        }
    }

    /// What came of a call, for the log: its content is nobody's business there.
    static func words(_ result: Result<[BusValue], CaptureError>) -> String {
        switch result {
        case .success: "an answer"
        case .failure(let error): "the error \(error.code.rawValue) (\(error.message))"
        }
    }

    /// Hands out the result and forgets the call.
    func complete(_ call: PendingCall, _ result: Result<[BusValue], CaptureError>) {
        guard pending.removeValue(forKey: call.token) != nil else { return }
        unsafe sd_bus_slot_unref(call.slot)
        unsafe call.slot = nil
        log.debug("\(call.call.destination) gave \(BusCore.words(result)) for \(call.call.member)")
        call.completion(result)
    }

    /// Sends a signal.
    func emit(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ types: [BusType],
        _ arguments: [BusValue],
        to destination: String?
    ) throws(CaptureError) {
        let bus = unsafe try connected()
        guard hasRoomForSignal() else { return }
        var message: OpaquePointer?
        var code = unsafe sd_bus_message_new_signal(bus, &message, path, interface, member)
        guard code >= 0, let message = unsafe message else {
            throw BusErrors.failure(code, "make signal \(member) of \(path)")
        }
        defer { unsafe sd_bus_message_unref(message) }
        try unsafe MessageWriter(message: message).append(arguments, types: types)
        if let destination {
            code = unsafe sd_bus_message_set_destination(message, destination)
            if code < 0 { throw BusErrors.failure(code, "address signal \(member) to \(destination)") }
        }
        code = unsafe sd_bus_send(bus, message, nil)
        if code < 0 { throw BusErrors.failure(code, "send signal \(member) of \(path)", as: .unreachable) }
    }
}
