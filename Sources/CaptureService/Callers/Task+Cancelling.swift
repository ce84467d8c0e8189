import CaptureCore

extension Task where Success == Never, Failure == Never {
    /// Does something that hears at once when its task is cancelled: `withTaskCancellationHandler` for errors of one type.
    ///
    /// - Parameter onCancel: Called on any thread.
    static func run<Value: Sendable>(
        _ work: @Sendable () async throws(CaptureError) -> Value,
        onCancel: @Sendable () -> Void
    ) async throws(CaptureError) -> Value {
        let result = await withTaskCancellationHandler {
            await Result.of(work)
        } onCancel: {
            onCancel()
        }
        return try result.get()
    }
}
