import CaptureBus
import CaptureCore
import CaptureKit

extension DesktopPrompt {
    /// Shows what a program is about to do and waits for the button that confirms or refuses it. Cancelling the task takes
    /// the dialog off the screen.
    public func confirm(_ request: ConfirmRequest) async -> PromptAnswer {
        await turns.take { await show(request) }
    }

    private func show(_ request: ConfirmRequest) async -> PromptAnswer {
        do throws(CaptureError) {
            guard let response = try await show({ DesktopPrompt.dialog(request, $0) }) else { return .withdrawn }
            switch response {
            case .granted: return .confirmed(request.action, true)
            case .denied: return .confirmed(request.action, false)
            case .closed: return .dismissed
            }
        } catch {
            failed(CaptureError(error.code, "the desktop cannot show the question to confirm: \(error.message)"))
            return error.code == .unreachable ? .withdrawn : .dismissed
        }
    }

    /// What the desktop is to show. Who asks and how sure that is stand above what the program says about itself.
    static func dialog(_ request: ConfirmRequest, _ details: DesktopDetails = .offered) -> AccessDialog {
        let shown: (String, Int) -> String = { DesktopDialog.data($0, limit: $1) }
        let name = request.question.title(shown)
        let lines = [
            "“\(name)” wants to \(request.verb)" + request.list { "“\(DesktopDialog.data($0, limit: $1))”" },
            request.outcome,
        ]
        return AccessDialog(
            title: "Let “\(name)” \(request.verb) \(request.things)\(request.place)?",
            subtitle: request.question.certainty(shown),
            body: (lines + details.lines(of: request.question)).joined(separator: "\n"),
            grantLabel: request.verb.prefix(1).uppercased() + request.verb.dropFirst(),
            denyLabel: "Don’t",
            icon: request.action == .save ? "document-save-symbolic" : "user-trash-symbolic",
            choices: details.choices
        )
    }
}
