import CSystemd
import CaptureCore
import Glibc

@testable import CaptureBus

/// Messages as they come over the wire: a call with a signature and a body of any bytes, behind a header that is right,
/// since what is wrong there never leaves libsystemd.
enum FuzzMessage {
    /// The bytes are the order of the numbers' bytes, the signature up to a zero byte, and the body.
    @Sendable static func message(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let order = input.one(of: [UInt8(ascii: "l"), UInt8(ascii: "B")])
        let signature = Array(input.text().utf8.prefix(255))
        let body = input.remainder()
        var wire = Wire(isLittle: order == UInt8(ascii: "l"))
        wire.bytes = [order, 1, 0, 1]
        wire.number(UInt32(body.count))
        wire.number(1)
        wire.fields([(1, "o", Array("/a".utf8)), (3, "s", Array("A".utf8)), (8, "g", signature)])
        unsafe receive(wire.bytes + body) { message in
            guard let values = unsafe try? MessageReader.values(of: message, .call) else { return }
            let types = values.map(\.typeSignature).joined()
            FuzzTarget.hold(
                types == String(decoding: signature, as: UTF8.self),
                "values of the types that were said: \(types)"
            )
            unsafe same(values, types, as: message)
        }
    }

    /// What was read can be sent, and is read as the same.
    private static func same(_ values: [BusValue], _ signature: String, as received: OpaquePointer) {
        guard let types = try? BusType.parse(signature) else {
            FuzzTarget.hold(signature.isEmpty, "a signature that libsystemd takes is one: \(signature)")
            return
        }
        var made: OpaquePointer?
        let bus = unsafe sd_bus_message_get_bus(received)
        guard unsafe sd_bus_message_new_signal(bus, &made, "/a", "a.b", "A") >= 0, let made = unsafe made else {
            return FuzzTarget.hold(false, "there is memory for a message")
        }
        defer { unsafe sd_bus_message_unref(made) }
        do throws(CaptureError) {
            try unsafe MessageWriter(message: made).append(values, types: types)
            FuzzTarget.hold(unsafe sd_bus_message_seal(made, 1, 0) >= 0, "a message that was written is whole")
            let again = try unsafe MessageReader.values(of: made, .call)
            // By what they look like: a number that is not one is not its own equal.
            FuzzTarget.hold("\(again)" == "\(values)", "what was read is sent as it is")
        } catch {
            FuzzTarget.hold(false, "what was read can be sent: \(error.message)")
        }
    }

    /// Hands bytes to libsystemd as a peer would, after the handshake.
    private static func receive(_ bytes: [UInt8], _ take: (OpaquePointer) -> Void) {
        var ends: [Int32] = [-1, -1]
        let made = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        FuzzTarget.hold(made == 0, "there is a socket")
        var bus: OpaquePointer?
        FuzzTarget.hold(unsafe sd_bus_new(&bus) >= 0, "there is memory for a bus")
        // The bus closes its end with itself.
        defer {
            unsafe sd_bus_close_unref(bus)
            close(ends[1])
        }
        FuzzTarget.hold(unsafe sd_bus_set_fd(bus, ends[0], ends[0]) >= 0, "the bus has a socket")
        FuzzTarget.hold(unsafe sd_bus_negotiate_fds(bus, 0) >= 0, "descriptors are not offered")
        let handshake = Array("DATA\r\nOK 0123456789abcdef0123456789abcdef\r\n".utf8)
        FuzzTarget.hold(unsafe sd_bus_start(bus) >= 0, "the bus has begun")
        // The other end of a bus says no more before the handshake is over.
        give(handshake, to: ends[1])
        while unsafe sd_bus_is_ready(bus) == 0 {
            FuzzTarget.hold(unsafe sd_bus_process(bus, nil) >= 0, "the handshake comes to its end")
        }
        give(bytes, to: ends[1])
        // Ends when there is nothing more to read; what is damaged closes the bus.
        var idle = 0
        while idle < 3 {
            var message: OpaquePointer?
            let code = unsafe sd_bus_process(bus, &message)
            if code < 0 { return }
            idle = code == 0 ? idle + 1 : 0
            guard let message = unsafe message else { continue }
            defer { unsafe sd_bus_message_unref(message) }
            if unsafe sd_bus_message_is_method_call(message, nil, "A") > 0 { return unsafe take(message) }
        }
    }

    private static func give(_ bytes: [UInt8], to end: Int32) {
        let sent = unsafe bytes.withUnsafeBytes { all in
            unsafe send(end, all.baseAddress, all.count, Int32(MSG_NOSIGNAL))
        }
        FuzzTarget.hold(sent == bytes.count, "the socket takes it")
    }

    /// A message while it is put together.
    private struct Wire {
        let isLittle: Bool
        var bytes: [UInt8] = []

        mutating func number(_ number: UInt32) {
            let little = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            bytes += isLittle ? little : little.reversed()
        }

        /// Fields of the header, each with its code and the type of its value; the body begins behind them.
        mutating func fields(_ fields: [(UInt8, Character, [UInt8])]) {
            let place = bytes.count
            number(0)
            let start = bytes.count
            for (code, type, text) in fields {
                align()
                bytes += [code, 1, type.asciiValue ?? 0, 0]
                if type == "g" { bytes.append(UInt8(text.count)) } else { number(UInt32(text.count)) }
                bytes += text + [0]
            }
            var length = Wire(isLittle: isLittle)
            length.number(UInt32(bytes.count - start))
            bytes.replaceSubrange(place..<start, with: length.bytes)
            align()
        }

        private mutating func align() {
            while bytes.count % 8 != 0 { bytes.append(0) }
        }
    }
}
