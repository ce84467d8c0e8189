/// Conversations with a person, one after the other: the next waits its turn.
package actor PromptTurns {
    private var last: Task<PromptAnswer, Never>?

    /// None yet.
    package init() {}

    /// Holds a conversation when those before it are over. Cancelling the task cancels the conversation.
    package func take(_ converse: @escaping @Sendable () async -> PromptAnswer) async -> PromptAnswer {
        let before = last
        let task = Task { () -> PromptAnswer in
            _ = await before?.value
            return await converse()
        }
        last = task
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Returns when the last one is over.
    package func settle() async {
        _ = await last?.value
    }
}
