import CaptureCore

/// Whose answers: one program of one user.
struct ProgramKey: Hashable {
    var user: UInt32
    var program: String
}

extension ProgramKey {
    /// The program that an answer is about.
    init(_ answer: StoredAnswer) {
        self.init(user: answer.user, program: answer.program)
    }
}

/// Which answer is waited for: one program of one user, told apart by its file where the id does not say enough.
struct AnswerKey: Hashable {
    var user: UInt32
    var program: String
    var executable: ExecutableFile?

    init(_ client: ClientIdentity) {
        user = client.answerUser
        program = client.program
        executable = client.tier == .claimed ? client.executable : nil
    }

    /// The program, whichever its file.
    var programKey: ProgramKey { ProgramKey(user: user, program: program) }
}

/// A question that is with a person now, and everybody who waits for its answer.
struct OpenPrompt {
    /// How waiting ended.
    enum Outcome: Sendable {
        /// These were answered, and the answers are on disk, or settings have changed: look again.
        case decided(Set<Service>)
        /// Nothing was stored.
        case failed(CaptureError)
    }

    /// Somebody who waits.
    struct Waiter {
        var continuation: CheckedContinuation<Outcome, Never>
        var requester: Requester
    }

    /// Tells this question from an earlier or later one of the same program.
    var id: UInt64
    /// What is asked for.
    var services: Set<Service>
    /// Why, as it is shown to the person.
    var reasons: [Service: String]
    /// Whether a person may have seen it.
    var sight: PromptSight
    /// Ask the person, and give up in time.
    var tasks: [Task<Void, Never>]
    /// Who waits, by a number of the waiter's own.
    var waiters: [UInt64: Waiter] = [:]
    /// Whether an answer has come and is on its way to the disk.
    var isAnswered = false

    /// Whether it does not count among the questions that came to nothing.
    func isSettled(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .decided: true
        case .failed(let error): error.code == .switchedOff || (error.code == .nobodyToAsk && !sight.isNoted)
        }
    }
}
