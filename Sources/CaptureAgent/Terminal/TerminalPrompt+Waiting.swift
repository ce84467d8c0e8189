import CaptureCore
import CaptureSystem
import Synchronization

/// What came of a call.
private final class Outcome<Value: Sendable>: Sendable {
    let value = Mutex<Result<Value, CaptureError>?>(nil)
}

extension TerminalPrompt {
    /// Waits for a call on the calling thread, no longer than the question stands.
    ///
    /// - Throws: What the call throws; `notPermitted` when the question was withdrawn.
    static func wait<Value: Sendable>(
        _ wake: EventSignal,
        _ call: @escaping @Sendable () async throws(CaptureError) -> Value
    ) throws(CaptureError) -> Value {
        let outcome = Outcome<Value>()
        do throws(SystemError) {
            let done = try EventSignal()
            let task = Task {
                do throws(CaptureError) {
                    let value = try await call()
                    outcome.value.withLock { $0 = .success(value) }
                } catch {
                    outcome.value.withLock { $0 = .failure(error) }
                }
                done.raise()
            }
            let (_, ended) = try Poll.wait(done.descriptor, wake.descriptor)
            if !ended.isEmpty { task.cancel() }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
        guard let result = outcome.value.withLock({ $0 }) else {
            throw CaptureError(.notPermitted, "the question was withdrawn")
        }
        return try result.get()
    }
}
