import CBus
import CSystemd
import CaptureCore
import Glibc

extension BusInterface {
    /// The interface as a table for sd-bus, to be freed by `cbus_vtable_free`. Its callbacks take an
    /// `ExportedInterface` as their user data.
    func makeTable() throws(CaptureError) -> OpaquePointer {
        guard let table = unsafe cbus_vtable_new(methods.count + properties.count + signals.count) else {
            throw BusErrors.failure(-ENOMEM, "make the table of \(name)")
        }
        var failure: Int32 = 0
        for method in methods where failure == 0 {
            let names = (method.input + method.output).names
            failure = unsafe cbus_vtable_method(
                table,
                method.name,
                method.input.signature,
                method.output.signature,
                names,
                names.count,
                { message, userdata, failure in
                    guard let message = unsafe message, let userdata = unsafe userdata else { return -EINVAL }
                    let exported = unsafe Unmanaged<ExportedInterface>.fromOpaque(userdata).takeUnretainedValue()
                    do throws(CaptureError) {
                        try unsafe exported.core.receive(message, for: exported)
                        return 1
                    } catch {
                        let isArgument = error.code == .invalidArgument
                        let name = isArgument ? BusErrors.invalidArguments : BusErrors.name(of: error)
                        return unsafe sd_bus_error_set(failure, name, error.message)
                    }
                }
            )
        }
        for property in properties where failure == 0 {
            failure = unsafe cbus_vtable_property(
                table,
                property.name,
                property.signature,
                { _, _, _, name, reply, userdata, failure in
                    guard let name = unsafe name, let reply = unsafe reply, let userdata = unsafe userdata else {
                        return -EINVAL
                    }
                    let exported = unsafe Unmanaged<ExportedInterface>.fromOpaque(userdata).takeUnretainedValue()
                    do throws(CaptureError) {
                        try unsafe exported.get(String(cString: name), into: reply)
                        return 1
                    } catch {
                        return unsafe sd_bus_error_set(failure, BusErrors.name(of: error), error.message)
                    }
                },
                property.emitsChange ? cbus_property_emits_change : cbus_property_constant
            )
        }
        for signal in signals where failure == 0 {
            let names = signal.arguments.names
            failure = unsafe cbus_vtable_signal(
                table,
                signal.name,
                signal.arguments.signature,
                names,
                names.count
            )
        }
        if failure < 0 {
            unsafe cbus_vtable_free(table)
            throw BusErrors.failure(failure, "make the table of \(name)")
        }
        return unsafe table
    }
}

extension [BusArgument] {
    /// The names as sd-bus wants them: one behind the other, each closed by a NUL.
    fileprivate var names: [CChar] {
        flatMap { $0.name.utf8.map { CChar(bitPattern: $0) } + [0] }
    }
}
