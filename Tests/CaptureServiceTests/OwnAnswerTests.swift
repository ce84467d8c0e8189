import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

/// A program never answers its own request.
@Suite(.timeLimit(.minutes(10)))
struct `A request` {
    private let bus: PrivateBus
    private let daemon: BusConnection
    private let agents: AgentRegistry
    /// The command line that the registry knows: any file of ours does.
    private let commandLine: ExecutableFile
    private let processes: FakeProcesses

    init() async throws {
        bus = try PrivateBus()
        daemon = try await BusConnection.open(bus.kind)
        commandLine = try #require(ExecutableFile.inspect(Self.ownProgram))
        processes = try FakeProcesses()
        // The agent that runs on a terminal, in most of what follows.
        try processes.add(12, terminal: 5)
        agents = AgentRegistry(
            bus: daemon,
            commandLine: ShippedProgram(path: Self.ownProgram, root: SystemRoot(ofProcessOne: false)),
            drivers: TerminalDrivers(processes: processes.folder),
            logins: LoginSessions(
                user: { ["c2": 1000, "7": 1000][$0] },
                display: { $0 == 1000 ? "c2" : nil },
                active: { nil }
            )
        )
    }

    private static let ownProgram = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    private static let tool = ExecutableFile(
        path: "/home/me/tool",
        device: 1,
        inode: 20,
        changed: 5,
        isProtected: false
    )
    private static let other = ExecutableFile(path: "/usr/bin/panel", device: 1, inode: 30, isProtected: true)

    private func identity(
        _ file: ExecutableFile,
        program: String? = nil,
        user: UInt32 = 1000,
        pid: Int32,
        session: String = "c2"
    ) -> ClientIdentity {
        ClientIdentity(
            program: program ?? "exe:\(file.path)",
            tier: .claimed,
            user: user,
            name: "tool",
            detail: "a test",
            executable: file,
            pid: pid,
            parts: IdentityParts(session: session)
        )
    }

    @Test func `is not answered by a child of the program that asks`() async throws {
        let child = try await YesAgent(bus, agents, as: identity(Self.tool, pid: 11))
        #expect(await code { try await agents.ask(for: identity(Self.tool, pid: 10)) } == .nobodyToAsk)
        #expect(child.timesAsked == 0)
    }

    @Test func `is not answered by the program's file in another scope, nor by another file in the program's`()
        async throws
    {
        let moved = try await YesAgent(bus, agents, as: identity(Self.tool, program: "app:other", pid: 11))
        let helper = try await YesAgent(bus, agents, as: identity(Self.other, program: "exe:/home/me/tool", pid: 12))
        #expect(await code { try await agents.ask(for: identity(Self.tool, pid: 10)) } == .nobodyToAsk)
        #expect(moved.timesAsked + helper.timesAsked == 0)
    }

    @Test func `is answered by another program, whatever the asking one registers`() async throws {
        let panel = try await YesAgent(bus, agents, as: identity(Self.other, pid: 12))
        let child = try await YesAgent(bus, agents, as: identity(Self.tool, pid: 11))
        #expect(try await agents.ask(for: identity(Self.tool, pid: 10)) == [.camera: true])
        #expect(panel.timesAsked == 1)
        #expect(child.timesAsked == 0)
    }

    @Test func `of one script is answered by another that the same interpreter runs`() async throws {
        let python = ExecutableFile(path: "/usr/bin/python3.11", device: 1, inode: 40, isProtected: true)
        let panel = try await YesAgent(bus, agents, as: identity(python, program: "app:panel", pid: 12))
        #expect(try await agents.ask(for: identity(python, program: "app:tool", pid: 10)) == [.camera: true])
        #expect(panel.timesAsked == 1)
    }

    @Test func `of a script is not answered by the command line that it starts, but by that of the person`()
        async throws
    {
        let script = ExecutableFile(path: "/home/me/gauge.py", device: 1, inode: 50, changed: 5, isProtected: false)
        let python = ExecutableFile(path: "/usr/bin/python3.11", device: 1, inode: 40, isProtected: true)
        var (asking, answering) = (identity(script, pid: 10), identity(script, pid: 12))
        (asking.interpreter, answering.interpreter) = (python, commandLine)
        let own = try await YesAgent(bus, agents, as: answering)
        #expect(await code { try await agents.ask(for: asking) } == .nobodyToAsk)
        #expect(own.timesAsked == 0)
        let person = try await YesAgent(bus, agents, as: identity(commandLine, pid: 12))
        #expect(try await agents.ask(for: asking) == [.camera: true])
        #expect(person.timesAsked == 1)
    }

    @Test func `of the shipped command line is answered by its agent on another terminal`() async throws {
        let terminal = try await YesAgent(bus, agents, as: identity(commandLine, pid: 12))
        #expect(try await agents.ask(for: identity(commandLine, pid: 10)) == [.camera: true])
        #expect(terminal.timesAsked == 1)
    }

    @Test func `is not answered by the shipped agent on a terminal that the program itself holds`() async throws {
        let terminal = try await YesAgent(bus, agents, as: identity(commandLine, pid: 12))
        var file = try #require(ExecutableFile.inspect("/usr/bin/tail"))
        file.path = "/home/me/tool"
        try processes.add(40, runs: "/usr/bin/tail", holds: [5])
        #expect(await code { try await agents.ask(for: identity(file, pid: 10)) } == .nobodyToAsk)
        #expect(await agents.agent(for: identity(file, pid: 10), on: ":1.4711") == nil)
        #expect(terminal.timesAsked == 0)
        // Another program's question is that agent's as before.
        #expect(try await agents.ask(for: identity(Self.tool, pid: 11)) == [.camera: true])
    }

    @Test func `is not answered by the shipped agent of which nobody knows who holds its terminal`() async throws {
        let terminal = try await YesAgent(bus, agents, as: identity(commandLine, pid: 13))
        #expect(await code { try await agents.ask(for: identity(Self.tool, pid: 10)) } == .nobodyToAsk)
        #expect(terminal.timesAsked == 0)
    }

    @Test func `is not answered from another session of the same user`() async throws {
        let elsewhere = try await YesAgent(bus, agents, as: identity(Self.other, pid: 14, session: "7"))
        #expect(await code { try await agents.ask(for: identity(Self.tool, pid: 10)) } == .nobodyToAsk)
        #expect(elsewhere.timesAsked == 0)
    }

    @Test func `is answered in the display session, which programs below the user's service manager belong to`()
        async throws
    {
        let managed = try await YesAgent(bus, agents, as: identity(Self.other, pid: 14, session: ""))
        #expect(try await agents.ask(for: identity(Self.tool, pid: 10)) == [.camera: true])
        #expect(try await agents.ask(for: identity(Self.tool, pid: 10, session: "")) == [.camera: true])
        await #expect(throws: CaptureError.self) {
            try await agents.ask(for: identity(Self.tool, pid: 10, session: "7"))
        }
        #expect(managed.timesAsked == 2)
    }

    @Test func `is not answered by a copy of the command line, nor by another file under its name`() async throws {
        var copy = commandLine
        copy.path = "/home/me/capturectl"
        copy.inode += 1
        var impostor = commandLine
        impostor.inode += 1
        for file in [copy, impostor] {
            let child = try await YesAgent(bus, agents, as: identity(file, pid: 11))
            #expect(await code { try await agents.ask(for: identity(file, pid: 10)) } == .nobodyToAsk)
            #expect(child.timesAsked == 0)
        }
    }
}
