import BusSupport
import CaptureBus
import CaptureCore
import CaptureMessages
import Foundation
import Testing

@testable import CaptureService

/// Agents that a program asks the daemon for, on a real bus.
@Suite(.timeLimit(.minutes(10)))
final class `The list of agents` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "agent-list-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func listed(to caller: CountingAgent) async throws -> [AgentSummary] {
        try #require(try await caller.call("ListAgents").first?.records(of: AgentSummary.self))
    }

    private func register(_ agent: CountingAgent, _ options: [String: BusValue]) async throws {
        try await agent.call("RegisterAgent", "oa{sv}", [.objectPath(CountingAgent.path), .properties(options)])
    }

    @Test func `has each one with its program and its kind, until it is gone`() async throws {
        let scene = try await ConsentScene(on: bus, state: folder)
        let (first, second) = (try await CountingAgent(on: bus), try await CountingAgent(on: bus))
        #expect(try await listed(to: first).isEmpty)
        try await register(first, ["kind": .string("desktop")])
        try await register(second, [:])
        let agents = try await listed(to: first)
        #expect(agents.map(\.kind) == ["", "desktop"])
        let identity = try #require(ProgramIdentity(.properties(try await first.identity())))
        for agent in agents {
            #expect(agent.program == identity.program && agent.userID == getuid() && agent.user == identity.user)
            #expect(agent.processID == UInt32(getpid()) && !agent.isInline)
        }
        try await second.call("UnregisterAgent", "o", [.objectPath(CountingAgent.path)])
        #expect(try await listed(to: second).map(\.kind) == ["desktop"])
        await scene.stop()
    }

    @Test func `shows a kind as printable text, and refuses one that is no text`() async throws {
        let scene = try await ConsentScene(on: bus, state: folder)
        let agent = try await CountingAgent(on: bus)
        try await register(agent, ["kind": .string("desk\u{1b}[2J" + String(repeating: "x", count: 100))])
        let kind = try #require(try await listed(to: agent).first?.kind)
        #expect(kind.hasPrefix("desk") && kind.hasSuffix("x…") && !kind.contains("\u{1b}"), "\(kind)")
        #expect(kind.count == 32 + 1)
        #expect(await code { try await register(agent, ["kind": .uint32(1)]) } == .invalidArgument)
        await scene.stop()
    }
}

extension CountingAgent {
    fileprivate func identity() async throws -> [String: BusValue] {
        try await call("WhoAmI").first?.properties ?? [:]
    }
}
