public import Authorization
public import CaptureCore

/// A person made of a closure.
public struct ClosurePrompter: Prompter {
    private let answer: @Sendable (PromptRequest) async throws(CaptureError) -> [Service: Bool]

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
