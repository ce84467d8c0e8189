import CaptureCore
import CaptureSystem
import Synchronization

extension TerminalPrompt {
    /// Waits for a call on the calling thread, no longer than the question stands.
    ///
    /// - Throws: What the call throws; `notPermitted` when the question was withdrawn.
    static func wait<Value: Sendable>(
        _ wake: EventSignal,
        _ call: @escaping @Sendable () async throws(CaptureError) -> Value
    ) throws(CaptureError) -> Value {
        let outcome = Mutex<Result<Value, CaptureError>?>(nil)
        do throws(SystemError) {
            let done = try EventSignal()
            let task = Task {
                let result = await Result.of(call)
                outcome.withLock { $0 = result }
                done.raise()
            }
            let (_, ended) = try Poll.wait(done.descriptor, wake.descriptor)
            if !ended.isEmpty { task.cancel() }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
        guard let result = outcome.withLock({ $0 }) else {
            throw CaptureError(.notPermitted, "the question was withdrawn")
        }
        return try result.get()
    }
}
