import Authorization
import CaptureBus
import CaptureCore
import Synchronization

/// The object of manager and authorization, which exists only when both do.
final class RootObject: Sendable {
    let value = Mutex<BusObject?>(nil)

    /// Sets the property of switches, and announces it; does nothing before the object is there.
    func show(_ switches: Switches, on bus: BusConnection) throws(CaptureError) {
        guard let object = value.withLock({ $0 }) else { return }
        try bus.update(object, CaptureNames.authorization, AuthorizationObject.properties(of: switches))
    }
}
