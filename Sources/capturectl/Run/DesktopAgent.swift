import CaptureAgent
import CaptureKit

/// Asks for consent in the desktop's dialog, until a signal or the end of the session.
///
/// It outlives the daemon and registers again with each new one. It ends when the desktop is gone, so that another agent
/// is asked.
enum DesktopAgent {
    private enum Event: Sendable {
        case appeared
        case vanished
        case interrupted
        case failed(CaptureError)
    }

    /// Runs until it is interrupted.
    ///
    /// - Throws: `nobodyToAsk` if the desktop shows no dialogs; `unreachable` if the desktop's backend or either bus is
    ///   lost; what the daemon says when it does not take this program for a person's agent.
    static func run(on daemon: CaptureDaemon) async throws(CaptureError) {
        let (events, feed) = AsyncStream<Event>.makeStream()
        let prompt = try await DesktopPrompt.connect { feed.yield(.failed($0)) }
        let picker = DesktopPicker { feed.yield(.failed($0)) }
        let mirroring = MirrorTask(prompt.denialMirror(of: daemon))
        let heard = try await daemon.events()
        let interrupts = Interrupts { feed.yield(.interrupted) }
        let watch = Task {
            for await event in heard {
                switch event {
                case .daemonAppeared: feed.yield(.appeared)
                case .daemonVanished: feed.yield(.vanished)
                case .consentChanged(_, let program, _, _): mirroring.update(program)
                default: continue
                }
            }
            feed.yield(.failed(CaptureError(.unreachable, "the connection to the bus is lost")))
        }
        defer {
            watch.cancel()
            mirroring.cancel()
            withExtendedLifetime(interrupts) {}
        }
        Output.note("asking for consent with \(Printable.text(prompt.backend)); Ctrl-C ends this")
        feed.yield(.appeared)
        var agent: PromptAgent?
        for await event in events {
            switch event {
            case .appeared:
                // One that was started by our own registering is told of after it.
                guard agent == nil else { continue }
                agent = try await register(on: daemon, prompt, picker)
                if agent != nil { mirroring.updateAll() }
            case .vanished:
                // The questions went with the daemon, and so do their dialogs.
                agent = nil
                Output.note("the capture daemon went away; waiting for it")
            case .interrupted:
                try await agent?.unregister()
                await prompt.settle()
                return
            case .failed(let error):
                if error.code == .unreachable { throw error }
                Output.message(Printable.text(error.message, limit: 1000))
            }
        }
    }

    /// - Returns: `nil` when there is no daemon, or it has just gone again: it is heard of when there is one.
    private static func register(
        on daemon: CaptureDaemon,
        _ prompt: DesktopPrompt,
        _ picker: DesktopPicker
    ) async throws(CaptureError) -> PromptAgent? {
        do throws(CaptureError) {
            return try await PromptAgent.register(
                on: daemon,
                kind: "desktop",
                describe: PersonalMetadata.describe,
                confirm: { await prompt.confirm($0) },
                pick: { request, browser throws(CaptureError) in try await picker.begin(request, browser) },
                answer: { await prompt.ask($0) }
            )
        } catch  where error.code == .unreachable {
            Output.note("waiting for the capture daemon: \(Printable.text(error.message, limit: 1000))")
            return nil
        }
    }
}

/// Brings the desktop's permission store up to date, one change after the other, while questions are shown.
private final class MirrorTask: Sendable {
    private let feed: AsyncStream<String?>.Continuation
    private let task: Task<Void, Never>

    init(_ mirror: DenialMirror) {
        let (changes, feed) = AsyncStream<String?>.makeStream()
        self.feed = feed
        task = Task {
            for await program in changes {
                do throws(CaptureError) {
                    if let program { try await mirror.update(program) } else { try await mirror.update() }
                } catch {
                    // The daemon refuses the program all the same; only the desktop's own portal may not yet.
                    Output.message(
                        "denials are not up to date in the desktop's permission store: "
                            + Printable.text(error.message, limit: 1000)
                    )
                }
            }
        }
    }

    func update(_ program: String) {
        if DenialMirror.concerns(program) { feed.yield(program) }
    }

    func updateAll() {
        feed.yield(nil)
    }

    func cancel() {
        task.cancel()
    }
}
