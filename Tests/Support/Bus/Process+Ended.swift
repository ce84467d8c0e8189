public import Foundation

extension Process {
    /// Waits for its end on a thread of its own. On one of the few that all tests share, the test could keep the very daemon
    /// from running that the process waits for.
    public func ended() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.waitUntilExit()
                continuation.resume()
            }
        }
    }
}
