import CaptureSystem
import Glibc
import Synchronization

/// Asks a person on the controlling terminal: a ready-made answerer for `PromptAgent`.
///
/// Thread-safe. One question stands at a time; the next waits its turn.
public actor TerminalPrompt {
    private var turn: Task<PromptAnswer, Never>?

    /// A prompt on the terminal that the process was started on.
    public init() {}

    /// Whether the process has a terminal and stands in its foreground.
    public nonisolated static var isPossible: Bool {
        ControllingTerminal() != nil
    }

    /// Shows a request and waits for the keys that answer it.
    ///
    /// Keys that were typed before the question was on the screen are thrown away. Cancelling the task withdraws the
    /// question.
    ///
    /// - Returns: `dismissed` also when there is no terminal to ask on.
    public func ask(_ request: PromptRequest) async -> PromptAnswer {
        let before = turn
        let wake: EventSignal
        do {
            wake = try EventSignal()
        } catch {
            return .dismissed
        }
        let task = Task<PromptAnswer, Never> {
            _ = await before?.value
            return await TerminalPrompt.onThread { TerminalPrompt.converse(PromptDialog(request), wake) }
        }
        turn = task
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            wake.raise()
        }
    }

    /// Returns when no question stands on the terminal any more.
    public func settle() async {
        _ = await turn?.value
    }

    /// Runs a conversation that blocks on a thread of its own.
    private static func onThread(_ body: @escaping @Sendable () -> PromptAnswer) async -> PromptAnswer {
        let thread = Mutex<WorkerThread?>(nil)
        let answer = await withCheckedContinuation { continuation in
            do {
                let started = try WorkerThread(name: "prompt") { continuation.resume(returning: body()) }
                thread.withLock { $0 = started }
            } catch {
                continuation.resume(returning: .dismissed)
            }
        }
        // It has said its last word: this waits for its return alone.
        thread.withLock { $0 }?.join()
        return answer
    }

    private static func converse(_ dialog: PromptDialog, _ wake: EventSignal) -> PromptAnswer {
        guard let terminal = ControllingTerminal() else { return .dismissed }
        var dialog = dialog
        do {
            try terminal.takeKeys()
            defer { terminal.restore() }
            try terminal.write(dialog.opening)
            terminal.forgetTyped()
            while let keys = try terminal.read(until: wake) {
                for step in dialog.take(keys) {
                    switch step {
                    case .ignored: continue
                    case .next(let text): try terminal.write(text)
                    case .done(let answer, let text):
                        try terminal.write(text)
                        return answer
                    }
                }
            }
            try terminal.write(PromptDialog.withdrawal)
            return .withdrawn
        } catch {
            // The terminal went away: nobody has answered.
            return .dismissed
        }
    }
}
