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
    public nonisolated func picking(
        _ request: PickRequest,
        from browser: PickBrowser,
        pictures: TerminalPictures? = nil
    ) -> PromptAgent.Picking {
        { await self.pick(request, from: browser, pictures: pictures) }
    }

    /// Shows a dialog and takes its lines, on the calling thread; see the other one.
    static func converse(
        _ dialog: PickDialog,
        on terminal: ControllingTerminal,
        _ wake: EventSignal,
        stand: (EventSignal) throws -> Bool = TerminalPrompt.stand
    ) -> PromptAnswer {
        var dialog = dialog
        do {
            try terminal.write(dialog.opening)
            if try stand(wake) {
                try terminal.write(PromptDialog.withdrawal)
                return .withdrawn
            }
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
                guard let line = try line(of: terminal, &typed, wake) else {
                    try terminal.write(PromptDialog.withdrawal)
                    return .withdrawn
                }
                step = dialog.take(line.text)
            }
        } catch {
            // The terminal went away: nobody has answered.
            return .dismissed
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
        return try wait { () throws(CaptureError) in try await browser.page(options, page: cursor) }
    }

    func picture(of id: MediaAsset.ID, _ size: ThumbnailSize) throws(CaptureError) -> String? {
        guard let pictures, pictures.isPossible() else { return nil }
        let browser = browser
        do throws(CaptureError) {
            let jpeg = try wait { () throws(CaptureError) in try await browser.jpeg(of: id, size: size) }
            return pictures.draw(jpeg, TerminalPictures.rows(size))
        } catch  where error.code == .badData || error.code == .noSuchAsset {
            // Of a sound, or of what has gone meanwhile.
            return nil
        }
    }

    /// What came of a call.
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, CaptureError>?>(nil)
    }

    /// Waits for a call on the calling thread, no longer than the question stands.
    private func wait<Value: Sendable>(
        _ call: @escaping @Sendable () async throws(CaptureError) -> Value
    ) throws(CaptureError) -> Value {
        let withdrawn = CaptureError(.notPermitted, "the question was withdrawn")
        let outcome = Outcome<Value>()
        do throws(SystemError) {
            let done = try EventSignal()
            let task = Task {
                do throws(CaptureError) {
                    let value = try await call()
                    outcome.value.withLock { $0 = .success(value) }
                } catch {
                    outcome.value.withLock { $0 = .failure(error) }
                }
                done.raise()
            }
            let (_, ended) = try Poll.wait(done.descriptor, wake.descriptor)
            if !ended.isEmpty { task.cancel() }
        } catch {
            throw CaptureError(.inputOutput, error)
        }
        guard let result = outcome.value.withLock({ $0 }) else { throw withdrawn }
        return try result.get()
    }
}
