import CaptureBus
package import CaptureCore

extension AgentSummary: BusRecord {
    /// What `ListAgents` tells.
    package static let fields: [BusField<AgentSummary>] = [
        BusField("user", \.user), BusField("uid", \.userID), BusField("program", \.program, isRequired: true),
        BusField("name", \.name), BusField("tier", \.tier), BusField("pid", \.processID),
        BusField("session", \.session, none: .string("")), BusField("kind", \.kind), BusField("inline", \.isInline),
    ]
}
