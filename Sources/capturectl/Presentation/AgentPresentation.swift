import CaptureKit

/// Agents, as lines and as JSON.
enum AgentPresentation {
    static func table(_ agents: [AgentSummary]) -> Table {
        var table = Table([
            "USER", .name("PROGRAM"), "KIND", "ASKS FOR", ">PID", .optional("SESSION"), .detail("TIER"),
            .detail("NAME"),
        ])
        for agent in agents {
            table.add([
                agent.user, agent.program, agent.kind, agent.isInline ? "itself" : "all", "\(agent.processID)",
                agent.session ?? "", agent.tier, agent.name,
            ])
        }
        return table
    }

    static func json(_ agent: AgentSummary) -> JSON {
        [
            "user": JSON(agent.user), "uid": .id(agent.userID), "program": JSON(agent.program),
            "name": JSON(agent.name), "tier": JSON(agent.tier), "pid": .id(agent.processID),
            "session": JSON(agent.session), "kind": JSON(agent.kind.isEmpty ? nil : agent.kind),
            "inline": JSON(agent.isInline),
        ]
    }
}
