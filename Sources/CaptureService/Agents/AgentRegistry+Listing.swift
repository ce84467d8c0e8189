import Authorization
import CaptureCore
import CaptureEngine

/// Which agents there are, for people who wonder who asks.
extension AgentRegistry {
    /// The agents that a caller may see, the latest first: its user's, and for root all. A program in a sandbox sees its
    /// own alone, and cannot be one.
    func agents(seenBy client: ClientIdentity) -> [RegisteredAgent] {
        agents.values.filter { client.mayControl($0.identity.program, of: $0.identity.user) }
            .sorted { $0.order > $1.order }
    }
}

extension AgentSummary {
    /// What is told of an agent, with its user's name as far as that is known now.
    init(_ agent: RegisteredAgent) {
        self.init()
        let identity = agent.identity
        user = Users.name(of: identity.user)
        userID = identity.user
        program = identity.program
        name = identity.name
        tier = identity.tier.rawValue
        processID = UInt32(clamping: identity.pid)
        session = identity.parts.session.isEmpty ? nil : identity.parts.session
        kind = agent.kind
        isInline = agent.isInline
    }
}
