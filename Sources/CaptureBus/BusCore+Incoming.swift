import CLinux
import CSystemd
import CaptureCore
import CaptureSystem
import Logging

/// A call that arrived and has no answer yet.
struct WaitingCall {
    let token: UInt64
    let call: BusCall
    let handler: BusHandler
    let types: [BusType]
    /// The properties to read, set when the handler allows that; `nil` for a method call.
    var reading: BusReading?
}

/// Calls from their arrival to their answer.
extension BusCore {
    /// Takes in a call; the answer comes later.
    func receive(_ message: OpaquePointer, for exported: ExportedInterface) throws(CaptureError) {
        guard let member = unsafe text(sd_bus_message_get_member(message)),
            let sender = unsafe text(sd_bus_message_get_sender(message)),
            let handler = exported.implementation.handlers[member], let types = exported.types[member]
        else { throw CaptureError(.internalFault, "the call has no sender or no handler") }
        func call(_ arguments: [BusValue]) -> BusCall {
            BusCall(
                sender: sender,
                path: exported.object.path,
                interface: exported.implementation.interface.name,
                member: member,
                arguments: arguments
            )
        }
        let (arguments, size): ([BusValue], MessageReader.Limits)
        do throws(CaptureError) {
            (arguments, size) = try unsafe MessageReader.measured(
                message,
                .call.with(files: exported.files[member] ?? 0)
            )
        } catch  where error == BusErrors.tooMuch {
            // Refused before its turn, and not kept. The failure handler runs first, because the caller may leave once
            // it is answered.
            let token = token()
            unsafe incoming[token] = unsafe try standIn(for: message, of: sender)
            return tell(call([]), error) { core in
                guard let message = unsafe core.incoming.removeValue(forKey: token) else { return }
                unsafe core.reply(to: message, types, .failure(error))
                unsafe sd_bus_message_unref(message)
            }
        }
        let waiting = WaitingCall(token: token(), call: call(arguments), handler: handler, types: types)
        try unsafe wait(message, waiting, CallCost.of(size))
    }

    /// Refuses a call without looking at it, if its sender has no room for any.
    func refuseAtOnce(_ message: OpaquePointer) -> Bool {
        guard unsafe sd_bus_message_is_method_call(message, nil, nil) > 0,
            let sender = unsafe text(sd_bus_message_get_sender(message)),
            calls.isFull(for: sender)
        else { return false }
        unsafe reply(to: message, [], .failure(BusErrors.tooMany))
        if !telling.contains(sender) {
            let call = BusCall(
                sender: sender,
                path: unsafe text(sd_bus_message_get_path(message)) ?? "",
                interface: unsafe text(sd_bus_message_get_interface(message)) ?? "",
                member: unsafe text(sd_bus_message_get_member(message)) ?? "",
                arguments: []
            )
            tell(call, BusErrors.tooMany)
        }
        return true
    }

    /// Queues a call until its turn comes.
    func wait(_ message: OpaquePointer, _ waiting: WaitingCall, _ cost: Int) throws(CaptureError) {
        let sender = waiting.call.sender
        unsafe incoming[waiting.token] = unsafe try standIn(for: message, of: sender)
        let user = users[sender] ?? nil
        refuse(calls.add(.init(token: waiting.token, sender: sender, cost: cost, call: waiting), of: user))
        if user == nil, calls.isUnknown(sender) { askUser(of: sender) }
        startNext(of: sender)
    }

    /// A message to reply to in place of the call, so that the call need not be kept: no arguments, the same sender and
    /// serial.
    private func standIn(for message: OpaquePointer, of sender: String) throws(CaptureError) -> OpaquePointer {
        var cookie: UInt64 = 0
        var copy: OpaquePointer?
        var code = unsafe sd_bus_message_get_cookie(message, &cookie)
        if code >= 0 { code = unsafe sd_bus_message_new_method_call(bus, &copy, nil, "/", nil, "Call") }
        if code >= 0 { code = unsafe sd_bus_message_set_sender(copy, sender) }
        if code >= 0 {
            code = unsafe sd_bus_message_set_expect_reply(copy, sd_bus_message_get_expect_reply(message))
        }
        if code >= 0 { code = unsafe sd_bus_message_seal(copy, cookie, 0) }
        guard code >= 0, let copy = unsafe copy else {
            unsafe sd_bus_message_unref(copy)
            throw BusErrors.failure(code, "take in a call")
        }
        return unsafe copy
    }

    /// The most connections whose users are remembered, besides those with waiting calls.
    private static let mostUsers = 4096

    private func askUser(of sender: String) {
        guard users[sender] == nil else { return }
        if users.count >= Self.mostUsers { users = users.filter { !calls.isIdle($0.key) } }
        users.updateValue(nil, forKey: sender)
        ask("GetConnectionUnixUser", of: sender, timeout: .infinity) { [unowned self] answer in
            guard case .success(let values) = answer,
                let user = values.first?.integer(as: UInt32.self)
            else {
                // The connection is gone, so nobody waits for its calls.
                users[sender] = nil
                return drop(calls.abandon(sender))
            }
            users.updateValue(user, forKey: sender)
            refuse(calls.identify(sender, as: user))
        }
    }

    /// Begins a sender's next call, unless another call of it has the turn.
    private func startNext(of sender: String) {
        guard let next = calls.begin(sender)?.call else { return }
        let loop = loop
        let (token, call, handler, types) = (next.token, next.call, next.handler, next.types)
        let isReading = next.reading != nil
        let failureHandler = failureHandler
        log.debug("\(sender) calls \(call.interface).\(call.member) of \(call.path)")
        let turn = BusTurn {
            loop.post { core in
                core.calls.endTurn(sender, token)
                core.startNext(of: sender)
            }
        }
        Task {
            await BusTurn.$current.withValue(turn) {
                let result: Result<[BusValue], CaptureError>
                do throws(CaptureError) {
                    let values = try await handler(call)
                    if !isReading { try types.check(values, of: "the answer to \(call.member)") }
                    result = .success(values)
                } catch {
                    await failureHandler?(call, error)
                    result = .failure(error)
                }
                loop.post { $0.answer(next, result) }
            }
        }
    }

    private func answer(_ waiting: WaitingCall, _ result: Result<[BusValue], CaptureError>) {
        log.debug("\(waiting.call.sender) gets \(BusCore.words(result)) for \(waiting.call.member)")
        if let message = unsafe incoming.removeValue(forKey: waiting.token) {
            unsafe reply(to: message, waiting.types, result.flatMap { values in answer(waiting.reading, values) })
            unsafe sd_bus_message_unref(message)
        }
        calls.end(waiting.call.sender, waiting.token)
        startNext(of: waiting.call.sender)
    }

    /// Answers the calls for which there is no room.
    private func refuse(_ tickets: [CallQueues<WaitingCall>.Ticket]) {
        for ticket in tickets {
            if let message = unsafe incoming[ticket.token] {
                unsafe reply(to: message, [], .failure(BusErrors.tooMany))
            }
            tell(ticket.call.call, BusErrors.tooMany)
        }
        drop(tickets)
    }

    private func drop(_ tickets: [CallQueues<WaitingCall>.Ticket]) {
        for ticket in tickets {
            if let message = unsafe incoming.removeValue(forKey: ticket.token) { unsafe sd_bus_message_unref(message) }
        }
    }

    /// The most senders whose refused calls are being reported at a time.
    private static let mostTelling = 64

    /// Reports a call that was refused before its turn. Of each sender, only one is reported at a time.
    ///
    /// - Parameter answer: Called after the report, or at once if there is none.
    private func tell(
        _ call: BusCall,
        _ error: CaptureError,
        then answer: @escaping @Sendable (BusCore) -> Void = { _ in }
    ) {
        guard let failureHandler, telling.count < Self.mostTelling, telling.insert(call.sender).inserted else {
            return answer(self)
        }
        let loop = loop
        var told = call
        told.arguments = []
        Task { [told] in
            await failureHandler(told, error)
            loop.post { core in
                core.telling.remove(told.sender)
                answer(core)
            }
        }
    }

    /// If the answer cannot be sent, the connection is lost; `process` notices that.
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
        if failure.message.utf8.contains(0) { failure.message = "the error's text cannot be sent" }
        unsafe BusErrors.name(of: failure).withCString { name in
            unsafe failure.message.withCString { text in
                var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                unsafe sd_bus_reply_method_error(call, &error)
            }
        }
    }
}
