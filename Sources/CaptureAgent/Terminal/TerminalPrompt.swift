import CaptureSystem
import Glibc
import Synchronization
import CaptureKit

/// Asks a person on the controlling terminal: a ready-made answerer for `PromptAgent`.
///
/// Thread-safe. It shows one question at a time; the next waits its turn.
public struct TerminalPrompt: Sendable {
    private let turns = PromptTurns()

    /// A prompt on the terminal that the process was started on.
    public init() {}

    /// Whether the process has a terminal and is in its foreground.
    public static var isPossible: Bool {
        ControllingTerminal() != nil
    }

    /// Shows a request and waits for the keys that answer it.
    ///
    /// Shows the request for a moment (`PromptDialog.moment`) before it takes keys. Keys typed until then are discarded, so
    /// that nobody who was typing something else says yes by accident. Cancelling the task withdraws the question.
    ///
    /// - Returns: `dismissed` also when there is no terminal to ask on.
    public func ask(_ request: PromptRequest) async -> PromptAnswer {
        await show(PromptDialog(request, width: ControllingTerminal.width))
    }

    /// Shows a dialog when the ones before it are gone.
    func show(_ dialog: some KeyDialog) async -> PromptAnswer {
        await inTurn { terminal, wake in TerminalPrompt.converse(dialog, on: terminal, wake) }
    }

    /// Holds a conversation on its own thread when the ones before it are over.
    ///
    /// - Parameter converse: Must end soon after the signal is raised, which withdraws the question.
    func inTurn(
        _ converse: @escaping @Sendable (ControllingTerminal, EventSignal) -> PromptAnswer
    ) async -> PromptAnswer {
        await turns.take {
            guard let wake = try? EventSignal() else { return .dismissed }
            return await withTaskCancellationHandler {
                await TerminalPrompt.onThread {
                    guard let terminal = ControllingTerminal() else { return .dismissed }
                    return converse(terminal, wake)
                }
            } onCancel: {
                wake.raise()
            }
        }
    }

    /// Returns when no question is left on the terminal.
    public func settle() async {
        await turns.settle()
    }

    /// Runs a blocking conversation on its own thread.
    static func onThread(_ body: @escaping @Sendable () -> PromptAnswer) async -> PromptAnswer {
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

    /// Shows a dialog and takes its keys, on the calling thread.
    ///
    /// - Parameters:
    ///   - wake: Withdraws the question when it is raised.
    ///   - stand: Lets the moment pass before keys are taken; returns whether `wake` was raised meanwhile.
    static func converse(
        _ dialog: some KeyDialog,
        on terminal: ControllingTerminal,
        _ wake: EventSignal,
        stand: (EventSignal) throws -> Bool = TerminalPrompt.stand
    ) -> PromptAnswer {
        var dialog = dialog
        return answer(on: terminal) {
            try terminal.takeKeys()
            defer { terminal.restore() }
            try terminal.write(dialog.opening)
            if try stand(wake) { return nil }
            // Before the question, so that what is typed at sight of it counts. Who types on has not seen it yet.
            var hasEarlyKeys = false
            while try terminal.forgetTyped() {
                hasEarlyKeys = true
                if try stand(wake) { return nil }
            }
            try terminal.write(dialog.firstQuestion(hasEarlyKeys: hasEarlyKeys))
            while let keys = try terminal.read(until: wake) {
                for step in dialog.take(keys) {
                    switch step {
                    // The rest of what is pasted comes in pieces, and none of them is an answer.
                    case .ignored: try terminal.forgetPasted()
                    case .next(let text): try terminal.write(text)
                    case .done(let answer, let text):
                        try terminal.write(text)
                        return answer
                    }
                }
            }
            return nil
        }
    }

    /// What a conversation comes to, which returns `nil` when its question is withdrawn.
    static func answer(on terminal: ControllingTerminal, _ converse: () throws -> PromptAnswer?) -> PromptAnswer {
        do {
            if let answer = try converse() { return answer }
            try terminal.write(PromptDialog.withdrawal)
            return .withdrawn
        } catch {
            // The terminal went away: nobody has answered.
            return .dismissed
        }
    }

    /// Lets the moment pass, by the monotonic clock.
    static func stand(_ wake: EventSignal) throws -> Bool {
        let milliseconds = Int32(PromptDialog.moment / .milliseconds(1))
        return try !Poll.wait(wake.descriptor, timeout: milliseconds).isEmpty
    }
}
