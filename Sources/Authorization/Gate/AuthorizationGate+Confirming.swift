public import CaptureCore

extension AuthorizationGate {
    /// Has the person confirm what a program that may is about to do: each time anew, since nothing of it is remembered.
    ///
    /// One question a program at a time; those that are not confirmed count among the questions that come to nothing.
    ///
    /// - Parameters:
    ///   - action: What it is about to do.
    ///   - names: What it does it to, at least one.
    ///   - client: The program.
    ///   - session: Its connection, handed through to the prompter.
    ///   - again: Identifies the same connection once more; a difference refuses.
    /// - Throws: `denied` when the person says no, `dismissed`, `timedOut`, `nobodyToAsk`; `busy` while another question of
    ///   the kind stands, `askedTooOften` where several questions came to nothing just now; `notPermitted` when the
    ///   identity changed or cannot be read.
    public func confirm(
        _ action: Confirmation.Action,
        of names: [String],
        by client: ClientIdentity,
        session: String,
        again: @escaping @Sendable () async throws(CaptureError) -> ClientIdentity
    ) async throws(CaptureError) {
        let key = AnswerKey(client).programKey
        if let refusal = promptRefusal(client) { throw refusal }
        guard confirming.insert(key).inserted else {
            throw CaptureError(
                .busy,
                "the person is being asked already to confirm what \(client.program) does; wait for that"
            )
        }
        let id = nextNumber()
        book.put(key, id, at: now().sinceBoot)
        let usage = try? usage.description(of: client, for: [.libraryReadWrite])
        let request = Confirmation(
            client: client,
            name: DisplayText.neutralized(usage?.name ?? client.name, limit: 80),
            action: action,
            count: names.count,
            names: names.prefix(Confirmation.mostNames).map { DisplayText.neutralized($0, limit: 255) },
            session: session,
            deadline: .now + promptTimeout
        )
        let answer = await answer(to: request)
        confirming.remove(key)
        switch answer {
        case .success(true): book.forget(key, id)
        case .failure(let error) where error.code == .nobodyToAsk && !request.sight.isNoted: book.forget(key, id)
        default: book.cameToNothing(key, id, at: now().sinceBoot)
        }
        guard try answer.get() else {
            throw CaptureError(.denied, "the person did not confirm it, so nothing was done")
        }
        try await confirm(client, again)
    }

    /// Waits for the answer, and no longer than it may take.
    private func answer(to request: Confirmation) async -> Result<Bool, CaptureError> {
        let asking = Task { [prompter] () -> Result<Bool, CaptureError> in
            do throws(CaptureError) {
                return .success(try await prompter.confirm(request))
            } catch {
                return .failure(error)
            }
        }
        let timing = Task { [promptTimeout] in
            guard (try? await Task.sleep(for: promptTimeout)) != nil else { return false }
            asking.cancel()
            return true
        }
        let answer = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        timing.cancel()
        if Task.isCancelled { return .failure(AuthorizationGate.requesterGone) }
        // A yes that came when nobody waited any more is none.
        guard await timing.value else { return answer }
        return .failure(CaptureError(.timedOut, "nobody confirmed it within \(promptTimeout), so nothing was done"))
    }
}
