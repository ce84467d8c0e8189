import Authorization
import CaptureCore
import CaptureEngine
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `A session under a policy` {
    private let folder = NSTemporaryDirectory() + "policy-\(UUID().uuidString)"

    private func policy(_ text: String) throws -> Policy { try Policy(rules: text, in: folder) }

    @Test func `is ended by a new one that forbids it, and told the file and line`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        #expect(await bench.gate.setPolicy(try policy("[Rule]\nService=microphone\nDecision=restrict\n")) == 1)
        let session = await bench.watch.wait(id, for: .failed, .interrupted, .stopped)
        #expect(session.state == .failed)
        #expect(session.reason?.code == .revoked)
        #expect(session.reason?.code.exitCode == 77)
        #expect(session.reason?.message.contains("the consent for the microphone was withdrawn: ") == true)
        #expect(session.reason?.message.contains("\(folder)/policy.d/a.conf:1 says restrict") == true)
        #expect(bench.machine.log.contains("close fake:camera"))
    }

    @Test func `is not begun where one forbids it, and nothing is opened or asked`() async throws {
        let bench = EngineBench { _ throws(CaptureError) in throw CaptureError(.internalFault, "somebody was asked") }
        await bench.gate.setPolicy(try policy("[Rule]\nService=camera\nDecision=restrict\n"))
        let id = try await bench.running()
        let session = await bench.engine.list(for: EngineBench.client()).first { $0.id == id }
        #expect(session?.reason?.code == .restricted)
        #expect(bench.machine.log.isEmpty)
    }

    @Test func `goes on under one that forbids others alone`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        #expect(await bench.gate.setPolicy(try policy("[Rule]\nTier=service\nDecision=restrict\n")) == 0)
        #expect(await bench.engine.list(for: EngineBench.client()).first { $0.id == id }?.state == .running)
    }
}
