import CaptureAgent
import ArgumentParser
import CaptureKit
import FoundationEssentials
import Synchronization

/// Whether and how a terminal shows pictures: of assets to pick, and of the camera.
struct PictureOptions: ParsableArguments {
    /// What can be chosen.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto
        case kitty
        case iterm
        case sixel
        case none
    }

    @Option(
        help: ArgumentHelp(
            "How to show pictures on the terminal: kitty, iterm, sixel, none, or auto to ask the terminal.",
            valueName: "way"
        )
    )
    var pictures: Choice = .auto

    /// What shows the library's pictures; `nil` for none.
    static func shown(_ choice: Choice) -> TerminalPictures? {
        guard choice != .none else { return nil }
        let found = Found(TerminalGraphics(rawValue: choice.rawValue))
        return TerminalPictures {
            found.graphics != nil
        } draw: { jpeg, rows in
            found.graphics?.sequence(jpeg, rows: rows)
        }
    }

    /// What the terminal can show, asked for when the first picture is there.
    private final class Found: Sendable {
        private let value: Mutex<TerminalGraphics??>

        init(_ chosen: TerminalGraphics?) {
            value = Mutex(chosen.map { .some($0) })
        }

        var graphics: TerminalGraphics? {
            value.withLock { value in
                if let value { return value }
                let found = TerminalAnswers.graphics(ProcessInfo.processInfo.environment)
                value = .some(found)
                return found
            }
        }
    }
}
