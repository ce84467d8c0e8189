import CaptureCore
import CaptureSystem

/// How a device thread follows the proof of life: it looks before it publishes, and stops its device while the proof is
/// missing.
///
/// Thread-bound to the device's thread.
extension StreamControl {
    /// How often a paused thread looks for a new proof, in milliseconds.
    private static let look: Int32 = 50
    /// A thread that notices a missing proof later than this was held up itself, in nanoseconds.
    private static let lateness: Int64 = 100_000_000
    /// The control side was held up as well, so it gets this many looks of 10 ms to catch up.
    private static let lateLooks = 25

    /// How many milliseconds the thread may wait for its device before it must look at the proof again.
    var wait: Int32 { Int32(clamping: max(proof.remaining() + 999_999, 0) / 1_000_000) }

    /// Whether the control side proves itself, so that the thread may go on.
    ///
    /// If the thread finds the proof missing long after it was due, the thread was held up itself, perhaps because the
    /// machine stood still. Then it waits a moment for the control side to catch up, and touches nothing meanwhile.
    func mayGoOn() throws(SystemError) -> Bool {
        let remaining = proof.remaining()
        if remaining > 0 { return true }
        if -remaining < Self.lateness { return false }
        for _ in 0..<Self.lateLooks {
            // `waitForProof` obeys the order.
            if try !Poll.wait(descriptor, timeout: 10).isEmpty { return false }
            if proof.remaining() > 0 { return true }
        }
        return false
    }

    /// Waits until the control side proves itself again, and obeys its orders meanwhile. Call it while the device
    /// stands still.
    ///
    /// - Returns: Whether the thread must stop.
    func waitForProof(_ sink: inout any MediaSink) throws(SystemError) -> Bool {
        while proof.remaining() <= 0 {
            if try !Poll.wait(descriptor, timeout: Self.look).isEmpty, obey(&sink) { return true }
        }
        return false
    }
}
