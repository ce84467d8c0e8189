import CaptureAgent
import CaptureKit

extension TerminalViewfinder {
    /// The terminal as a viewfinder; `nil` if it shows no pictures.
    static func screen(_ choice: PictureOptions.Choice) -> TerminalViewfinder? {
        let way: TerminalScreen.Choice? =
            switch choice {
            // Moving pictures are too much for iTerm's files.
            case .none, .iterm: nil
            case .kitty: .kitty
            case .sixel: .sixel
            case .auto: .auto
            }
        guard let way, let screen = TerminalScreen(way, takesKeys: false, closed: {}) else { return nil }
        return TerminalViewfinder(screen.output) { line, standsStill in
            screen.tell(line, standsStill: standsStill)
        } close: {
            screen.close()
        }
    }
}

extension TerminalPrompt {
    /// Has a person pick or take something: a picker for `PromptAgent`.
    ///
    /// - Parameters:
    ///   - request: What is to be picked or taken.
    ///   - browser: What shows the library.
    ///   - pictures: How pictures are shown.
    func choosing(
        _ request: PickRequest,
        from browser: PickBrowser,
        pictures: PictureOptions.Choice
    ) -> PromptAgent.Picking {
        guard request.purpose == .take else {
            return picking(request, from: browser, pictures: PictureOptions.shown(pictures))
        }
        return { await take(request, on: browser.daemon) { .screen(pictures) } }
    }
}
