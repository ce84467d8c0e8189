public import Authorization
public import CaptureCore
import Synchronization

/// A person made of a closure.
public struct ClosurePrompter: Prompter {
    private let answer: @Sendable (PromptRequest) async throws(CaptureError) -> [Service: Bool]

    /// A person who says yes to everything.
    public static let yes = ClosurePrompter { request in
        Dictionary(uniqueKeysWithValues: request.services.map { ($0, true) })
    }

    /// Answers what the closure answers.
    public init(_ answer: @escaping @Sendable (PromptRequest) async throws(CaptureError) -> [Service: Bool]) {
        self.answer = answer
    }

    /// Asks the closure.
    public func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] {
        try await answer(request).mapValues { PersonsAnswer($0) }
    }
}

/// The same reason for everything.
public struct FixedUsageDescriptions: UsageDescriptions {
    private let text: String

    /// Gives `text` for every program and service.
    public init(_ text: String) {
        self.text = text
    }

    /// The same text for each service.
    public func description(
        of client: ClientIdentity,
        for services: [Service]
    ) throws(CaptureError) -> UsageDescription {
        UsageDescription(reasons: Dictionary(uniqueKeysWithValues: services.map { ($0, text) }))
    }
}

/// Notices when grants of a gate are withdrawn. Thread-safe.
public final class WithdrawalWatch: GrantEnforcer {
    private let waiting = Mutex<[(grant: Grant, continuation: CheckedContinuation<Void, Never>)]>([])
    private let looks = Atomic<Int>(0)

    /// Watches a gate. Keep it: the gate does not.
    public init(_ gate: AuthorizationGate) {
        gate.enforced(by: self)
    }

    /// How often the gate has enforced something.
    public var count: Int { looks.load(ordering: .relaxed) }

    /// Resumes those who wait for a withdrawal.
    public func enforceWithdrawals() async -> [Task<Void, Never>] {
        looks.add(1, ordering: .relaxed)
        let ready = waiting.withLock { waiting in
            defer { waiting.removeAll { !$0.grant.isLive } }
            return waiting.filter { !$0.grant.isLive }
        }
        for one in ready { one.continuation.resume() }
        return []
    }

    /// Waits until a grant is withdrawn.
    public func end(of grant: Grant) async {
        await withCheckedContinuation { continuation in
            let isOver = waiting.withLock { waiting in
                if !grant.isLive { return true }
                waiting.append((grant, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
