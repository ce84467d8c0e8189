import CaptureCore
import CaptureSystem
import Synchronization

/// Stops the stream while its input has no signal: drivers deliver noise then, or nothing.
extension CaptureLoop {
    /// How often an input without a signal is looked at, in milliseconds.
    private static let look: Int32 = 100

    /// Looks at the input. Without a signal the stream is stopped until it returns.
    ///
    /// - Parameter isAnnounced: Whether the driver says that it has an event.
    /// - Returns: Whether the thread must stop.
    /// - Throws: If another signal comes, or the driver does not stop or start again.
    func followSignal(isAnnounced: Bool = false) throws(SystemError) -> Bool {
        let isNews = node.takeEvents()
        guard node.hasNoSignal else {
            try node.checkSignal()
            if isAnnounced, !isNews { try countFruitless() }
            return false
        }
        try halt(.noSignal)
        counters.hasNoSignal.store(true, ordering: .relaxed)
        defer { counters.hasNoSignal.store(false, ordering: .relaxed) }
        repeat {
            if try !Poll.wait(control.descriptor, timeout: Self.look).isEmpty, control.obey(&sink) { return true }
        } while node.hasNoSignal
        node.takeEvents()
        try node.checkSignal()
        if try !control.mayGoOn(), try control.waitForProof(&sink) { return true }
        try goOn()
        return false
    }
}
