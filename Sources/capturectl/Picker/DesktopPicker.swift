import CaptureAgent
import CaptureKit

/// Has a person at a desktop pick from the media library or take something new, in a window. Thread-safe; one window
/// stands at a time, the next waits its turn.
struct DesktopPicker: Sendable {
    private let find: @Sendable () throws(CaptureError) -> String
    private let failed: @Sendable (CaptureError) -> Void
    private let turns = PromptTurns()

    /// - Parameters:
    ///   - find: Where the program lies that shows the window.
    ///   - failed: Told what keeps a window from the screen, or takes it away.
    init(
        find: @escaping @Sendable () throws(CaptureError) -> String = { () throws(CaptureError) in
            try PickerProgram.find()
        },
        failed: @escaping @Sendable (CaptureError) -> Void
    ) {
        self.find = find
        self.failed = failed
    }

    /// Gets ready to ask: a picker for `PromptAgent`.
    ///
    /// - Throws: `nobodyToAsk` when no window can be shown here.
    func begin(_ request: PickRequest, _ browser: PickBrowser) async throws(CaptureError) -> PromptAgent.Picking {
        do throws(CaptureError) {
            let process = try PickerProcess(try find())
            try await process.ready()
            if request.purpose == .take {
                let conversation = TakingConversation(request, on: browser.daemon, process)
                return { await hold(process, conversation.run) }
            }
            let conversation = PickerConversation(request: request, browser: browser, process: process)
            return { await hold(process, conversation.run) }
        } catch {
            if !Task.isCancelled { failed(error) }
            throw error
        }
    }

    /// Holds a conversation in its turn. Cancelling the task ends the window's program at once: one that takes nothing more
    /// would keep the conversation from its end, and one that waits would stay for nothing.
    private func hold(
        _ process: PickerProcess,
        _ converse: @escaping @Sendable () async throws(CaptureError) -> PromptAnswer
    ) async -> PromptAnswer {
        await withTaskCancellationHandler {
            await turns.take {
                do throws(CaptureError) {
                    return try await converse()
                } catch {
                    if Task.isCancelled { return .withdrawn }
                    // That the daemon is away is not this desktop's fault, and does not end the agent.
                    failed(error.code == .unreachable ? CaptureError(.inputOutput, error.message) : error)
                    return .dismissed
                }
            }
        } onCancel: {
            process.end()
        }
    }
}
