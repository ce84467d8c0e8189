import Authorization
import CaptureBus
import CaptureCore

/// Which agent is asked about a program.
extension AgentRegistry {
    /// Who would be asked about a program now: the agent of its connection, else the latest of its user and session.
    ///
    /// - Parameter connection: The program's; empty for one that is not there.
    func agent(for client: ClientIdentity, on connection: String) async -> RegisteredAgent? {
        var tried: Set<String> = []
        while let agent = nextAgent(for: client, on: connection, except: tried) {
            if await objection(to: agent, client) == nil { return agent }
            tried.insert(agent.connection)
        }
        return nil
    }

    /// Whom questions about a program are put to; `nil` where nobody sits at the machine.
    nonisolated func user(askedAbout client: ClientIdentity) -> UInt32? {
        client.tier.belongsToMachine ? activeUser() : client.user
    }

    func nextAgent(
        for client: ClientIdentity,
        on connection: String,
        except tried: Set<String>
    ) -> RegisteredAgent? {
        let open = agents.values.filter { !tried.contains($0.connection) }
        if let own = open.first(where: { $0.isInline && $0.connection == connection }) { return own }
        let user = user(askedAbout: client)
        return open.filter { agent in
            !agent.isInline && agent.identity.user == user && isInSession(agent, client)
                && agent.connection != connection && agent.identity.pid != client.pid && !answersItself(agent, client)
        }.max { $0.order < $1.order }
    }

    /// Whether an agent is in the login session of a program. What runs below the user's service manager is in the display
    /// session; services and dedicated users are in none, and asked of who sits at the machine.
    private func isInSession(_ agent: RegisteredAgent, _ client: ClientIdentity) -> Bool {
        if client.tier.belongsToMachine { return true }
        return session(of: agent.identity) == session(of: client)
    }

    private func session(of identity: ClientIdentity) -> String {
        identity.parts.session.isEmpty ? displaySession(identity.user) ?? "" : identity.parts.session
    }

    /// Why an agent may not be asked about a program, though it is the user's: a program types on its terminal, in place
    /// of a person. Only of the shipped command line can that be said; who writes an agent of its own needs no terminal.
    func objection(to agent: RegisteredAgent, _ client: ClientIdentity) async -> String? {
        guard commandLine.isRun(by: agent.identity) else { return nil }
        do throws(CaptureError) {
            if agent.isInline {
                let pid = agent.identity.pid
                let stranger = try await drivers.stranger(holdingTerminalOf: pid, below: commandLine.root)
                return stranger.map {
                    "\($0.path) (process \($0.pid)) holds the terminal that it runs on, and could be any program of yours; "
                        + "use a terminal of the system's, or the desktop's dialog"
                }
            }
            let own = try await drivers.drivers(of: agent.identity.pid).first { $0.isProgram(of: client) }
            return own.map { "that program (process \($0.pid)) holds the terminal that it runs on, or started it" }
        } catch {
            return "who holds its terminal cannot be told: \(error.message)"
        }
    }

    /// Whether an agent would answer its own program's request, in whichever process: nobody who forks may say yes to
    /// its parent.
    ///
    /// The shipped command line is left out, since what it is answered is typed by a person at a terminal: `capturectl
    /// agent` in one answers for `capturectl record` in another.
    private func answersItself(_ agent: RegisteredAgent, _ client: ClientIdentity) -> Bool {
        agent.identity.isSameProgram(as: client) && !commandLine.isRun(by: agent.identity)
    }
}
