import CaptureCore

/// Questions of which nothing is remembered: one of a program at a time.
extension AuthorizationGate {
    /// Puts a question, unless one of the program's stands or several came to nothing just now, and waits for its answer.
    ///
    /// - Parameters:
    ///   - client: Whose question it is.
    ///   - sight: Whether a person may have seen it.
    ///   - time: How long it stands.
    ///   - isOffer: Whether nobody asked for it: those stand and count by themselves, so that they keep no program from what
    ///     it asks for.
    ///   - ask: Puts it.
    ///   - settles: Whether an answer is one that does not count among those that came to nothing.
    func putOnce<Value: Sendable>(
        by client: ClientIdentity,
        _ sight: PromptSight,
        within time: Duration,
        isOffer: Bool = false,
        _ ask: @escaping @Sendable () async throws(CaptureError) -> Value,
        settles: (Value) -> Bool
    ) async throws(CaptureError) -> Value {
        var key = AnswerKey(client).programKey
        // No program's id begins so.
        if isOffer { key.program = "offer " + key.program }
        if let refusal = promptRefusal(client, key) { throw refusal }
        guard confirming.insert(key).inserted else {
            throw CaptureError(
                .busy,
                "the person is already being asked about what \(client.program) does in the media library; wait for that"
            )
        }
        let id = nextNumber()
        book.put(key, id, at: now().sinceBoot)
        let answer = await AuthorizationGate.answer(within: time, ask)
        confirming.remove(key)
        switch answer {
        case .success(let value) where settles(value): book.forget(key, id)
        case .failure(let error) where error.code == .nobodyToAsk && !sight.isNoted: book.forget(key, id)
        default: book.cameToNothing(key, id, at: now().sinceBoot)
        }
        return try answer.get()
    }

    /// Waits for the answer, and no longer than it may take.
    private static func answer<Value: Sendable>(
        within time: Duration,
        _ ask: @escaping @Sendable () async throws(CaptureError) -> Value
    ) async -> Result<Value, CaptureError> {
        let asking = Task { () -> Result<Value, CaptureError> in
            do throws(CaptureError) {
                return .success(try await ask())
            } catch {
                return .failure(error)
            }
        }
        let timing = Task {
            guard (try? await Task.sleep(for: time)) != nil else { return false }
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
        return .failure(CaptureError(.timedOut, "nobody answered within \(time), so nothing was done"))
    }
}
