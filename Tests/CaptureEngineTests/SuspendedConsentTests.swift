import Authorization
import CaptureCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CaptureEngine

@Suite(.timeLimit(.minutes(10))) struct `The consent of a session that is interrupted` {
    private let bench = EngineBench()
    private let program = "exe:/usr/bin/tester"

    @Test func `ends it when it is withdrawn, though nothing is captured`() async throws {
        let id = try await bench.suspended()
        try await bench.gate.set(user: 1000, program: program, service: .camera, status: .denied)
        #expect(await bench.state(of: id)?.state == .failed)
        #expect(await bench.state(of: id)?.reason?.code == .denied)
    }

    @Test func `ends it when it is forgotten`() async throws {
        let id = try await bench.suspended()
        _ = try await bench.gate.reset(user: 1000, program: program, service: nil)
        #expect(await bench.state(of: id)?.state == .failed)
        #expect(await bench.state(of: id)?.reason?.code == .revoked)
    }

    @Test func `ends it when policy forbids it, told the file and line`() async throws {
        let id = try await bench.suspended()
        await bench.gate.setPolicy(try Policy(rules: "[Rule]\nService=camera\nDecision=restrict\n"))
        // A new policy waits only for deliveries, and there are none here.
        let end = await bench.watch.wait(id, for: .failed)
        #expect(end.reason?.code == .restricted)
        #expect(end.reason?.message.contains("a.conf:1") == true)
    }

    @Test func `of something else than what is off ends it, too`() async throws {
        let description = EngineBench.buffer.with("sounds", of: "microphone")
        let id = try await bench.suspended(description)
        try await bench.gate.set(user: 1000, program: program, service: .microphone, status: .denied)
        #expect(await bench.state(of: id)?.state == .failed)
        #expect(await bench.state(of: id)?.reason?.code == .denied)
    }

    @Test func `that is not there any more when it is to go on is asked of nobody`() async throws {
        let asked = Atomic<Int>(0)
        let bench = EngineBench { request in
            asked.add(1, ordering: .relaxed)
            return Dictionary(uniqueKeysWithValues: request.services.map { ($0, true) })
        }
        let id = try await bench.suspended()
        _ = try await bench.gate.reset(user: 1000, program: program, service: nil)
        try await bench.gate.setSwitch(.camera, isOn: true)
        await bench.engine.resume()
        let end = await bench.watch.wait(id, for: .running, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .revoked)
        #expect(asked.load(ordering: .relaxed) == 1)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `is another program's when the connection is`() async throws {
        let identity = EngineBench.client().identity
        let isOther = Flag()
        let client = SessionClient(identity: identity, connection: ":1.1") { () throws(CaptureError) in
            var now = identity
            if isOther.isUp { now.program = "exe:/usr/bin/thief" }
            return now
        }
        let id = try await bench.suspended(EngineBench.buffer, client)
        isOther.raise()
        try await bench.turn(.camera, on: true)
        let end = await bench.watch.wait(id, for: .running, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .notPermitted)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `given this time is there when it goes on, whichever session of the process ended meanwhile`()
        async throws
    {
        let bench = EngineBench(prompter: ThisTime())
        let (gate, engine, watch) = (bench.gate, bench.engine, bench.watch)
        let client = EngineBench.client()
        await gate.connected([client.identity], revision: 1)
        let reading = try await bench.running(EngineBench.buffer, client)
        let recording = try await bench.running(EngineBench.movie(), client)
        for id in [reading, recording] { #expect(await bench.state(of: id)?.state == .running) }
        try await gate.setSwitch(.camera, isOn: false)
        #expect(await watch.wait(recording, for: .interrupted, .failed).state == .interrupted)
        try await gate.setSwitch(.camera, isOn: true)
        await engine.resume()
        #expect(await watch.wait(reading, for: .running, .failed).state == .running)
        #expect(try await gate.status(.camera, for: client.identity) == .authorized)
        #expect(try await gate.status(.microphone, for: client.identity) == .notDetermined)
        try await gate.setSwitch(.camera, isOn: false)
        try await engine.stop(reading, client: client)
        _ = await watch.wait(reading, for: .stopped, .failed)
        #expect(try await gate.status(.camera, for: client.identity) == .notDetermined)
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isUp: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
}
