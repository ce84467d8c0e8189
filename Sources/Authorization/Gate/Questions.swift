public import CaptureCore
import Logging

/// The questions that are with a person now, and those that count because they came to nothing. Part of the gate's state.
struct Questions {
    /// A question of which nothing is remembered.
    typealias Single = (key: ProgramKey, id: UInt64)

    private let now: @Sendable () -> AnswerTime
    private var open: [AnswerKey: OpenPrompt] = [:]
    private var book = PromptBook()
    /// The programs that the person is asked to confirm or to pick something for.
    private var single: Set<ProgramKey> = []
    private var lastNumber: UInt64 = 0
    /// How long a question stays; those that are open keep their time.
    var timeout: Duration

    init(timeout: Duration, now: @escaping @Sendable () -> AnswerTime) {
        self.timeout = timeout
        self.now = now
    }

    /// Changes how often a program may ask without an answer; what it asked before counts.
    mutating func setLimits(_ limits: PromptLimits) { book.limits = limits }

    /// The open question of a program.
    subscript(key: AnswerKey) -> OpenPrompt? { open[key] }

    /// The programs that wait for an answer, one for each request.
    var waiting: [ClientIdentity] { open.values.flatMap { $0.waiters.values.map(\.requester.client) } }

    /// A number that was never given before.
    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Why no question is put for a program now; `nil` when one would be.
    ///
    /// - Parameter key: By which its questions are counted; the program's own unless given.
    func refusal(_ client: ClientIdentity, _ key: ProgramKey? = nil) -> CaptureError? {
        guard let wait = book.wait(key ?? AnswerKey(client).programKey, at: now().sinceBoot) else { return nil }
        // Whole seconds, rounded up: who comes back then is not too early.
        let seconds = { (milliseconds: Int64) in "\((milliseconds + 999) / 1000) s" }
        let times = book.limits.burst == 1 ? "once" : "\(book.limits.burst) times"
        return CaptureError(
            .askedTooOften,
            "\(client.program) asked \(times) within \(seconds(book.limits.interval)) and got no answer, so captured "
                + "does not ask for it now; it may ask again in \(seconds(wait))"
        )
    }

    /// Counts a question that is about to be put.
    ///
    /// - Returns: Its number.
    /// - Throws: `askedTooOften` where several questions came to nothing just now.
    mutating func begin(for client: ClientIdentity) throws(CaptureError) -> UInt64 {
        if let refusal = refusal(client) { throw refusal }
        return count(AnswerKey(client).programKey)
    }

    private mutating func count(_ key: ProgramKey) -> UInt64 {
        let id = nextNumber()
        book.put(key, id, at: now().sinceBoot)
        return id
    }

    /// Takes in a question that was put.
    mutating func put(_ key: AnswerKey, _ prompt: OpenPrompt) { open[key] = prompt }

    /// Lets somebody wait for an answer.
    mutating func enter(_ key: AnswerKey, _ id: UInt64, _ number: UInt64, _ waiter: OpenPrompt.Waiter) {
        // Cancelled before it got here: `dismiss` has run, or will find nobody.
        guard !Task.isCancelled, open[key]?.id == id else {
            waiter.continuation.resume(returning: .failed(.requesterGone))
            abandonIfUnwanted(key, id)
            return
        }
        open[key]?.waiters[number] = waiter
    }

    /// Sends one who waits away; the question goes with the last.
    mutating func dismiss(_ key: AnswerKey, _ id: UInt64, _ number: UInt64, _ error: CaptureError) {
        guard open[key]?.id == id, let waiter = open[key]?.waiters.removeValue(forKey: number) else { return }
        waiter.continuation.resume(returning: .failed(error))
        abandonIfUnwanted(key, id)
    }

    /// Sends everybody away for whom there is an error.
    mutating func dismiss(_ error: (ClientIdentity) -> CaptureError?) {
        for (key, prompt) in open {
            for (number, waiter) in prompt.waiters {
                if let error = error(waiter.requester.client) { dismiss(key, prompt.id, number, error) }
            }
        }
    }

    /// Takes the question away when nobody waits for its answer. One that was answered goes on: the answer either has
    /// somebody who stands for it by now, or comes to nothing by itself.
    private mutating func abandonIfUnwanted(_ key: AnswerKey, _ id: UInt64) {
        guard let prompt = open[key], prompt.id == id, prompt.waiters.isEmpty, !prompt.isAnswered else { return }
        finish(key, id, .failed(.requesterGone))
    }

    /// Ends a question whose time is over, unless its answer is on the way to the disk.
    mutating func expire(_ key: AnswerKey, _ id: UInt64, _ error: CaptureError) {
        guard open[key]?.isAnswered == false else { return }
        finish(key, id, .failed(error))
    }

    /// Notes that an answer has come, which counts once.
    mutating func noteAnswer(_ key: AnswerKey) { open[key]?.isAnswered = true }

    /// Closes a question and tells everybody who waits.
    mutating func finish(_ key: AnswerKey, _ id: UInt64, _ outcome: OpenPrompt.Outcome) {
        guard let prompt = open[key], prompt.id == id else { return }
        log.debug("question \(id) ends for \(prompt.waiters.count) requests: \(outcome)")
        open[key] = nil
        note(key.programKey, id, isSettled: prompt.isSettled(outcome))
        for task in prompt.tasks { task.cancel() }
        for waiter in prompt.waiters.values { waiter.continuation.resume(returning: outcome) }
    }

    /// Closes the questions for which there is an outcome.
    mutating func finish(_ outcome: (AnswerKey, OpenPrompt) -> OpenPrompt.Outcome?) {
        for (key, prompt) in open {
            if let outcome = outcome(key, prompt) { finish(key, prompt.id, outcome) }
        }
    }

    /// Begins a question of which nothing is remembered, unless one of the program's stands or several came to nothing
    /// just now.
    ///
    /// - Parameter isOffer: Whether nobody asked for it: those stand and count by themselves, so that they keep no program
    ///   from what it asks for.
    mutating func beginSingle(by client: ClientIdentity, isOffer: Bool) throws(CaptureError) -> Single {
        var key = AnswerKey(client).programKey
        // No program's id begins so.
        if isOffer { key.program = "offer " + key.program }
        if let refusal = refusal(client, key) { throw refusal }
        guard single.insert(key).inserted else {
            throw CaptureError(
                .busy,
                "the person is already being asked to do something for \(client.program); wait for that"
            )
        }
        return (key, count(key))
    }

    /// Ends one.
    ///
    /// - Parameter isSettled: Whether it does not count among those that came to nothing.
    mutating func endSingle(_ question: Single, isSettled: Bool) {
        single.remove(question.key)
        note(question.key, question.id, isSettled: isSettled)
    }

    private mutating func note(_ key: ProgramKey, _ id: UInt64, isSettled: Bool) {
        if isSettled {
            book.forget(key, id)
        } else {
            book.cameToNothing(key, id, at: now().sinceBoot)
        }
    }

    /// Waits for the answer, and no longer than it may take.
    static func answer<Value: Sendable>(
        within time: Duration,
        _ ask: @escaping @Sendable () async throws(CaptureError) -> Value
    ) async -> Result<Value, CaptureError> {
        let asking = Task { await Result.of(ask) }
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
        if Task.isCancelled { return .failure(.requesterGone) }
        // A yes does not count if nobody waited any more when it came.
        guard await timing.value else { return answer }
        return .failure(CaptureError(.timedOut, "nobody answered within \(time), so nothing was done"))
    }
}

/// Who asks for something.
public struct Requester: Sendable {
    /// As it was when it asked.
    let client: ClientIdentity
    /// Its connection, handed through to the prompter.
    let session: String
    /// Identifies the same connection once more; a difference refuses.
    let again: @Sendable () async throws(CaptureError) -> ClientIdentity

    /// A program as it is now, its connection, and how to identify that once more.
    public init(
        client: ClientIdentity,
        session: String,
        again: @escaping @Sendable () async throws(CaptureError) -> ClientIdentity
    ) {
        (self.client, self.session, self.again) = (client, session, again)
    }

    /// Looks once more who is behind the connection.
    ///
    /// - Throws: `notPermitted` when that is somebody else, or cannot be told.
    nonisolated(nonsending) func confirm() async throws(CaptureError) {
        let later: ClientIdentity
        do throws(CaptureError) {
            later = try await again()
        } catch {
            throw CaptureError(.notPermitted, "the program that asked cannot be identified again: \(error.message)")
        }
        guard client.isUnchanged(in: later) else { throw CaptureError.requesterChanged }
    }
}

extension CaptureError {
    static let requesterGone = CaptureError(
        .dismissed,
        "the program that asked no longer waits: it was stopped or went away"
    )

    static let requesterChanged = CaptureError(
        .notPermitted,
        "the program that asked is no longer the one that was identified, so it is refused"
    )
}
