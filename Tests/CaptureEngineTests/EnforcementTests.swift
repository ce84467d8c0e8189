import Authorization
import CaptureCore
import CaptureEngine
import Foundation
import TestSupport
import Testing

/// What the gate promises when a call returns: nothing is delivered any more on what the call withdrew.
@Suite(.timeLimit(.minutes(10))) struct `When the gate returns` {
    private let bench = EngineBench()
    private let program = "exe:/usr/bin/tester"

    /// A camera that takes as long to close as a driver may.
    private func running(_ description: SessionDescription = EngineBench.movie()) async throws -> UInt32 {
        let id = try await bench.running(description)
        #expect(bench.machine.openDevices.contains("fake:camera"))
        bench.machine.dawdle(.milliseconds(50))
        return id
    }

    private func policy(_ text: String) throws -> Policy {
        let folder = NSTemporaryDirectory() + "policy-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/policy.d", withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/policy.d/a.conf"))
        return Policy(directories: [folder], ownedBy: nil, accounts: .unknown)
    }

    private var restricting: Policy { get throws { try policy("[Rule]\nService=camera\nDecision=restrict\n") } }

    @Test func `from a no in settings, the devices are closed`() async throws {
        _ = try await running()
        try await bench.gate.set(user: 1000, program: program, service: .camera, status: .denied)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `from a reset, the devices are closed`() async throws {
        _ = try await running()
        try await bench.gate.reset(user: 1000, program: program, service: .camera)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test(arguments: [EngineBench.movie(), EngineBench.buffer])
    func `from a switch, the devices are closed`(description: SessionDescription) async throws {
        _ = try await running(description)
        try await bench.gate.setSwitch(.camera, isOn: false)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `from a policy, the devices are closed`() async throws {
        _ = try await running()
        #expect(await bench.gate.setPolicy(try restricting) == 1)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `from a look who is there, the devices are closed`() async throws {
        let doorman = Doorman()
        _ = try await running()
        await bench.gate.setPresence(doorman)
        doorman.leave("the session is locked")
        await bench.gate.presenceChanged()
        #expect(bench.machine.openDevices.isEmpty)
    }
}
