import CaptureAgent
import CaptureKit

/// Has a person at a desktop pick from the media library, in a window. Thread-safe; one window stands at a time, the next
/// waits its turn.
actor DesktopPicker {
    private let find: @Sendable () throws(CaptureError) -> String
    private let failed: @Sendable (CaptureError) -> Void
    private var turn: Task<PromptAnswer, Never>?

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
    nonisolated func begin(_ request: PickRequest, _ browser: PickBrowser) async throws(CaptureError)
        -> PromptAgent.Picking
    {
        do throws(CaptureError) {
            let process = try PickerProcess(try find())
            try await process.ready()
            let conversation = PickerConversation(request: request, browser: browser, process: process)
            return { await self.inTurn { await self.hold(conversation) } }
        } catch {
            if !Task.isCancelled { failed(error) }
            throw error
        }
    }

    private nonisolated func hold(_ conversation: PickerConversation) async -> PromptAnswer {
        do throws(CaptureError) {
            return try await conversation.run()
        } catch {
            if Task.isCancelled { return .withdrawn }
            failed(error)
            return .dismissed
        }
    }

    private func inTurn(_ converse: @escaping @Sendable () async -> PromptAnswer) async -> PromptAnswer {
        let before = turn
        let task = Task { () -> PromptAnswer in
            _ = await before?.value
            return await converse()
        }
        turn = task
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
