import CaptureAgent
import CaptureKit

/// Whether the desktop of this session can show questions.
struct DesktopChecks {
    /// Finds the desktop's dialogs.
    var find: () async throws(CaptureError) -> Void = { () throws(CaptureError) in
        _ = try await DesktopPrompt.connect { _ in }
    }
    var variable: (String) -> String? = Environment.value

    /// Nothing is looked at without a display, as on a server or over ssh: there a terminal asks.
    func run() async -> [Finding] {
        guard ["WAYLAND_DISPLAY", "DISPLAY"].contains(where: { !(variable($0) ?? "").isEmpty }) else { return [] }
        do throws(CaptureError) {
            try await find()
            return [.fine("desktop", "the desktop can ask for consent")]
        } catch {
            return [
                .advice(
                    "desktop",
                    Printable.text(error.message, limit: 1000),
                    error.code == .nobodyToAsk
                        ? "sudo apt-get install xdg-desktop-portal-gtk; systemctl --user restart captured-agent"
                        : "systemctl --user status dbus"
                )
            ]
        }
    }
}
