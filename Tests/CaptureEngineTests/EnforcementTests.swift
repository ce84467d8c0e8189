import Authorization
import CaptureCore
import CaptureEngine
import Foundation
import TestSupport
import Testing

/// The gate's promise: when a call returns, nothing is delivered any more on what it withdrew.
@Suite(.timeLimit(.minutes(10))) struct `When the gate returns` {
    private let bench = EngineBench()
    private let program = "exe:/usr/bin/tester"

    /// A camera that is as slow to close as a driver may be.
    private func running(_ description: SessionDescription = EngineBench.movie()) async throws -> UInt32 {
        let id = try await bench.running(description)
        #expect(bench.machine.openDevices.contains("fake:camera"))
        bench.machine.dawdle(.milliseconds(50))
        return id
    }

    private var restricting: Policy {
        get throws { try Policy(rules: "[Rule]\nService=camera\nDecision=restrict\n") }
    }

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

    @Test func `from a look at who is present, the devices are closed`() async throws {
        let doorman = Doorman()
        _ = try await running()
        await bench.gate.setPresence(doorman)
        doorman.leave("the session is locked")
        await bench.gate.presenceChanged()
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `from a policy, files are still being finished`() async throws {
        let id = try await running()
        bench.recorders.recorder("movie")?.isStubborn = true
        #expect(await bench.gate.setPolicy(try restricting) == 1)
        #expect(bench.machine.openDevices.isEmpty)
        #expect(await bench.state(of: id)?.state == .running)
        // The next reading of the policy does not wait for them either.
        #expect(await bench.gate.setPolicy(Policy()) == 0)
        bench.recorders.recorder("movie")?.kill()
        #expect(await bench.watch.wait(id, for: .failed, .stopped).reason?.code == .revoked)
    }

    @Test func `from a switch that does not wait for files, they are still being finished`() async throws {
        let id = try await running()
        bench.recorders.recorder("movie")?.isStubborn = true
        try await bench.gate.setSwitch(.camera, isOn: false, awaitingFiles: false)
        #expect(bench.machine.openDevices.isEmpty)
        #expect(await bench.state(of: id)?.state == .running)
        bench.recorders.recorder("movie")?.kill()
        #expect(await bench.watch.wait(id, for: .interrupted, .failed).reason?.code == .switchedOff)
    }

    @Test func `it has not waited for a change whose file is not finished`() async throws {
        let both = EngineBench.movie().with("sound", .sound, "wav", of: "microphone")
        let id = try await running(both)
        let sound = try #require(bench.recorders.recorder("sound"))
        sound.isStubborn = true
        let (engine, client) = (bench.engine, EngineBench.client())
        let change = Task { try await engine.configure(id, EngineBench.movie(), files: [:], client: client) }
        await sound.waitForStop()
        #expect(await bench.gate.setPolicy(try restricting) == 1)
        #expect(bench.machine.openDevices.isEmpty)
        sound.kill()
        _ = await change.result
        #expect(await bench.watch.wait(id, for: .failed, .stopped).reason?.code == .revoked)
    }

    @Test func `sessions whose device cannot go on have ended, and nobody waits for ever`() async throws {
        let other = EngineBench.client(":1.2", user: 1001, program: "other")
        let one = try await bench.running(EngineBench.buffer)
        let two = try await bench.running(EngineBench.buffer, other)
        _ = try await bench.engine.openBuffer(one, output: "frames", client: EngineBench.client())
        _ = try await bench.engine.openBuffer(two, output: "frames", client: other)
        bench.machine.failMoves(CaptureError(.inputOutput, "no memory is left"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bench.gate.reset(user: 1000, program: program, service: .camera) }
            group.addTask { try await bench.gate.reset(user: 1001, program: nil, service: .camera) }
            group.addTask { try await bench.gate.setSwitch(.camera, isOn: false) }
            try await group.waitForAll()
        }
        #expect(bench.machine.openDevices.isEmpty)
    }
}
