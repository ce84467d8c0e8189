import CaptureCore

/// Questions about the media library, of which nothing is remembered. Runs in turns of the gate.
struct LibraryQuestions: Sendable {
    /// How many times as long as for an answer the person has for picking: it takes looking at many pictures.
    private static let pickingTime = 10

    let files: ProgramFiles
    let prompter: any Prompter
    let reports: DecisionReports

    /// See `AuthorizationGate.confirm`.
    func confirm(
        _ action: ConfirmedAction,
        of names: [String],
        _ count: Int,
        by requester: Requester,
        on gate: isolated AuthorizationGate
    ) async throws(CaptureError) {
        let client = requester.client
        let request = Confirmation(
            client: client,
            name: await files.libraryName(of: client),
            action: action,
            count: count,
            names: names.prefix(Confirmation.mostNames).map { DisplayText.neutralized($0, limit: 255) },
            session: requester.session,
            deadline: .now + gate.questions.timeout
        )
        let what = action.words(count) + ": " + request.names.joined(separator: ", ")
        do throws(CaptureError) {
            let time = gate.questions.timeout
            let isConfirmed = try await putOnce(by: client, request.sight, within: time, on: gate, settles: { $0 }) {
                () throws(CaptureError) in
                try await prompter.confirm(request)
            }
            guard isConfirmed else {
                reports.settled(.confirmation, .denied, of: client, "the person did not let \(client.program) \(what)")
                throw CaptureError(.denied, "the person did not confirm it, so nothing was done")
            }
            try await requester.confirm()
        } catch {
            let words = "\(client.program) was not allowed to \(what)"
            if error.code != .denied { reports.unsettled(error, of: client, words) }
            throw error
        }
        reports.settled(.confirmation, .authorized, of: client, "the person let \(client.program) \(what)")
    }

    /// See `AuthorizationGate.pick`.
    func pick(
        _ purpose: PickPurpose,
        _ subject: String?,
        _ kinds: Set<String>,
        _ limit: Int,
        _ taking: Taking? = nil,
        by requester: Requester,
        on gate: isolated AuthorizationGate
    ) async throws(CaptureError) -> PickedAssets {
        let client = requester.client
        guard !client.tier.belongsToMachine else {
            throw CaptureError(
                .notPermitted,
                "\(client.program) runs for no person, so there is no library to pick from"
            )
        }
        let time = gate.questions.timeout * LibraryQuestions.pickingTime + .seconds(taking?.longest ?? 0)
        let question = PickQuestion(
            client: client,
            name: await files.libraryName(of: client),
            purpose: purpose,
            subject: subject ?? client.program,
            kinds: kinds,
            taking: taking,
            limit: limit,
            session: requester.session,
            deadline: .now + time
        )
        do throws(CaptureError) {
            let isOffer = purpose == .offer
            let picked = try await putOnce(by: client, question.sight, within: time, isOffer: isOffer, on: gate) {
                () throws(CaptureError) in
                try await prompter.pick(question)
            }
            try await requester.confirm()
            let outcome = question.outcome(picked)
            let about: Set<Service>? = taking == nil ? nil : [.camera]
            reports.settled(taking == nil ? .picked : .taken, .authorized, of: client, outcome, about)
            return picked
        } catch {
            let words = taking == nil ? "nothing of the media library was picked" : "nothing was taken"
            reports.unsettled(error, of: client, "\(words) for \(question.subject)", taking == nil ? nil : [.camera])
            throw error
        }
    }

    /// Puts a question of which nothing is remembered, and waits for its answer.
    ///
    /// - Parameters:
    ///   - client: Whose question it is.
    ///   - sight: Whether a person may have seen it.
    ///   - time: How long it stands.
    ///   - isOffer: Whether nobody asked for it.
    ///   - settles: Whether an answer is one that does not count among those that came to nothing.
    ///   - ask: Puts it.
    private func putOnce<Value: Sendable>(
        by client: ClientIdentity,
        _ sight: PromptSight,
        within time: Duration,
        isOffer: Bool = false,
        on gate: isolated AuthorizationGate,
        settles: (Value) -> Bool = { _ in true },
        _ ask: @escaping @Sendable () async throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let question = try gate.questions.beginSingle(by: client, isOffer: isOffer)
        let answer = await Questions.answer(within: time, ask)
        let isSettled =
            switch answer {
            case .success(let value): settles(value)
            case .failure(let error): error.code == .nobodyToAsk && !sight.isNoted
            }
        gate.questions.endSingle(question, isSettled: isSettled)
        return try answer.get()
    }
}
