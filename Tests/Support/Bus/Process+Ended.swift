public import Foundation

extension Process {
    /// Waits for its end on a thread of its own: those that tests share are for who answers, maybe to this very process.
    public func ended() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.waitUntilExit()
                continuation.resume()
            }
        }
    }
}
