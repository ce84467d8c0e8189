import CaptureCore
import CaptureSystem

/// What a device thread does about the proof of life: it looks before it publishes, and stops its device when there is
/// none.
///
/// Thread-bound to the device's thread.
extension StreamControl {
    /// How often a paused thread looks whether there is a proof again, in milliseconds.
    private static let look: Int32 = 50
    /// How late a thread may notice that a proof is missing before it was held up itself, in nanoseconds.
    private static let lateness: Int64 = 100_000_000
    /// How many looks of 10 ms the control side gets then: it was held up as well.
    private static let lateLooks = 25

    /// For how many milliseconds the thread may wait for its device before it has to look at the proof again.
    var wait: Int32 { Int32(clamping: max(proof.remaining() + 999_999, 0) / 1_000_000) }

    /// Whether the thread may go on: the control side proves itself.
    ///
    /// A thread that finds the proof missing long after it was due was held up, by a machine that stood still perhaps. It
    /// waits a moment for the control side to catch up, and touches nothing meanwhile.
    func mayGoOn() throws(SystemError) -> Bool {
        let remaining = proof.remaining()
        if remaining > 0 { return true }
        if -remaining < Self.lateness { return false }
        for _ in 0..<Self.lateLooks {
            // An order is obeyed by who pauses.
            if try !Poll.wait(descriptor, timeout: 10).isEmpty { return false }
            if proof.remaining() > 0 { return true }
        }
        return false
    }

    /// Waits until the control side proves itself again, and obeys it as far as it gives orders: for a thread whose
    /// device stands still.
    ///
    /// - Returns: Whether the thread is to stop.
    func waitForProof(_ sink: inout any MediaSink) throws(SystemError) -> Bool {
        while proof.remaining() <= 0 {
            if try !Poll.wait(descriptor, timeout: Self.look).isEmpty, obey(&sink) { return true }
        }
        return false
    }
}
