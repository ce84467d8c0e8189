import Authorization
import CaptureBus
import CaptureCore

/// The password behind a yes for a claimed identity, which any program of the same account could have given.
struct AnswerPassword: Sendable {
    /// The polkit action.
    static let action = "org.capturekit.capture1.allow-claimed"

    let bus: BusConnection

    /// Has the person who answered type their own password, where there is a yes and the identity is only claimed.
    ///
    /// - Parameter agent: The connection that the answer came by: its user's password is meant.
    /// - Throws: `dismissed` when it was not given, `nobodyToAsk` when polkit does not answer: the answer does not count.
    func check(_ answers: [Service: PersonsAnswer], to request: PromptRequest, from agent: String)
        async throws(CaptureError)
    {
        guard request.client.tier == .claimed, answers.values.contains(where: \.isAllowed) else { return }
        let why = "a yes to \(request.client.program), which is only what it claims to be, takes your password here"
        let left = ContinuousClock.now.duration(to: request.deadline).components
        let isGiven: Bool
        do throws(CaptureError) {
            // Not past the question itself, which is taken back then.
            isGiven = try await Polkit(bus: bus).allows(
                Self.action,
                to: agent,
                timeout: Double(max(left.seconds, 0)) + 1
            )
        } catch {
            throw CaptureError(.nobodyToAsk, "\(why) (PasswordForClaimed=), and polkit could not ask for it: \(error)")
        }
        guard isGiven else {
            throw CaptureError(.dismissed, "\(why) (PasswordForClaimed=), and it was not given; nothing was stored")
        }
    }
}
