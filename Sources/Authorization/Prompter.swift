public import CaptureCore

/// What a person is asked: one dialog with a row for each service.
public struct PromptRequest: Hashable, Sendable {
    /// Who asks.
    public var client: ClientIdentity
    /// The program's name for people, neutralized: its claim, unless the tier says more.
    public var name: String
    /// What is asked for, the camera first.
    public var services: [Service]
    /// Why, in the program's own words, neutralized; one for each service, but for a program that came through a bridge.
    public var reasons: [Service: String]
    /// How a program came that gives no reason.
    public var bridge: Bridge?
    /// The login session to ask in, as the caller of `requestAccess` gave it.
    public var session: String
    /// When the gate stops waiting.
    public var deadline: ContinuousClock.Instant
    /// Noted by the prompter before it hands the question out.
    public let sight = PromptSight()
}

/// Whoever can put a question to the person at the machine.
///
/// Thread-safe: the gate asks about different programs at one time.
public protocol Prompter: Sendable {
    /// Asks, and waits for the answer.
    ///
    /// The task is cancelled when nobody waits for the answer any more or when time has run out: take the question
    /// away then, and throw. Note `request.sight` before anybody sees the question: where nobody did, that it came to
    /// nothing is not held against the program.
    ///
    /// - Returns: The answer to each service. One that is missing was not answered, and nothing comes of it, but adding to
    ///   the library needs none where reading it was allowed.
    /// - Throws: `dismissed` when the dialog was closed, `nobodyToAsk` when there is no agent or the agent died.
    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer]

    /// Why one of the person's own programs captures, if no file of the system's says it. The reason comes from files in
    /// the person's home, read by something that runs as the person, or from the program's own call. Asks nobody.
    ///
    /// - Parameters:
    ///   - client: The program, of tier `claimed`.
    ///   - services: What it wants.
    ///   - session: Its connection; empty for a program that is not there.
    /// - Returns: The reasons that there are, neutralized, and the bridge that it came through.
    func reasons(of client: ClientIdentity, for services: [Service], session: String) async -> UsageDescription

    /// Has the person confirm what a program that may is about to do; waits, is cancelled and throws as `ask` does.
    ///
    /// - Returns: Whether the person confirmed it.
    func confirm(_ request: Confirmation) async throws(CaptureError) -> Bool

    /// Has the person pick from the media library; waits, is cancelled and throws as `ask` does.
    ///
    /// - Returns: What was picked: perhaps nothing where that is an answer, as of an offer.
    func pick(_ question: PickQuestion) async throws(CaptureError) -> PickedAssets
}

extension Prompter {
    /// A prompter that cannot look finds no reason.
    public func reasons(
        of client: ClientIdentity,
        for services: [Service],
        session: String
    ) async -> UsageDescription { UsageDescription(reasons: [:]) }

    /// Nobody confirms anything where a prompter does not know how to have that done.
    public func confirm(_ request: Confirmation) async throws(CaptureError) -> Bool {
        throw CaptureError(.nobodyToAsk, "there is nobody to confirm it")
    }

    /// Nobody picks anything where a prompter does not know how to have that done.
    public func pick(_ question: PickQuestion) async throws(CaptureError) -> PickedAssets {
        throw CaptureError(.nobodyToAsk, "there is nobody to pick anything")
    }
}
