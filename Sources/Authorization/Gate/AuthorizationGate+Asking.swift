public import CaptureCore

/// How the person is asked.
extension AuthorizationGate {
    /// Sends away one who waits for an answer.
    func leave(_ key: AnswerKey, _ id: UInt64, _ number: UInt64) {
        questions.dismiss(key, id, number, .requesterGone)
    }

    /// How many requests wait for a person's answer now.
    public var waiterCount: Int { questions.waiting.count }

    /// Changes how long a question stays; those that are open keep their time.
    public func setPromptTimeout(_ timeout: Duration) { questions.timeout = timeout }

    /// Changes how often a program may ask without an answer; what it asked before counts.
    public func setPromptLimits(_ limits: PromptLimits) { questions.setLimits(limits) }

    /// Has something done each time that a program which was not is limited to chosen assets of the media library by an
    /// answer, before that counts; what it throws keeps the answer from counting.
    public func beforeLimiting(
        _ handler: @escaping @Sendable (_ user: UInt32, _ program: String) async throws(CaptureError) -> Void
    ) {
        beforeLimiting = handler
    }

    /// Has the person confirm what a program that may is about to do: each time anew, since nothing of it is remembered.
    ///
    /// One question a program at a time; those that are not confirmed count among the questions that come to nothing. What
    /// it came to is told to journal and history.
    ///
    /// - Parameters:
    ///   - action: What it is about to do.
    ///   - names: What it does it to, at least one; the first of them will do.
    ///   - count: To how many.
    ///   - requester: The program.
    /// - Throws: `denied` when the person says no, `dismissed`, `timedOut`, `nobodyToAsk`; `busy` while another question of
    ///   the kind stands, `askedTooOften` where several questions came to nothing just now; `notPermitted` when the
    ///   identity changed or cannot be read.
    public func confirm(
        _ action: ConfirmedAction,
        of names: [String],
        count: Int,
        by requester: Requester
    ) async throws(CaptureError) {
        try await library.confirm(action, of: names, count, by: requester, on: self)
    }

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
    ///   - requester: Who asks.
    /// - Throws: `dismissed` when the person picks nothing, `timedOut`, `nobodyToAsk`; `busy` while another question of
    ///   the program's about the library stands, `askedTooOften` where several came to nothing just now; `notPermitted`
    ///   when the identity changed or cannot be read, and for a program of the machine's, which no person's library is
    ///   shown for.
    public func pick(
        _ purpose: PickPurpose,
        for subject: String? = nil,
        kinds: Set<String> = [],
        limit: Int = PickQuestion.mostAssets,
        by requester: Requester
    ) async throws(CaptureError) -> PickedAssets {
        try await library.pick(purpose, subject, kinds, limit, by: requester, on: self)
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
