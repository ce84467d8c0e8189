import CSystemd
import CaptureCore
import Glibc

/// A method that may be answered on the bus thread, with what is compared of a call.
struct QuickMethod {
    let path: String
    let interface: String
    let member: String
    let signature: String
    let types: [BusType]
    let handler: BusQuickHandler
}

/// Calls whose answer is at hand: they take neither sd-bus's way through its objects nor a task, since what they cost is to
/// be seen beside a bare Ping.
extension BusCore {
    /// Looks at calls to an object before sd-bus does, where some are answered here.
    func answerQuickly(_ object: BusObject) throws(CaptureError) {
        for implementation in object.implementations {
            for method in implementation.interface.methods {
                guard let handler = implementation.quick[method.name] else { continue }
                let quick = QuickMethod(
                    path: object.path,
                    interface: implementation.interface.name,
                    member: method.name,
                    signature: method.input.signature,
                    types: try BusType.parse(method.output.signature),
                    handler: handler
                )
                quickMethods.append(quick)
            }
        }
        guard !quickMethods.isEmpty || object.readers != nil, unsafe callFilter == nil else { return }
        let code = unsafe sd_bus_add_filter(
            try connected(),
            &callFilter,
            { message, core, _ in
                guard let message = unsafe message, let core = unsafe core else { return 0 }
                let own = unsafe Unmanaged<BusCore>.fromOpaque(core).takeUnretainedValue()
                return unsafe own.refuseAtOnce(message) || own.take(message) || own.takeReading(message) ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        if code < 0 { throw BusErrors.failure(code, "look at calls to \(object.path)") }
    }

    /// Answers a call that is one of those; what has no answer at hand goes its usual way.
    private func take(_ message: OpaquePointer) -> Bool {
        guard let quick = quickMethods.first(where: { unsafe $0.isCalled(by: message) }),
            let sender = unsafe text(sd_bus_message_get_sender(message)),
            // Not before earlier calls of the same sender.
            calls.isIdle(sender),
            let arguments = unsafe try? MessageReader.values(of: message, .call),
            let values = quick.handler(sender, arguments)
        else {
            unsafe sd_bus_message_rewind(message, 1)
            return false
        }
        unsafe reply(to: message, quick.types, .success(values))
        return true
    }
}

extension QuickMethod {
    fileprivate func isCalled(by message: OpaquePointer) -> Bool {
        // Anything but a call has no member of these or another type; the member tells most apart.
        unsafe sd_bus_message_is_method_call(message, interface, member) > 0
            && strcmp(sd_bus_message_get_path(message), path) == 0
            && strcmp(sd_bus_message_get_signature(message, 1), signature) == 0
    }
}
