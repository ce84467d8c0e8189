import CSystemd
import CaptureCore

/// A reading of properties that waits for its turn.
struct BusReading: Sendable {
    let object: BusObject
    let readers: BusReaders
    /// What is read: of `GetAll` an interface, empty for all; of `Get` a property, too.
    let names: [String]

    var types: [BusType] {
        get throws(CaptureError) { try BusType.parse(names.count == 2 ? "v" : "a{sv}") }
    }

    /// The properties as they are now.
    ///
    /// - Throws: `.invalidArgument` for what the object does not have.
    func values() throws(CaptureError) -> [BusValue] {
        let all = object.properties
        if names.count == 2 {
            guard let value = all[names[0]]?[names[1]] else {
                throw CaptureError(.invalidArgument, "\(object.path) has no property \(names[1]) of \(names[0])")
            }
            return [.variant(value)]
        }
        if names[0].isEmpty { return [.properties(all.values.reduce(into: [:]) { $0.merge($1) { $1 } })] }
        guard let values = all[names[0]] else {
            throw CaptureError(.invalidArgument, "\(object.path) has no interface \(names[0])")
        }
        return [.properties(values)]
    }
}

/// Properties that not everybody may read. sd-bus wants a property at once, and who reads takes a while to tell: such calls
/// are taken in before it looks for their object, and wait like those of methods.
extension BusCore {
    /// Takes in a call that reads properties of an object with readers; every other one goes its usual way.
    func takeReading(_ message: OpaquePointer) -> Bool {
        guard let count = unsafe numberOfNames(readBy: message),
            let path = unsafe text(sd_bus_message_get_path(message)),
            let object = exports[path]?.first?.object, let readers = object.readers,
            let (names, cost) = unsafe names(count, readBy: message)
        else { return false }
        let reading = BusReading(object: object, readers: readers, names: names)
        do throws(CaptureError) {
            try unsafe wait(message, reading, cost)
        } catch {
            unsafe reply(to: message, [], .failure(error))
        }
        return true
    }

    /// How many names tell what is read: an interface and a property by `Get`, an interface by `GetAll`; `nil` for any other
    /// call.
    private func numberOfNames(readBy message: OpaquePointer) -> Int? {
        let properties = CaptureNames.properties
        if unsafe sd_bus_message_is_method_call(message, properties, "Get") > 0 { return 2 }
        return unsafe sd_bus_message_is_method_call(message, properties, "GetAll") > 0 ? 1 : nil
    }

    /// The property names in a call, and the call's cost; `nil` for other arguments, which sd-bus refuses.
    private func names(_ count: Int, readBy message: OpaquePointer) -> (names: [String], cost: Int)? {
        let read = unsafe try? MessageReader.measured(message, .call)
        let names = (read?.values ?? []).compactMap(\.text)
        guard let read, names.count == count, read.values.count == count else {
            unsafe sd_bus_message_rewind(message, 1)
            return nil
        }
        return (names, CallCost.of(read.size))
    }

    private func wait(_ message: OpaquePointer, _ reading: BusReading, _ cost: Int) throws(CaptureError) {
        guard let member = unsafe text(sd_bus_message_get_member(message)),
            let sender = unsafe text(sd_bus_message_get_sender(message))
        else { throw CaptureError(.internalFault, "the call has no sender") }
        let call = BusCall(
            sender: sender,
            path: reading.object.path,
            interface: CaptureNames.properties,
            member: member,
            arguments: reading.names.map { .string($0) }
        )
        let readers = reading.readers
        let handler: BusHandler = { call throws(CaptureError) in
            guard try await readers.admit(call.sender) else { throw readers.refusal }
            return []
        }
        let types = try reading.types
        let waiting = WaitingCall(token: token(), call: call, handler: handler, types: types, reading: reading)
        try unsafe wait(message, waiting, cost)
    }

    /// Properties are looked up on the bus thread, where they are set and announced: what is answered after a change was
    /// announced has that change.
    func answer(_ reading: BusReading?, _ values: [BusValue]) -> Result<[BusValue], CaptureError> {
        guard let reading else { return .success(values) }
        // Nothing is read of what has left the bus meanwhile.
        guard exports[reading.object.path]?.first?.object === reading.object else {
            return .failure(reading.readers.refusal)
        }
        return Result { () throws(CaptureError) in try reading.values() }
    }

    /// Whether sd-bus looks for a property because of a call: of an object with readers it gets those for our own signals
    /// alone.
    func isBeingRead() throws(CaptureError) -> Bool {
        guard let message = unsafe sd_bus_get_current_message(try connected()) else { return false }
        return unsafe sd_bus_message_is_method_call(message, nil, nil) > 0
    }
}
