import CaptureBus
import CaptureCore

/// A request that takes a person or a long copy: a call began it, and a signal tells its outcome.
struct LongRequest: Sendable {
    /// Its number in the daemon.
    let number: UInt32
    let daemon: CaptureDaemon
    let hub: RequestHub
    let ending: Task<RequestHub.Outcome, Never>

    /// Waits for the outcome. A task that is cancelled meanwhile cancels the request, and waits for what comes of that.
    func outcome() async -> RequestHub.Outcome {
        await withTaskCancellationHandler {
            await ending.value
        } onCancel: {
            Task {
                // A daemon that cannot be told may never say what came of it.
                do throws(CaptureError) { try await cancel() } catch { hub.giveUp(number, error) }
            }
        }
    }

    /// The same for a request that has either a result or a fault.
    func result() async throws(CaptureError) -> [String: BusValue] {
        let outcome = await outcome()
        if let fault = outcome.fault { throw fault }
        return outcome.result
    }

    /// Cancels the request; does nothing to one that has ended.
    ///
    /// - Throws: `unreachable`.
    func cancel() async throws(CaptureError) {
        do throws(CaptureError) {
            try await daemon.call(CaptureNames.root, hub.kind.interface, hub.kind.cancel, [.uint32(number)])
        } catch  where [.invalidArgument, .wrongState].contains(error.code) {
            return
        }
    }
}
