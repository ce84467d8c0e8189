import Authorization
import BusSupport
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages
import Foundation
import TestSupport
import Testing

@testable import CaptureService

/// The same reason for everybody.
private struct AnyUsage: UsageDescriptions {
    func description(of client: ClientIdentity, for services: [Service]) throws(CaptureError) -> UsageDescription {
        if client.program == "exe:/silent" { throw CaptureError(.missingUsageDescription, "it says nothing") }
        return UsageDescription(name: "Tool", reasons: [:])
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `An explanation` {
    private let bus: PrivateBus
    private let agents: AgentRegistry
    private let gate: AuthorizationGate
    private let explaining: Explaining

    private static let ownProgram = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""

    init() async throws {
        bus = try PrivateBus()
        let commandLine = ShippedProgram(path: Self.ownProgram, root: SystemRoot(ofProcessOne: false))
        agents = AgentRegistry(bus: try await BusConnection.open(bus.kind), commandLine: commandLine, logins: .none)
        gate = AuthorizationGate(usage: AnyUsage(), prompter: agents)
        explaining = Explaining(gate: gate, agents: agents, commandLine: commandLine)
    }

    private func client(_ path: String, user: UInt32 = 0, pid: Int32 = 10) -> ClientIdentity {
        ClientIdentity(
            program: "exe:\(path)",
            tier: .claimed,
            user: user,
            name: "tool",
            detail: "a test",
            executable: ExecutableFile(path: path, device: 1, inode: UInt64(path.utf8.count), isProtected: true),
            pid: pid
        )
    }

    private func explain(_ client: ClientIdentity, on connection: String = ":1.77") async throws -> [String: BusValue] {
        let caller = SessionClient(identity: client, connection: connection) { client }
        return try #require(await explaining.explain(caller, [.camera]).first).properties
    }

    @Test func `says that nobody is there to ask`() async throws {
        let found = try await explain(client("/tool"))
        #expect(found["start"]?.text == "refused")
        #expect(found["exit-code"]?.integer == 75)
        #expect(found["status"]?.text == "notDetermined")
        #expect(found["decides"]?.text == "nothing")
        #expect(found["message"]?.text?.contains("capturectl agent") == true)
    }

    @Test func `names whose agent would be asked, which is never the program's own`() async throws {
        try await agents.register(client("/tool", pid: 11), connection: ":1.5", path: "/agent", isInline: false)
        #expect(try await explain(client("/tool"))["exit-code"]?.integer == 75)
        try await agents.register(client("/panel", pid: 12), connection: ":1.6", path: "/agent", isInline: false)
        let found = try await explain(client("/tool"))
        #expect(found["start"]?.text == "asks")
        #expect(found["asks"]?.text == "root")
        #expect(found["message"]?.text == "root is asked whether Tool may use the camera, by the agent in process 12")
        #expect(try await explain(client("/tool", user: 1))["exit-code"]?.integer == 75)
    }

    @Test func `says which line is missing before it says whom it would ask`() async throws {
        let found = try await explain(client("/silent"))
        #expect(found["start"]?.text == "refused")
        #expect(found["exit-code"]?.integer == 78)
        #expect(found["message"]?.text == "it says nothing")
    }

    @Test func `knows that the shipped command line asks on its own terminal`() async throws {
        let file = try #require(ExecutableFile.inspect(Self.ownProgram))
        var own = client(Self.ownProgram)
        own.executable = file
        let found = try await explain(own)
        #expect(found["start"]?.text == "asks")
        #expect(found["message"]?.text?.contains("on the terminal that starts it") == true)
        let named = try await explaining.explain(own.program, user: 0, [.camera])
        #expect(named.first?.properties["start"]?.text == "asks")
    }

    @Test func `of a service says what serves a machine where nobody sits`() async throws {
        let found = try #require(try await explaining.explain("unit:doorbell.service", user: nil, [.camera]).first)
            .properties
        #expect(found["exit-code"]?.integer == 75)
        #expect(found["message"]?.text?.contains("auth set 'unit:doorbell.service' camera") == true)
        try await gate.set(user: 0, program: "unit:doorbell.service", service: .camera, status: .authorized)
        let after = try #require(try await explaining.explain("unit:doorbell.service", user: nil, [.camera]).first)
            .properties
        #expect(after["start"]?.text == "starts")
        #expect(after["decides"]?.text == "answer")
        #expect(after["reason"]?.text == "settings")
        #expect(after["exit-code"]?.integer == 0)
    }

    @Test func `names the file of the policy that cannot be understood`() async throws {
        let folder = NSTemporaryDirectory() + "explain-\(UUID().uuidString)"
        await gate.setPolicy(try Policy(rules: "[Rule]\nDecision=no\n", in: folder))
        let found = try await explain(client("/tool"))
        #expect(found["status"]?.text == "restricted")
        #expect(found["decides"]?.text == "policy")
        #expect(found["policy-source"]?.text == "\(folder)/policy.d/a.conf:2")
        #expect(found["policy-fault"]?.text?.contains("'no' is not a value for Decision=") == true)
        #expect(found["exit-code"]?.integer == 77)
    }
}
