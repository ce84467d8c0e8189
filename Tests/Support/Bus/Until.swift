import CaptureCore

/// Waits until a condition holds.
///
/// - Throws: `.timedOut` after five minutes, and what the condition throws.
public func until(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(300)
    while try await !condition() {
        guard ContinuousClock.now < end else { throw CaptureError(.timedOut, "it did not happen in five minutes") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
