import Authorization
import CaptureBus
import CaptureCore

/// Which agent is asked about a program.
extension AgentRegistry {
    /// Who would be asked about a program now: the agent of its connection, else the latest where its questions are put.
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

    func nextAgent(
        for client: ClientIdentity,
        on connection: String,
        isOfLibrary: Bool = false,
        except tried: Set<String>
    ) -> RegisteredAgent? {
        // Any program of the account can register an agent, which would see everything that is in the library, and say yes
        // to what it has the command line delete.
        let open = agents.values.filter {
            !tried.contains($0.connection) && (!isOfLibrary || commandLine.isRun(by: $0.identity))
        }
        if let own = open.first(where: { $0.isInline && $0.connection == connection }) { return own }
        guard let audience = logins.audience(for: client) else { return nil }
        return open.filter { agent in
            !agent.isInline && logins.isThere(agent.identity, of: audience)
                && agent.connection != connection && agent.identity.pid != client.pid && !answersItself(agent, client)
        }.max { $0.order < $1.order }
    }

    /// What is said where no agent can be asked about a program: where one was looked for.
    nonisolated func nobody(toAskAbout client: ClientIdentity, _ services: [Service]) -> CaptureError {
        guard let audience = logins.audience(for: client) else {
            return CaptureError(
                .nobodyToAsk,
                "there is nobody to ask: nobody sits at this machine; root can answer: capturectl auth set "
                    + services.map { "'\(client.program)' \($0.rawValue) …" }.joined(separator: ", ")
            )
        }
        let name = Users.name(of: audience.user)
        let seated = client.tier.belongsToMachine ? ", who sits at this machine" : ""
        let place =
            audience.session.map { " in session \($0) of \(name)\(seated): no agent but the program's own runs there" }
            ?? ": \(name)\(seated) is not logged in, and no agent but the program's own runs for that user"
        return CaptureError(.nobodyToAsk, "there is nobody to ask\(place); start one with 'capturectl agent'")
    }

    /// Why an agent may not be asked about a program, though it is the user's: a program types on its terminal, in place
    /// of a person. Only of the shipped command line can that be said; who writes an agent of its own needs no terminal.
    func objection(to agent: RegisteredAgent, _ client: ClientIdentity) async -> String? {
        guard commandLine.isRun(by: agent.identity) else { return nil }
        do throws(CaptureError) {
            let pid = agent.identity.pid
            if let stranger = try await drivers.stranger(holdingTerminalOf: pid, below: commandLine.root) {
                let path = stranger.path.isEmpty ? "an unknown program" : stranger.path
                return "its terminal is run by \(path) (process \(stranger.pid)), which could be any program of "
                    + "yours; use a terminal program that root installed, or the desktop's dialog"
            }
            if agent.isInline { return nil }
            let own = try await drivers.drivers(of: pid).first { $0.isProgram(of: client) }
            return own.map { "its terminal is run by that program (process \($0.pid)), or was started by it" }
        } catch {
            return "cannot tell who holds its terminal: \(error.message)"
        }
    }

    /// Whether an agent would answer its own program's request, in whichever process: nobody who forks may say yes to
    /// its parent.
    ///
    /// The shipped command line is left out, since what it is answered is typed by a person at a terminal: `capturectl
    /// agent` in one answers for `capturectl record` in another. A command line that a script started is not left out: it
    /// counts as the script, which may type there.
    private func answersItself(_ agent: RegisteredAgent, _ client: ClientIdentity) -> Bool {
        let isOfScript = agent.identity.interpreter != nil
        return agent.identity.isSameProgram(as: client) && (isOfScript || !commandLine.isRun(by: agent.identity))
    }
}
