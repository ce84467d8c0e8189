public import Foundation

extension Process {
    /// Waits for the end on a thread of its own. All tests share a few threads; waiting on one of them could keep the
    /// very daemon from running that the process needs.
    public func ended() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.waitUntilExit()
                continuation.resume()
            }
        }
    }
}
