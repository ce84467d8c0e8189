import Authorization
import CaptureCore
import TestSupport
import Testing

@testable import CaptureEngine

extension CaptureEngine {
    fileprivate func users(of device: DeviceID) async -> Int { await pool.users(of: device).count }

    /// Starts a session whose end has begun, before anything else happens.
    fileprivate func startWhileEnding(_ id: UInt32, client: SessionClient) throws(CaptureError) {
        _ = beginEnd(try sessions.find(id, for: client), as: .stopped, nil)
        try start(id, client: client)
    }
}

/// What comes at the wrong moment: each of these hung or failed for the wrong reason once.
@Suite(.timeLimit(.minutes(10))) struct `Two things at one time` {
    @Test(arguments: [true, false])
    func `a session that is stopped while an output is added to it ends`(isReady: Bool) async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.recorders.hold("shot")
        let adding = Task { try await bench.addPhoto(to: id) }
        await bench.recorders.waitForLaunch("shot")
        bench.recorders.recorder("shot")?.isStubborn = true
        if isReady { bench.recorders.recorder("shot")?.report(.ready(OutputStatistics())) }
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        // Added in time or refused: either way the camera is closed.
        _ = await adding.result
        #expect(bench.machine.log.contains("close fake:camera"))
    }

    @Test func `a session that is ending is not started, and asks nobody`() async throws {
        let bench = EngineBench()
        let id = try await bench.create(EngineBench.movie(named: "movie"))
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.startWhileEnding(id, client: EngineBench.client())
        }
        #expect(error?.code == .wrongState)
        #expect(error?.message == "session \(id) is ending; a session starts once")
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
    }

    @Test func `a consent is withdrawn while an output is added`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.recorders.hold("shot")
        let adding = Task { try await bench.addPhoto(to: id) }
        await bench.recorders.waitForLaunch("shot")
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        #expect(bench.machine.log.contains("close fake:camera"))
        await #expect(throws: CaptureError.self) { try await adding.value }
        #expect(await bench.watch.wait(id, for: .stopped, .failed).reason?.code == .revoked)
    }

    @Test func `a camera that is closing is opened anew for who waits for it`() async throws {
        let bench = EngineBench()
        bench.machine.dawdle(.milliseconds(20))
        var id = try await bench.running()
        for round in 0..<10 {
            let next = try await bench.create(EngineBench.movie(named: "movie-\(round)"))
            try await bench.engine.stop(id, client: EngineBench.client())
            try await bench.engine.start(next, client: EngineBench.client())
            #expect(await bench.watch.wait(next, for: .running, .failed).state == .running)
            id = next
        }
        await bench.engine.shutDown()
    }

    @Test func `sessions that start at one time share the opening and the start`() async throws {
        let bench = EngineBench()
        bench.machine.dawdle(.milliseconds(20))
        let ids = try await withThrowingTaskGroup(of: UInt32.self) { group in
            for number in 0..<8 {
                group.addTask { try await bench.running(EngineBench.movie(named: "movie-\(number)")) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let states = await bench.engine.list(for: EngineBench.client())
        #expect(states.allSatisfy { $0.state == .running }, "\(states)")
        #expect(ids.count == 8)
        #expect(bench.machine.log.count { $0 == "open fake:camera" } == 1)
        #expect(bench.machine.log.count { $0 == "start fake:camera" } == 1)
        await bench.engine.shutDown()
    }

    @Test func `a start that fails fails for all who wait for it`() async throws {
        let bench = EngineBench()
        bench.machine.dawdle(.milliseconds(20))
        bench.machine.failStarting(CaptureError(.inputOutput, "no bandwidth"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask { _ = try await bench.running(EngineBench.movie(named: "movie-\(number)")) }
            }
            try await group.waitForAll()
        }
        let states = await bench.engine.list(for: EngineBench.client())
        #expect(states.allSatisfy { $0.state == .failed && $0.reason?.code == .inputOutput }, "\(states)")
    }

    @Test func `a consent withdrawn while its camera opens fails no other session that waits for it`()
        async throws
    {
        let bench = EngineBench()
        let (first, second) = (EngineBench.client(), EngineBench.client(":1.2", user: 1001, program: "other"))
        let one = try await bench.create(EngineBench.buffer, first)
        let two = try await bench.create(EngineBench.buffer, second)
        let (engine, gate, watch) = (bench.engine, bench.gate, bench.watch)
        let once = Once()
        bench.machine.before { what in
            guard what == "open fake:camera", once.take() else { return }
            Task {
                try await engine.start(two, client: second)
            }
            _ = await watch.wait(two, for: .starting)
            while await engine.users(of: FakeMachine.camera.id) < 2 { try? await Task.sleep(for: .milliseconds(1)) }
            Task { try await gate.reset(user: 1000, program: nil, service: .camera) }
            while (try? await gate.status(.camera, for: first.identity)) != .notDetermined {
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        try await engine.start(one, client: first)
        #expect(await watch.wait(one, for: .running, .failed).reason?.code == .revoked)
        #expect(await watch.wait(two, for: .running, .failed).state == .running)
    }

    @Test func `a camera that goes away interrupts the session that is only starting too`() async throws {
        let bench = EngineBench()
        let first = try await bench.running()
        bench.recorders.hold("late")
        let second = try await bench.create(EngineBench.movie(named: "late"))
        try await bench.engine.start(second, client: EngineBench.client())
        await bench.recorders.waitForLaunch("late")
        bench.machine.unplug(FakeMachine.camera.id)
        for id in [first, second] {
            let end = await bench.watch.wait(id, for: .interrupted, .failed, .stopped, .running)
            let last = end.state == .running ? await bench.watch.wait(id, for: .interrupted, .failed, .stopped) : end
            #expect(last.state == .interrupted)
            #expect(last.reason?.code == .deviceLost)
        }
        // The next one opens it anew.
        let third = try await bench.running(EngineBench.movie(named: "third"))
        #expect(await bench.watch.wait(third, for: .running, .failed).state == .running)
    }
}
