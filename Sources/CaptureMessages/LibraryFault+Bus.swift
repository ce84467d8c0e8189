import CaptureBus
package import CaptureCore

extension LibraryFault: BusRecord {
    /// What `Check` and `Repair` bring.
    package static let fields: [BusField<LibraryFault>] = [
        BusField("kind", \.kind), BusField("id", \.asset), BusField("name", \.name), BusField("message", \.message),
        BusField("outcome", \.outcome), BusField("left", \.isLeft),
    ]
}
