import CaptureCore
import CaptureSystem
import Glibc
import Synchronization
import CaptureKit

/// How pictures are shown on a terminal. Thread-safe.
public struct TerminalPictures: Sendable {
    let isPossible: @Sendable () -> Bool
    let draw: @Sendable (_ jpeg: [UInt8], _ rows: Int) -> String?

    /// A way of showing pictures. Both closures are called while nobody else uses the terminal, and may ask it.
    ///
    /// - Parameters:
    ///   - isPossible: Whether the terminal shows any.
    ///   - draw: Makes of a JPEG what shows it, without a line's end, in so many rows of text; `nil` for what cannot be
    ///     shown.
    public init(
        isPossible: @escaping @Sendable () -> Bool,
        draw: @escaping @Sendable (_ jpeg: [UInt8], _ rows: Int) -> String?
    ) {
        self.isPossible = isPossible
        self.draw = draw
    }

    /// The rows of text that a picture takes, among others and by itself.
    static func rows(_ size: ThumbnailSize) -> Int { size == .small ? 4 : 20 }
}

extension TerminalPrompt {
    /// Shows the library and waits for what is picked, line by line; otherwise as `ask(_:)`.
    ///
    /// - Parameters:
    ///   - request: What is to be picked.
    ///   - browser: What shows the library.
    ///   - pictures: Shows pictures, on a terminal that can; `nil` for none.
    /// - Returns: `dismissed` also when there is no terminal to ask on.
    public func pick(
        _ request: PickRequest,
        from browser: PickBrowser,
        pictures: TerminalPictures? = nil
    ) async -> PromptAnswer {
        await inTurn { terminal, wake in
            let source = BrowsingSource(browser: browser, wake: wake, pictures: pictures)
            return TerminalPrompt.converse(PickDialog(request, source), on: terminal, wake)
        }
    }

    /// The same as a picker of `PromptAgent`'s.
    public func picking(
        _ request: PickRequest,
        from browser: PickBrowser,
        pictures: TerminalPictures? = nil
    ) -> PromptAgent.Picking {
        { await pick(request, from: browser, pictures: pictures) }
    }

    /// Shows a dialog and takes its lines, on the calling thread; see the other one.
    private static func converse(
        _ dialog: PickDialog,
        on terminal: ControllingTerminal,
        _ wake: EventSignal
    ) -> PromptAnswer {
        var dialog = dialog
        return answer(on: terminal) {
            try terminal.write(dialog.opening)
            if try stand(wake) { return nil }
            // Before the list, so that what is typed at sight of it counts.
            try terminal.forgetTyped()
            var step = dialog.begin()
            var typed: [UInt8] = []
            while true {
                switch step {
                case .next(let text): try terminal.write(text)
                case .done(let answer, let text):
                    try terminal.write(text)
                    return answer
                }
                guard let line = try line(of: terminal, &typed, wake) else { return nil }
                step = dialog.take(line.text)
            }
        }
    }

    /// More than anybody types, so that what is pasted does not fill the memory.
    private static let longestLine = 4096

    /// The next line, without its end; its text is `nil` at the end of the input.
    ///
    /// - Returns: `nil` when the wait was ended.
    private static func line(
        of terminal: ControllingTerminal,
        _ typed: inout [UInt8],
        _ wake: EventSignal
    ) throws(SystemError) -> (text: String?, Void)? {
        while true {
            if let end = typed.firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) {
                let text = String(decoding: typed[..<end], as: UTF8.self)
                typed.removeSubrange(...end)
                return (text, ())
            }
            if typed.count > longestLine { typed = [] }
            guard let more = try terminal.read(until: wake) else { return nil }
            if more.isEmpty { return (nil, ()) }
            typed += more
        }
    }
}

/// The library of the person as a dialog on a thread of its own sees it: each call waits for the daemon.
private struct BrowsingSource: PickSource {
    let browser: PickBrowser
    let wake: EventSignal
    let pictures: TerminalPictures?

    func page(_ options: AssetFetchOptions, _ cursor: String?) throws(CaptureError) -> PickPage {
        let browser = browser
        return try TerminalPrompt.wait(wake) { () throws(CaptureError) in try await browser.page(options, page: cursor)
        }
    }

    func picture(of id: MediaAsset.ID, _ size: ThumbnailSize) throws(CaptureError) -> String? {
        guard let pictures, pictures.isPossible() else { return nil }
        let browser = browser
        do throws(CaptureError) {
            let jpeg = try TerminalPrompt.wait(wake) { () throws(CaptureError) in
                try await browser.jpeg(of: id, size: size)
            }
            return pictures.draw(jpeg, TerminalPictures.rows(size))
        } catch  where error.code == .badData || error.code == .noSuchAsset {
            // Of a sound, or of what has gone meanwhile.
            return nil
        }
    }
}
