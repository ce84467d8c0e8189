public import CaptureBus
public import CaptureCore
public import CaptureKit

/// Asks a person in the desktop's own dialog: a ready-made answerer for `PromptAgent`.
///
/// Thread-safe. One question stands at a time, since desktops show one at a time; the next waits its turn. There is no
/// limit of its own to how long a question stands.
public struct DesktopPrompt: Sendable {
    /// The part of the desktop that shows the dialogs, by its name on the bus.
    public let backend: String
    private let session: BusConnection
    let portal: DesktopPortal
    let failed: @Sendable (CaptureError) -> Void
    let turns = PromptTurns()
    /// A person needs this long to see a dialog. An earlier answer is a key that was meant for another window.
    private let moment: Duration

    private init(
        _ session: BusConnection,
        _ portal: DesktopPortal,
        _ moment: Duration,
        _ failed: @escaping @Sendable (CaptureError) -> Void
    ) {
        self.session = session
        self.portal = portal
        self.moment = moment
        self.failed = failed
        backend = portal.name
    }

    /// Finds out who shows dialogs on this desktop.
    ///
    /// - Parameters:
    ///   - bus: The bus of the person's session.
    ///   - failed: Told what keeps a dialog from the screen. With `unreachable` none can be shown any more, and a question
    ///     that stood then is not answered: whoever asks here has to unregister, so that another agent is asked. With
    ///     any other code this one was refused by the desktop, as where another dialog stands, and counts as closed.
    /// - Throws: `unreachable` if the bus is not there; `nobodyToAsk` if nobody on it shows dialogs, with what to install.
    public static func connect(
        to bus: BusKind = .session,
        failed: @escaping @Sendable (CaptureError) -> Void
    ) async throws(CaptureError) -> DesktopPrompt {
        try await connect(to: bus, PortalFiles(), moment: PromptDialog.moment, failed: failed)
    }

    static func connect(
        to bus: BusKind,
        _ files: PortalFiles,
        moment: Duration = .zero,
        failed: @escaping @Sendable (CaptureError) -> Void
    ) async throws(CaptureError) -> DesktopPrompt {
        let session = try await BusConnection.open(bus)
        let portal = try await DesktopPortal.find(on: session, files)
        try await portal.start()
        session.onDisconnect(failed)
        return DesktopPrompt(session, portal, moment, failed)
    }

    /// What keeps denials of sandboxed programs in the same desktop's store.
    public func denialMirror(of daemon: CaptureDaemon) -> DenialMirror {
        DenialMirror(of: daemon, in: PermissionStore(on: session))
    }

    /// Shows a request and waits for its answer. Cancelling the task takes the dialog off the screen.
    public func ask(_ request: PromptRequest) async -> PromptAnswer {
        await turns.take { await converse(request) }
    }

    /// Returns when no dialog stands on the screen any more.
    public func settle() async {
        await turns.settle()
    }

    /// Shows a dialog, and shows it again with all details if the person wants them.
    func show(_ dialog: (DesktopDetails) -> AccessDialog) async throws(CaptureError) -> AccessResponse? {
        let response = try await show(dialog(.offered))
        guard let response, DesktopDetails.areWanted(response) else { return response }
        return try await show(dialog(.shown))
    }

    /// Shows a dialog, and shows it again if it was answered before anybody can have read it. A desktop that goes on like
    /// that has nobody in front of it.
    private func show(_ dialog: AccessDialog) async throws(CaptureError) -> AccessResponse? {
        for _ in 0..<3 {
            let begun = ContinuousClock.now
            let response = try await portal.show(dialog)
            if response == nil || response == .closed || begun.duration(to: .now) >= moment { return response }
        }
        return .closed
    }

    private func converse(_ request: PromptRequest) async -> PromptAnswer {
        do throws(CaptureError) {
            guard let response = try await show({ DesktopDialog(request, details: $0).access }) else {
                return .withdrawn
            }
            if let answer = DesktopDialog(request).answer(response) { return answer }
            // This desktop has no rows to tick: one question after the other. One that is closed closes all.
            var answers: [AuthorizationService: PersonsAnswer] = [:]
            while let service = request.next(after: answers) {
                let row = DesktopDialog(request, [service])
                // Of one alone that was the first question already.
                var answer: PromptAnswer?
                if request.services.count > 1 {
                    guard
                        let response = try await show({ DesktopDialog(request, [service], details: $0).access })
                    else { return .withdrawn }
                    answer = row.answer(response)
                }
                if answer == nil {
                    guard let isAll = try await show(row.extent(isAll: true)) else { return .withdrawn }
                    if case .granted = isAll { answer = row.answer(isLimited: false) }
                    if isAll == .denied {
                        guard let isSome = try await show(row.extent(isAll: false)) else { return .withdrawn }
                        if case .granted = isSome { answer = row.answer(isLimited: true) }
                    }
                }
                guard case .answered(let given) = answer else { return .dismissed }
                answers.merge(given) { $1 }
            }
            return .answered(answers)
        } catch {
            failed(CaptureError(error.code, "the desktop cannot show the question for consent: \(error.message)"))
            return error.code == .unreachable ? .withdrawn : .dismissed
        }
    }
}
