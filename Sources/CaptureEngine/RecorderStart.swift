import CaptureCore

/// A recorder that starts while a use is recorded in the history, which takes as long. Bound to the engine's actor.
final class RecorderStart {
    private enum State {
        case starting(Task<any IdleRecorder, any Error>)
        /// It has its job, or is dismissed.
        case over
    }

    private var state: State

    init(_ recorders: any RecorderLauncher) {
        state = .starting(Task { try await recorders.start() })
    }

    /// Waits until it is started. From then on it is the caller's to end.
    nonisolated(nonsending) func recorder() async throws(CaptureError) -> any IdleRecorder {
        guard case .starting(let task) = state else {
            throw CaptureError(.internalFault, "a recorder is asked for twice")
        }
        state = .over
        do {
            return try await task.value
        } catch {
            throw error as? CaptureError ?? CaptureError(.internalFault, "a recorder does not start: \(error)")
        }
    }

    /// Ends it unless it was taken.
    func dismiss() {
        guard case .starting(let task) = state else { return }
        state = .over
        // If it does not start, there is nothing to end.
        Task { (try? await task.value)?.dismiss() }
    }
}
