import CaptureCore
import CaptureSystem
import CLinux

/// Waits for absolute deadlines and for orders, whichever comes first.
///
/// Thread-bound; a wait makes two system calls and allocates nothing. Deadlines are absolute, so lateness never adds up.
struct SyntheticPace: ~Copyable {
    /// What ended a wait.
    enum Outcome {
        case due
        case ordered
    }

    private let timer: Descriptor
    private let orders: Int32

    /// - Parameter orders: A descriptor that is readable while there is an order.
    init(orders: Int32) throws(SystemError) {
        timer = Descriptor(owning: try SystemError.check("timerfd_create") { clinux_timerfd() })
        self.orders = orders
    }

    /// Why a device that keeps pace stops: its own reason, or that the system does not let it.
    static func fault(_ error: any Error) -> CaptureError {
        switch error {
        case let error as CaptureError: error
        case let error as SystemError: CaptureError(.internalFault, error)
        default: CaptureError(.internalFault, "\(error)")
        }
    }

    /// Waits until a moment of CLOCK_MONOTONIC; returns at once when it has passed.
    func wait(until moment: Timestamp) throws(SystemError) -> Outcome {
        // Arming anew takes the last expiry back, so the timer never has to be read. 0 would disarm it.
        try SystemError.check("timerfd_settime") {
            clinux_timerfd_arm(timer.descriptor, max(moment.nanoseconds, 1))
        }
        let (_, ordered) = try Poll.wait(timer.descriptor, orders)
        return ordered.isEmpty ? .due : .ordered
    }
}
