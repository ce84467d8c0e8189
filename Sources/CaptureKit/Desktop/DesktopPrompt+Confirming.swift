import CaptureBus
import CaptureCore

extension DesktopPrompt {
    /// Shows what a program is about to do and waits for the button that confirms or refuses it. Cancelling the task takes
    /// the dialog off the screen.
    public func confirm(_ request: ConfirmRequest) async -> PromptAnswer {
        await inTurn { await self.show(request) }
    }

    private nonisolated func show(_ request: ConfirmRequest) async -> PromptAnswer {
        do throws(CaptureError) {
            guard let response = try await portal.show(DesktopPrompt.dialog(request)) else { return .withdrawn }
            switch response {
            case .granted: return .confirmed(request.action, true)
            case .denied: return .confirmed(request.action, false)
            case .closed: return .dismissed
            }
        } catch {
            failed(CaptureError(error.code, "the desktop does not show what is to be confirmed: \(error.message)"))
            return error.code == .unreachable ? .withdrawn : .dismissed
        }
    }

    /// What the desktop is to show. Who asks and how sure that is stand above what the program says about itself.
    static func dialog(_ request: ConfirmRequest) -> AccessDialog {
        let identity = PromptDialog(PromptRequest(cookie: "", program: "", tier: request.tier, services: []))
        let name = DesktopDialog.data(request.name.isEmpty ? request.program : request.name, limit: 60)
        let detail = DesktopDialog.data(request.detail, limit: 300)
        var lines = ["“\(name)” wants to \(request.verb)" + request.list { "“\(DesktopDialog.data($0, limit: $1))”" }]
        lines.append(request.outcome)
        lines.append("")
        if !detail.isEmpty { lines.append("What the identity rests on: \(detail)") }
        if request.processID != 0 { lines.append("Process: \(request.processID)") }
        return AccessDialog(
            title: "Let “\(name)” \(request.verb) \(request.things)\(request.place)?",
            subtitle: "Asked by \(DesktopDialog.data(request.program, limit: 200)). Identity ("
                + "\(DesktopDialog.data(request.tier, limit: 20))): \(identity.tierMeaning).",
            body: lines.joined(separator: "\n"),
            grantLabel: request.verb.prefix(1).uppercased() + request.verb.dropFirst(),
            denyLabel: "Don’t",
            icon: request.action == .save ? "document-save-symbolic" : "user-trash-symbolic"
        )
    }
}
