import CLinux
import CSystemd
import CaptureCore
import CaptureSystem
import Glibc

/// An interface of an object, as sd-bus has it.
@safe final class ExportedInterface {
    unowned let core: BusCore
    let object: BusObject
    let implementation: BusImplementation
    /// The declared types of what each method returns, and of each property.
    let types: [String: [BusType]]
    private let table: OpaquePointer
    private var slot: OpaquePointer?

    init(_ core: BusCore, _ object: BusObject, _ implementation: BusImplementation) throws(CaptureError) {
        let interface = implementation.interface
        self.core = core
        self.object = object
        self.implementation = implementation
        var types: [String: [BusType]] = [:]
        for method in interface.methods { types[method.name] = try BusType.parse(method.output.signature) }
        for property in interface.properties { types[property.name] = try BusType.parse(property.signature) }
        self.types = types
        unsafe table = try interface.makeTable()
        let bus = unsafe try core.connected()
        let code = unsafe sd_bus_add_object_vtable(
            bus,
            &slot,
            object.path,
            interface.name,
            clinux_bus_vtable_entries(table),
            Unmanaged.passUnretained(self).toOpaque()
        )
        if code < 0 { throw BusErrors.failure(code, "export \(interface.name) at \(object.path)") }
    }

    deinit {
        unsafe sd_bus_slot_unref(slot)
        unsafe clinux_bus_vtable_free(table)
    }

    /// Writes a property's value into a reply.
    ///
    /// - Throws: What the object tells those who may not read it: with readers it is not read this way.
    func get(_ property: String, into reply: OpaquePointer) throws(CaptureError) {
        if let readers = object.readers, try core.isBeingRead() { throw readers.refusal }
        let interface = implementation.interface.name
        guard let value = object.property(property, of: interface), let types = types[property] else {
            throw CaptureError(.internalFault, "\(interface).\(property) has no value")
        }
        try unsafe MessageWriter(message: reply).append([value], types: types)
    }
}

/// A call that arrived and waits for its turn.
struct WaitingCall {
    let token: UInt64
    let call: BusCall
    let handler: BusHandler
    let types: [BusType]
    /// What it reads, once its handler has let it; `nil` for a method's, whose handler has the answer.
    var reading: BusReading?
}

extension BusCore {
    /// The most calls of one sender that wait at one time.
    static let mostWaitingCalls = 256
    /// What a call beyond those is told.
    static let overflow = CaptureError(
        .busy,
        "\(mostWaitingCalls) calls of this connection are waiting to be answered already"
    )

    /// Makes an object reachable.
    func export(_ object: BusObject) throws(CaptureError) {
        guard exports[object.path] == nil else {
            throw CaptureError(.internalFault, "\(object.path) is exported already")
        }
        var parts: [ExportedInterface] = []
        for implementation in object.implementations {
            parts.append(try ExportedInterface(self, object, implementation))
        }
        exports[object.path] = parts
        try answerQuickly(object)
    }

    /// Takes an object off the bus; calls that are being answered still are.
    func unexport(_ path: String) {
        exports[path] = nil
        quickMethods.removeAll { $0.path == path }
    }

    /// Announces the present values of properties, to everyone who subscribed or to `destinations` alone.
    func propertiesChanged(
        _ path: String,
        _ interface: String,
        _ names: [String],
        to destinations: [String]? = nil
    ) throws(CaptureError) {
        let bus = unsafe try connected()
        guard let exported = exports[path]?.first(where: { $0.implementation.interface.name == interface }) else {
            throw CaptureError(.internalFault, "\(path) is not exported with \(interface)")
        }
        // sd-bus would send an invalidation for a property that is not declared to emit changes.
        let declared = Set(exported.implementation.interface.properties.filter(\.emitsChange).map(\.name))
        guard !names.isEmpty, declared.isSuperset(of: names) else {
            throw CaptureError(
                .internalFault,
                "\(interface) does not declare changes of \(names.joined(separator: ", "))"
            )
        }
        if let destinations {
            // sd-bus has no call that announces properties to somebody alone.
            var values: [String: BusValue] = [:]
            for name in names { values[name] = exported.object.property(name, of: interface) }
            let arguments: [BusValue] = [.string(interface), .properties(values), .strings([])]
            let types = try BusType.parse("sa{sv}as")
            for destination in destinations {
                try emit(path, CaptureNames.properties, "PropertiesChanged", types, arguments, to: destination)
            }
            return
        }
        var texts = unsafe names.map { unsafe strdup($0) }
        defer { while let text = unsafe texts.popLast() { unsafe free(text) } }
        unsafe texts.append(nil)
        let code = unsafe texts.withUnsafeMutableBufferPointer { texts in
            unsafe sd_bus_emit_properties_changed_strv(bus, path, interface, texts.baseAddress)
        }
        if code < 0 { throw BusErrors.failure(code, "announce properties of \(path)", as: .unreachable) }
    }

    /// Takes in a call; the answer comes later.
    func receive(_ message: OpaquePointer, for exported: ExportedInterface) throws(CaptureError) {
        guard let member = unsafe sd_bus_message_get_member(message).map({ unsafe String(cString: $0) }),
            let sender = unsafe sd_bus_message_get_sender(message).map({ unsafe String(cString: $0) }),
            let handler = exported.implementation.handlers[member], let types = exported.types[member]
        else { throw CaptureError(.internalFault, "the call has no sender or no handler") }
        let arguments: [BusValue]?
        do throws(CaptureError) {
            arguments = try unsafe MessageReader.values(of: message, .call)
        } catch  where error == BusErrors.tooMuch {
            // Takes its turn like any other, so that it is told of with its sender's name.
            arguments = nil
        }
        let call = BusCall(
            sender: sender,
            path: exported.object.path,
            interface: exported.implementation.interface.name,
            member: member,
            arguments: arguments ?? []
        )
        let refusing: BusHandler = { _ throws(CaptureError) in throw BusErrors.tooMuch }
        let chosen = arguments == nil ? refusing : handler
        try unsafe wait(message, WaitingCall(token: token(), call: call, handler: chosen, types: types))
    }

    /// Has a call wait for its turn.
    func wait(_ message: OpaquePointer, _ waiting: WaitingCall) throws(CaptureError) {
        let sender = waiting.call.sender
        guard senders[sender, default: []].count < BusCore.mostWaitingCalls else {
            overflown[sender] = waiting.call
            throw BusCore.overflow
        }
        unsafe incoming[waiting.token] = unsafe sd_bus_message_ref(message)
        senders[sender, default: []].append(waiting)
        if senders[sender]?.count == 1 { start(waiting) }
    }

    /// Runs a call's handler. The first entry of a sender's queue is the one that runs.
    private func start(_ waiting: WaitingCall) {
        let loop = loop
        let (call, handler, types, isReading) = (waiting.call, waiting.handler, waiting.types, waiting.reading != nil)
        let failureHandler = failureHandler
        Task {
            let result: Result<[BusValue], CaptureError>
            do throws(CaptureError) {
                let values = try await handler(call)
                if !isReading { try types.check(values, of: "the answer to \(call.member)") }
                result = .success(values)
            } catch {
                await failureHandler?(call, error)
                result = .failure(error)
            }
            loop.post { $0.answer(waiting, result) }
        }
    }

    private func answer(_ waiting: WaitingCall, _ result: Result<[BusValue], CaptureError>) {
        let (token, sender) = (waiting.token, waiting.call.sender)
        if let message = unsafe incoming.removeValue(forKey: token) {
            unsafe reply(to: message, waiting.types, result.flatMap { values in answer(waiting.reading, values) })
            unsafe sd_bus_message_unref(message)
        }
        // Told once for all that came since the last answer, when who sends them is known by that.
        if let call = overflown.removeValue(forKey: sender), let failureHandler {
            Task { await failureHandler(call, BusCore.overflow) }
        }
        guard senders[sender]?.first?.token == token else { return }
        senders[sender]?.removeFirst()
        if let next = senders[sender]?.first { start(next) } else { senders[sender] = nil }
    }

    /// An answer that cannot be sent means that the connection is lost, which `process` finds out.
    func reply(to call: OpaquePointer, _ types: [BusType], _ result: Result<[BusValue], CaptureError>) {
        var failure: CaptureError
        do throws(CaptureError) {
            let values = try result.get()
            var reply: OpaquePointer?
            let code = unsafe sd_bus_message_new_method_return(call, &reply)
            guard code >= 0, let reply = unsafe reply else { throw BusErrors.failure(code, "make an answer") }
            defer { unsafe sd_bus_message_unref(reply) }
            try unsafe MessageWriter(message: reply).append(values, types: types)
            unsafe sd_bus_send(bus, reply, nil)
            return
        } catch {
            failure = error
        }
        if failure.message.utf8.contains(0) { failure.message = "the fault cannot be told" }
        unsafe BusErrors.name(of: failure).withCString { name in
            unsafe failure.message.withCString { text in
                var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                unsafe sd_bus_reply_method_error(call, &error)
            }
        }
    }
}
