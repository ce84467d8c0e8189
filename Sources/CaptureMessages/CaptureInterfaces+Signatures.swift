package import CaptureBus
package import CaptureCore

extension CaptureInterfaces {
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The types of a method's or signal's arguments, as it is declared; those of the values for other interfaces.
    package static func signature(_ interface: String, _ member: String, of values: [BusValue]) -> String {
        let known = byName[interface]
        let declared =
            known?.method(member)?.input ?? known?.signals.first { $0.name == member }?.arguments
        return declared?.signature ?? values.map(\.typeSignature).joined()
    }
}

extension BusConnection {
    /// Sends a signal with the types that it is declared with.
    package func tell(
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue] = [],
        to destination: String? = nil
    ) throws(CaptureError) {
        let signature = CaptureInterfaces.signature(interface, member, of: arguments)
        try emit(path, interface, member, signature: signature, arguments, to: destination)
    }
}
