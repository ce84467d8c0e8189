import Authorization
import CaptureBus
import CaptureCore

/// Which yes takes the password of the person who gives it.
struct PasswordNeeds: Hashable, Sendable {
    /// One for a claimed identity: `PasswordForClaimed=`.
    var claimed = false
    /// One for a service or a dedicated user, which counts for everybody on the machine: `PasswordForServices=`.
    var services = false
}

/// The password behind a yes that a program could have given: any of the same account for a claimed identity, and any of
/// the account at the seat for the machine's services, since every program may register an agent.
struct AnswerPassword: Sendable {
    /// Why a password is needed.
    private struct Need {
        /// The polkit action.
        var action: String
        /// What turns it on and off.
        var key: String
        /// What the program is that it is asked for.
        var words: String

        static let claimed = Need(
            action: "org.capturekit.capture1.allow-claimed",
            key: "PasswordForClaimed=",
            words: "which is not verified"
        )
        static let machines = Need(
            action: "org.capturekit.capture1.allow-machine",
            key: "PasswordForServices=",
            words: "which counts for everybody on this machine"
        )
    }

    let bus: BusConnection
    let needs: PasswordNeeds

    /// Has the person who answered type their own password, where there is a yes that takes one.
    ///
    /// - Parameter agent: Whom the answer came by: its user's password is meant.
    /// - Throws: `dismissed` when it was not given, `nobodyToAsk` when polkit does not answer: the answer does not count.
    func check(_ answers: [Service: PersonsAnswer], to request: PromptRequest, from agent: RegisteredAgent)
        async throws(CaptureError)
    {
        let allowed = answers.filter(\.value.isAllowed).keys.sorted()
        guard !allowed.isEmpty else { return }
        let what = Service.action(allowed, isLimited: answers[.libraryReadWrite]?.isLimited == true)
        try await check(request.client, request.name, what, until: request.deadline, agent)
    }

    /// The same for something that was confirmed.
    func check(_ request: Confirmation, from agent: RegisteredAgent) async throws(CaptureError) {
        let what = request.action.words(request.count)
        try await check(request.client, request.name, what, until: request.deadline, agent)
    }

    /// The same for what the person picked.
    func check(_ assets: PickedAssets, to question: PickQuestion, from agent: RegisteredAgent)
        async throws(CaptureError)
    {
        // What is chosen in settings took a password before it was shown.
        guard !assets.picked.isEmpty, question.purpose != .choose else { return }
        let count = assets.picked.count
        let what =
            question.taking != nil
            ? "have what you took"
            : "have \(count == 1 ? "the item" : "the \(count) items") of the media library that you picked"
        try await check(question.client, question.name, what, until: question.deadline, agent)
    }

    private func check(
        _ client: ClientIdentity,
        _ name: String,
        _ what: String,
        until deadline: ContinuousClock.Instant,
        _ agent: RegisteredAgent
    ) async throws(CaptureError) {
        guard let need = need(client, agent) else { return }
        let why = "a yes to \(client.program), \(need.words), takes your password here"
        let who = "\(name) (\(client.program)), \(need.words),"
        let left = ContinuousClock.now.duration(to: deadline).components
        let isGiven: Bool
        do throws(CaptureError) {
            // Not past the question itself, which is taken back then.
            isGiven = try await Polkit(bus: bus).allows(
                need.action,
                to: agent.connection,
                message: "Authentication is required to let \(who) \(what)",
                timeout: Double(max(left.seconds, 0)) + 1
            )
        } catch {
            throw CaptureError(.nobodyToAsk, "\(why) (\(need.key)), and polkit could not ask for it: \(error)")
        }
        guard isGiven else {
            throw CaptureError(.dismissed, "\(why) (\(need.key)), and it was not given; nothing was stored")
        }
    }

    private func need(_ client: ClientIdentity, _ agent: RegisteredAgent) -> Need? {
        if client.tier == .claimed, needs.claimed { return .claimed }
        // What root says counts for the machine anyway.
        if client.tier.belongsToMachine, needs.services, agent.identity.user != 0 { return .machines }
        return nil
    }
}
