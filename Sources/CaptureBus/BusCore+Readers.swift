import CSystemd
import CaptureCore

extension BusCore {
    /// The most connections whose users are remembered.
    private static let mostReadingUsers = 1024

    /// Refuses whoever may not read. To be called while a property is handed out, which may also be for a signal of our
    /// own: then there is no message, and nobody to refuse.
    func admit(to readers: BusReaders) throws(CaptureError) {
        let bus = unsafe try connected()
        guard let message = unsafe sd_bus_get_current_message(bus),
            unsafe sd_bus_message_is_method_call(message, nil, nil) > 0
        else { return }
        guard let sender = unsafe sd_bus_message_get_sender(message).map({ unsafe String(cString: $0) }),
            let user = user(of: sender), readers.users.contains(user)
        else { throw readers.refusal }
    }

    /// The user of a connection, which cannot be forged; `nil` when the bus does not tell.
    ///
    /// sd-bus wants a property at once, so the bus thread waits for the bus's answer, the first time for each
    /// connection: a local daemon that answers from memory. Whoever it does not tell of in time is refused.
    private func user(of sender: String) -> UInt32? {
        if let known = readingUsers[sender] { return known }
        var call: OpaquePointer?
        defer { unsafe sd_bus_message_unref(call) }
        guard
            unsafe sd_bus_message_new_method_call(
                bus,
                &call,
                CaptureNames.bus,
                CaptureNames.busPath,
                CaptureNames.bus,
                "GetConnectionUnixUser"
            ) >= 0,
            unsafe sd_bus_message_append_basic(call, CChar(UInt8(ascii: "s")), sender) >= 0
        else { return nil }
        var answer: OpaquePointer?
        defer { unsafe sd_bus_message_unref(answer) }
        var user = UInt32.max
        guard unsafe sd_bus_call(bus, call, 2_000_000, nil, &answer) >= 0,
            unsafe sd_bus_message_read_basic(answer, CChar(UInt8(ascii: "u")), &user) > 0, user != .max
        else { return nil }
        if readingUsers.count >= Self.mostReadingUsers { readingUsers = [:] }
        readingUsers[sender] = user
        return user
    }
}
