public import CaptureCore

extension AuthorizationGate {
    /// How many times as long as for an answer the person has for picking: it takes looking at many pictures.
    static let pickingTime = 10

    /// Has the person pick from the media library. Takes no consent and changes none.
    ///
    /// One question of a program at a time, and one offer; those that come to nothing count as in `confirm`, offers by
    /// themselves. What it came to is told to journal and history.
    ///
    /// - Parameters:
    ///   - purpose: What becomes of what is picked.
    ///   - subject: The program that may read what is chosen; `nil` for the one that asks.
    ///   - kinds: The words of the kinds that are shown; empty for all.
    ///   - limit: How many may be picked, 1 to `PickQuestion.mostAssets`.
    ///   - client: Who asks.
    ///   - session: Its connection, handed through to the prompter.
    ///   - again: Identifies the same connection once more; a difference refuses.
    /// - Throws: `dismissed` when the person picks nothing, `timedOut`, `nobodyToAsk`; `busy` while another question of
    ///   the program's about the library stands, `askedTooOften` where several came to nothing just now; `notPermitted`
    ///   when the identity changed or cannot be read, and for a program of the machine's, which no person's library is
    ///   shown for.
    public func pick(
        _ purpose: PickPurpose,
        for subject: String? = nil,
        kinds: Set<String> = [],
        limit: Int = PickQuestion.mostAssets,
        by client: ClientIdentity,
        session: String,
        again: @escaping @Sendable () async throws(CaptureError) -> ClientIdentity
    ) async throws(CaptureError) -> PickedAssets {
        guard !client.tier.belongsToMachine else {
            throw CaptureError(
                .notPermitted,
                "\(client.program) runs for no person, so there is no library to pick from"
            )
        }
        let time = promptTimeout * AuthorizationGate.pickingTime
        let question = PickQuestion(
            client: client,
            name: await files.libraryName(of: client),
            purpose: purpose,
            subject: subject ?? client.program,
            kinds: kinds,
            limit: limit,
            session: session,
            deadline: .now + time
        )
        do throws(CaptureError) {
            let picked = try await putOnce(
                by: client,
                question.sight,
                within: time,
                isOffer: purpose == .offer
            ) { [prompter] () throws(CaptureError) in
                try await prompter.pick(question)
            } settles: { _ in
                true
            }
            try await confirm(client, again)
            reports.settled(.picked, .authorized, of: client, question.outcome(picked))
            return picked
        } catch {
            reports.unsettled(error, of: client, "nothing of the media library was picked for \(question.subject)")
            throw error
        }
    }

    /// Makes sure that a program says why it wants the media library, before anybody is asked.
    ///
    /// - Throws: `missingUsageDescription`, naming key and file.
    public func checkLibraryReason(_ client: ClientIdentity) async throws(CaptureError) {
        _ = try await files.filed(client, [.libraryReadWrite])
    }

    /// Whether a program that may read chosen assets alone wants its person not to be offered more of them each time it
    /// runs: by `X-Capture-PreventAutomaticLimitedLibraryAlert=true` in its metadata.
    public func preventsLibraryAlert(_ client: ClientIdentity) async -> Bool {
        await files.preventsLibraryAlert(client)
    }
}
