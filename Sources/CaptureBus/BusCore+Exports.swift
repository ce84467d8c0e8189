import CBus
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
    /// How many descriptors each method takes that takes any.
    let files: [String: Int]
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
        let counts = interface.methods.map { ($0.name, $0.input.signature.count { $0 == "h" }) }
        files = Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 })
        unsafe table = try interface.makeTable()
        let bus = unsafe try core.connected()
        let code = unsafe sd_bus_add_object_vtable(
            bus,
            &slot,
            object.path,
            interface.name,
            cbus_vtable_entries(table),
            Unmanaged.passUnretained(self).toOpaque()
        )
        if code < 0 { throw BusErrors.failure(code, "export \(interface.name) at \(object.path)") }
    }

    deinit {
        unsafe sd_bus_slot_unref(slot)
        unsafe cbus_vtable_free(table)
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

extension BusCore {
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
        to destinations: [String]?
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
        guard hasRoomForSignal() else { return }
        var texts = unsafe names.map { unsafe strdup($0) }
        defer { while let text = unsafe texts.popLast() { unsafe free(text) } }
        unsafe texts.append(nil)
        let code = unsafe texts.withUnsafeMutableBufferPointer { texts in
            unsafe sd_bus_emit_properties_changed_strv(bus, path, interface, texts.baseAddress)
        }
        if code < 0 { throw BusErrors.failure(code, "announce properties of \(path)", as: .unreachable) }
    }
}
