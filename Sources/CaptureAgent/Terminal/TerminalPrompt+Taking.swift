public import CaptureKit
import CaptureSystem
import Synchronization

/// Shows on a terminal what a camera sees. Thread-safe.
public struct TerminalViewfinder: Sendable {
    /// The output that feeds it.
    public let output: VideoDataOutput
    /// Shows a line beside the picture, which stands still or goes on.
    let tell: @Sendable (_ line: String, _ standsStill: Bool) -> Void
    /// Leaves the terminal as it was.
    let close: @Sendable () -> Void

    /// A viewfinder of the given parts.
    public init(
        _ output: VideoDataOutput,
        tell: @escaping @Sendable (_ line: String, _ standsStill: Bool) -> Void,
        close: @escaping @Sendable () -> Void
    ) {
        self.output = output
        self.tell = tell
        self.close = close
    }

    /// One without pictures, for a terminal that cannot show any.
    static var lines: TerminalViewfinder {
        TerminalViewfinder(VideoDataOutput(name: "preview") { _ in }) { line, _ in
            try? ControllingTerminal()?.write(line + "\n")
        } close: {
        }
    }
}

extension TerminalPrompt {
    /// Has the person take a photo or movie, and waits for that; otherwise as `ask(_:)`.
    ///
    /// - Parameters:
    ///   - request: Of the purpose `take`.
    ///   - daemon: Whose question it is.
    ///   - viewfinder: Makes what shows the camera's picture; `nil` where the terminal shows none.
    /// - Returns: `dismissed` also when there is no terminal to ask on.
    public func take(
        _ request: PickRequest,
        on daemon: CaptureDaemon,
        viewfinder: @escaping @Sendable () -> TerminalViewfinder?
    ) async -> PromptAnswer {
        guard let news = try? TakingNews() else { return .dismissed }
        return await withTaskCancellationHandler {
            await inTurn { terminal, _ in
                do {
                    var taking = TerminalTaking(request, daemon, terminal, news)
                    return try taking.converse(viewfinder)
                } catch {
                    // Not shown if it is the terminal that went away.
                    try? terminal.write("\(Printable.text("\(error)", limit: 300))\n")
                    return .dismissed
                }
            }
        } onCancel: {
            news.put(.withdrawn)
        }
    }
}

/// What happens beside the keys. Thread-safe.
final class TakingNews: Sendable {
    enum Item: Sendable {
        case stage(TakingDialog.Stage)
        case failed(CaptureError)
        case withdrawn
        /// The person has had time to see that stage, by its number.
        case seen(Int)
    }

    /// Raised when there is something.
    let signal: EventSignal
    private let items = Mutex<[Item]>([])

    init() throws(SystemError) { signal = try EventSignal() }

    func put(_ item: Item) {
        items.withLock { $0.append(item) }
        signal.raise()
    }

    func take() -> [Item] {
        signal.lower()
        return items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}

/// One taking on a terminal, on a thread of its own.
struct TerminalTaking {
    private let request: PickRequest
    private let daemon: CaptureDaemon
    private let terminal: ControllingTerminal
    private let news: TakingNews
    private var stage = TakingDialog.Stage.asked
    private var number = 0
    private var chosen: DeviceID?
    /// Whether keys count: the person has seen what they do now.
    private var takesKeys = false
    /// Whether there were keys before that.
    private var hasEarlyKeys = false
    /// Why the last key came to nothing.
    private var failure: String?

    init(_ request: PickRequest, _ daemon: CaptureDaemon, _ terminal: ControllingTerminal, _ news: TakingNews) {
        (self.request, self.daemon, self.terminal, self.news) = (request, daemon, terminal, news)
    }

    /// How long the camera's end is waited for, in milliseconds; it comes with that of the question in any case.
    private static let patience: Int32 = 2000

    /// Asks, turns the camera on when the person says so, and takes keys.
    mutating func converse(_ viewfinder: () -> TerminalViewfinder?) throws -> PromptAnswer {
        let opening = [request.headline, request.certainty, request.meaning].joined(separator: "\n")
        try terminal.write("\n\(opening)\n")
        let view = viewfinder() ?? .lines
        let dialog = TakingDialog(request, on: daemon, preview: view.output) { [news] in news.put(.stage($0)) }
        let result = Result { try follow(dialog, view) }
        let closed = try EventSignal()
        Task {
            await dialog.close()
            closed.raise()
        }
        _ = try Poll.wait(closed.descriptor, timeout: TerminalTaking.patience)
        view.close()
        if case .over(let why) = stage { try terminal.write("\(Printable.text(why, limit: 300))\n") }
        let answer = try result.get()
        if answer == .withdrawn { try terminal.write(PromptDialog.withdrawal) }
        return answer
    }

    /// Takes keys until one of them is the answer.
    private mutating func follow(_ dialog: TakingDialog, _ view: TerminalViewfinder) throws -> PromptAnswer {
        // Ctrl-C is a no: a terminal that shows a picture cannot be left as it is.
        try terminal.takeKeys(hasSignals: false)
        defer { terminal.restore() }
        let cameras = try TerminalPrompt.wait(news.signal) { () async throws(CaptureError) in try await dialog.cameras()
        }
        if cameras.count > 1 { try terminal.write(TerminalTaking.list(cameras)) }
        enter(.asked)
        while true {
            if let keys = try terminal.read(until: news.signal) {
                for key in keys.isEmpty ? [Key.endOfInput] : keys {
                    if let answer = try take(key, dialog, cameras) { return answer }
                }
                continue
            }
            for item in news.take() {
                switch item {
                case .withdrawn: return .withdrawn
                case .failed(let error):
                    let why = Printable.text(error.message, limit: 300)
                    failure = why
                    // Nothing is drawn yet.
                    if stage == .asked { try terminal.write(why + "\n") } else { view.tell(why, false) }
                    enter(stage)
                case .stage(.over(let why)):
                    stage = .over(why)
                    return .dismissed
                case .stage(let new):
                    failure = nil
                    if let line = TerminalTaking.outcome(new, request) { view.tell(line, true) }
                    enter(new)
                case .seen(let number) where number == self.number:
                    // What was typed before that was not meant for it, and who types on has not seen it yet.
                    if try terminal.forgetTyped() || hasEarlyKeys {
                        enter(stage)
                        continue
                    }
                    takesKeys = true
                    let hint = TerminalTaking.hint(stage, request)
                    if stage == .asked {
                        try terminal.write(hint + "\n")
                    } else {
                        view.tell([failure, hint].compactMap(\.self).joined(separator: "; "), stage.standsStill)
                    }
                case .seen: continue
                }
            }
        }
    }

    /// A stage, whose keys count in a moment.
    private mutating func enter(_ stage: TakingDialog.Stage) {
        self.stage = stage
        number += 1
        (takesKeys, hasEarlyKeys) = (false, false)
        let (news, number) = (news, number)
        Task {
            try? await Task.sleep(for: PromptDialog.moment)
            news.put(.seen(number))
        }
    }

    private enum Key {
        static let endOfInput: UInt8 = 4
        static let interrupt: UInt8 = 3
        static let enter: Set<UInt8> = [0x0a, 0x0d]
        static let again = Set("rR".utf8)
        static let details = Set("wW".utf8)
        static let end = Set("qQ".utf8).union([endOfInput, interrupt])
        static let digits = UInt8(ascii: "1")...UInt8(ascii: "9")
    }

    /// - Returns: The answer, if the key is one.
    private mutating func take(
        _ key: UInt8,
        _ dialog: TakingDialog,
        _ cameras: [CaptureDevice]
    ) throws -> PromptAnswer? {
        if Key.end.contains(key) { return .dismissed }
        guard takesKeys else {
            hasEarlyKeys = true
            return nil
        }
        switch stage {
        case .asked where Key.details.contains(key):
            try terminal.write(request.details.map { "  \($0.label): \($0.text)\n" }.joined())
        case .asked where Key.digits.contains(key):
            let index = Int(key - Key.digits.lowerBound)
            guard cameras.indices.contains(index) else { return nil }
            chosen = cameras[index].id
            try terminal.write("camera: \(Printable.text(cameras[index].name, limit: 60))\n")
        case .taken(let id, _) where Key.enter.contains(key): return .picked(PickedAssets([id]))
        case .taken where Key.again.contains(key):
            takesKeys = false
            Task { await dialog.again() }
        case .taken: break
        case _ where Key.enter.contains(key):
            // Until it is done, no key but a no counts.
            takesKeys = false
            let (news, chosen) = (news, chosen)
            Task {
                if let chosen { await dialog.choose(chosen) }
                do throws(CaptureError) {
                    try await dialog.advance()
                } catch {
                    news.put(.failed(error))
                }
            }
        default: break
        }
        return nil
    }

    private static func list(_ cameras: [CaptureDevice]) -> String {
        let rows = cameras.prefix(9).enumerated().map { "  \($0 + 1) \(Printable.text($1.name, limit: 60))\n" }
        return "Cameras; a number chooses one:\n" + rows.joined()
    }

    /// What a stage has brought; `nil` for nothing to tell.
    static func outcome(_ stage: TakingDialog.Stage, _ request: PickRequest) -> String? {
        guard case .taken(_, let remark) = stage else { return nil }
        guard let remark else { return request.longest > 0 ? "The movie was recorded." : "The photo was taken." }
        return "Not all of it was recorded: \(Printable.text(remark, limit: 300))."
    }

    /// What can be done at a stage.
    static func hint(_ stage: TakingDialog.Stage, _ request: PickRequest) -> String {
        let isMovie = request.longest > 0
        return switch stage {
        case .asked: "Enter turns the camera on, w says who asks, q declines."
        case .viewing: isMovie ? "Enter begins the movie, q declines." : "Enter takes the photo, q declines."
        case .recording: "Recording. Enter ends the movie."
        case .taken: "Enter hands it over, r takes another one, q declines."
        case .over(let why): Printable.text(why, limit: 300)
        }
    }
}
