public import CaptureCore

extension AuthorizationGate {
    /// Has the person confirm what a program that may is about to do: each time anew, since nothing of it is remembered.
    ///
    /// One question a program at a time; those that are not confirmed count among the questions that come to nothing. What
    /// it came to is told to journal and history.
    ///
    /// - Parameters:
    ///   - action: What it is about to do.
    ///   - names: What it does it to, at least one; the first of them will do.
    ///   - count: To how many.
    ///   - client: The program.
    ///   - session: Its connection, handed through to the prompter.
    ///   - again: Identifies the same connection once more; a difference refuses.
    /// - Throws: `denied` when the person says no, `dismissed`, `timedOut`, `nobodyToAsk`; `busy` while another question of
    ///   the kind stands, `askedTooOften` where several questions came to nothing just now; `notPermitted` when the
    ///   identity changed or cannot be read.
    public func confirm(
        _ action: ConfirmedAction,
        of names: [String],
        count: Int,
        by client: ClientIdentity,
        session: String,
        again: @escaping @Sendable () async throws(CaptureError) -> ClientIdentity
    ) async throws(CaptureError) {
        let request = Confirmation(
            client: client,
            name: await files.libraryName(of: client),
            action: action,
            count: count,
            names: names.prefix(Confirmation.mostNames).map { DisplayText.neutralized($0, limit: 255) },
            session: session,
            deadline: .now + promptTimeout
        )
        let what = action.words(count) + ": " + request.names.joined(separator: ", ")
        do throws(CaptureError) {
            let isConfirmed = try await putOnce(by: client, request.sight, within: promptTimeout) {
                [prompter] () throws(CaptureError) in
                try await prompter.confirm(request)
            } settles: { isConfirmed in
                isConfirmed
            }
            guard isConfirmed else {
                reports.settled(.confirmation, .denied, of: client, "the person did not let \(client.program) \(what)")
                throw CaptureError(.denied, "the person did not confirm it, so nothing was done")
            }
            try await confirm(client, again)
        } catch {
            let words = "\(client.program) was not allowed to \(what)"
            if error.code != .denied { reports.unsettled(error, of: client, words) }
            throw error
        }
        reports.settled(.confirmation, .authorized, of: client, "the person let \(client.program) \(what)")
    }
}
