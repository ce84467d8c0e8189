import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite struct `The life of a session` {
    @Test func `a yes opens the devices, streams them, and a stop closes them`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        #expect(
            bench.machine.log == [
                "open fake:camera", "open fake:microphone", "start fake:camera", "start fake:microphone",
            ] || bench.machine.log.prefix(2) == ["open fake:camera", "open fake:microphone"]
        )
        try await bench.engine.stop(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(end.state == .stopped)
        #expect(end.reason == nil)
        #expect(Set(bench.machine.log.suffix(2)) == ["close fake:camera", "close fake:microphone"])
    }

    @Test func `after a no nothing is ever opened`() async throws {
        let bench = EngineBench { request in
            Dictionary(uniqueKeysWithValues: request.services.map { ($0, $0 == .camera) })
        }
        let id = try await bench.create()
        try await bench.engine.start(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .running, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .denied)
        #expect(bench.machine.log.isEmpty)
    }

    @Test func `a buffer that is opened after a no is refused with that no`() async throws {
        let bench = EngineBench { request in
            Dictionary(uniqueKeysWithValues: request.services.map { ($0, false) })
        }
        let id = try await bench.create(EngineBench.buffer)
        try await bench.engine.start(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .running, .failed)
        let refusal = await #expect(throws: CaptureError.self) {
            try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        }
        #expect(refusal?.code == .denied)
        #expect(refusal == end.reason)
    }

    @Test func `who no longer has its connection alone when it starts opens nothing`() async throws {
        let bench = EngineBench()
        var client = EngineBench.client()
        client.identifyAtStart = { () throws(CaptureError) in
            throw CaptureError(.notPermitted, "process 7 (/bin/evil) has its connection, too")
        }
        let id = try await bench.create(EngineBench.movie(), client)
        try await bench.engine.start(id, client: client)
        let end = await bench.watch.wait(id, for: .running, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .notPermitted)
        #expect(bench.machine.log.isEmpty)
    }

    @Test func `a session that is stopped while a person is asked opens nothing`() async throws {
        let asked = AsyncStream<Void>.makeStream()
        let bench = EngineBench { _ throws(CaptureError) in
            asked.continuation.yield()
            do { try await Task.sleep(for: .seconds(600)) } catch {}
            throw CaptureError(.dismissed, "taken back")
        }
        let id = try await bench.create()
        try await bench.engine.start(id, client: EngineBench.client())
        for await _ in asked.stream { break }
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.log.isEmpty)
    }

    @Test func `two sessions share one camera, which closes with the last`() async throws {
        let bench = EngineBench()
        let first = try await bench.running()
        let second = try await bench.running(EngineBench.movie(named: "other"), EngineBench.client(":1.2"))
        #expect(bench.machine.log.count { $0 == "open fake:camera" } == 1)
        try await bench.engine.stop(first, client: EngineBench.client())
        _ = await bench.watch.wait(first, for: .stopped)
        #expect(!bench.machine.log.contains("close fake:camera"))
        try await bench.engine.stop(second, client: EngineBench.client(":1.2"))
        _ = await bench.watch.wait(second, for: .stopped)
        #expect(bench.machine.log.contains("close fake:camera"))
    }

    @Test func `another exact format on a camera in use is busy and names the one in use`() async throws {
        let bench = EngineBench()
        _ = try await bench.running()
        var other = EngineBench.movie(named: "other")
        other.inputs[0].video = VideoFormatRequest(width: 1920, height: 1080, isExact: true)
        let id = try await bench.running(other, EngineBench.client(":1.2"))
        let end = await bench.watch.wait(id, for: .failed)
        #expect(end.reason?.code == .busy)
        #expect(end.reason?.message.contains("640x480") == true)
    }

    @Test func `an unplugged camera interrupts its sessions and finishes their files`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.machine.unplug(FakeMachine.camera.id)
        let end = await bench.watch.wait(id, for: .interrupted, .failed, .stopped)
        #expect(end.state == .interrupted)
        #expect(end.reason?.code == .deviceLost)
        #expect(bench.machine.log.contains("close fake:microphone"))
    }

    @Test func `a file that is done before its device's end is heard of makes no stop of that`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.machine.finishRing(of: FakeMachine.camera.id)
        bench.recorders.recorder("movie")?.stop()
        await bench.watch.waitForOutput("movie")
        bench.machine.unplug(FakeMachine.camera.id)
        let end = await bench.watch.wait(id, for: .interrupted, .failed, .stopped)
        #expect(end.state == .interrupted)
        #expect(end.reason?.code == .deviceLost)
    }

    @Test func `who stops a session since its file ended with its device learns of the device`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.machine.unplug(FakeMachine.camera.id)
        // Ahead of what tells the engine.
        try await bench.engine.stop(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .interrupted, .failed, .stopped)
        #expect(end.state == .interrupted)
        #expect(end.reason?.code == .deviceLost)
    }

    @Test func `a lost recorder fails its session with that reason`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.recorders.recorder("movie")?.kill()
        let end = await bench.watch.wait(id, for: .interrupted, .failed, .stopped)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .recorderLost)
    }

    @Test func `one recorder's end leaves the other output alone`() async throws {
        let bench = EngineBench()
        let both = EngineBench.movie().with("sound", .sound, "wav", of: "microphone")
        let id = try await bench.running(both)
        bench.recorders.recorder("movie")?.kill()
        bench.recorders.recorder("sound")?.report(.progress(OutputStatistics()))
        try await bench.engine.stop(id, client: EngineBench.client())
        let end = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .recorderLost)
    }

    @Test func `outputs that finish by themselves stop the session`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.recorders.recorder("movie")?.stop()
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
    }

    @Test func `an attached session ends with its client and a detached one goes on`() async throws {
        let bench = EngineBench()
        let attached = try await bench.running(EngineBench.movie(attached: true))
        let detached = try await bench.running(EngineBench.movie(named: "other"))
        await bench.engine.clientGone(":1.1")
        #expect(await bench.watch.wait(attached, for: .stopped, .failed).state == .stopped)
        #expect(await bench.engine.list(for: EngineBench.client()).first { $0.id == detached }?.state == .running)
    }

    @Test(arguments: [false, true])
    func `a detached session ends with its client when nothing but buffers is left of it`(hasMovie: Bool) async throws {
        let bench = EngineBench()
        var description = EngineBench.buffer
        if hasMovie {
            description = EngineBench.movie()
            description.outputs += EngineBench.buffer.outputs
            description.connections += EngineBench.buffer.connections
        }
        let id = try await bench.running(description)
        await bench.engine.clientGone(":1.1")
        if hasMovie {
            #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
            bench.recorders.recorder("movie")?.stop()
        }
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `the sessions that ended last stay listed, of each user apart`() async throws {
        let bench = EngineBench()
        let (alice, bob) = (EngineBench.client(), EngineBench.client(":1.2", user: 1001))
        let first = try await bench.running(EngineBench.buffer, alice)
        func end(_ id: UInt32, _ client: SessionClient) async throws {
            try await bench.engine.stop(id, client: client)
            _ = await bench.watch.wait(id, for: .stopped, .failed)
        }
        for client in [alice, bob] {
            for _ in 0..<70 { try await end(bench.create(EngineBench.buffer, client), client) }
        }
        #expect(await bench.engine.list(for: alice).count == 65)
        #expect(await bench.engine.list(for: bob).count == 64)
        try await end(first, alice)
        let left = await bench.engine.list(for: alice)
        #expect(left.count == 64 && left.first?.id == first)
        #expect(try await bench.engine.statistics(of: first, client: alice).inputs["camera"] != nil)
    }

    @Test func `a client that left waits for nobody's answer any more, whatever its other sessions still write`()
        async throws
    {
        let asked = AsyncStream<Void>.makeStream()
        let bench = EngineBench { request throws(CaptureError) in
            if request.services == [.camera] { return [.camera: true] }
            asked.continuation.yield()
            do { try await Task.sleep(for: .seconds(600)) } catch {}
            throw CaptureError(.nobodyToAsk, "the agent went away")
        }
        var pictures = EngineBench.movie(named: "slow", attached: true)
        pictures.inputs.removeLast()
        pictures.connections.removeLast()
        let writing = try await bench.running(pictures)
        // Never reports an end by itself, as one on a slow disk.
        bench.recorders.recorder("slow")?.isStubborn = true
        let waiting = try await bench.create()
        try await bench.engine.start(waiting, client: EngineBench.client())
        for await _ in asked.stream { break }
        await bench.engine.clientGone(":1.1")
        let states = await bench.engine.list(for: EngineBench.client())
        #expect(states.first { $0.id == waiting }?.state == .failed)
        #expect(states.first { $0.id == waiting }?.reason?.code == .unreachable)
        #expect(states.first { $0.id == writing }?.state == .running)
        bench.recorders.recorder("slow")?.kill()
        _ = await bench.watch.wait(writing, for: .stopped, .failed)
    }

    @Test func `a withdrawn consent has ended the session when the withdrawal is through`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .microphone, status: .denied)
        let session = await bench.engine.list(for: EngineBench.client()).first { $0.id == id }
        #expect(session?.state == .failed)
        #expect(session?.reason?.code == .revoked)
        #expect(bench.machine.log.contains("close fake:camera"))
    }

    @Test func `a withdrawn consent leaves alone who shared a camera that was not seen`() async throws {
        let bench = EngineBench()
        let other = EngineBench.client(":1.2", program: "other")
        let recording = try await bench.running(EngineBench.movie(), other)
        let reading = try await bench.running(EngineBench.buffer)
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        #expect(await bench.watch.wait(reading, for: .failed, .stopped).reason?.code == .revoked)
        #expect(await bench.engine.list(for: other).first { $0.id == recording }?.state == .running)
        #expect(bench.recorders.recorder("movie")?.moves == 0)
    }

    @Test func `a camera is closed before a slow disk is waited for`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        bench.recorders.recorder("movie")?.isStubborn = true
        try await bench.engine.stop(id, client: EngineBench.client())
        await bench.machine.wait(for: "close fake:camera")
        #expect(await bench.engine.list(for: EngineBench.client()).first?.state == .running)
        bench.recorders.recorder("movie")?.kill()
        _ = await bench.watch.wait(id, for: .stopped, .failed)
    }

    @Test func `a shutdown finishes every file`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        await bench.engine.shutDown()
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.log.contains("close fake:camera"))
    }

    @Test func `a device that cannot be opened costs no recorder and leaves nothing behind`() async throws {
        let bench = EngineBench()
        bench.machine.failOpening(CaptureError(.busy, "in use"))
        let id = try await bench.create()
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).reason?.code == .busy)
        #expect(bench.recorders.started == 0)
        bench.machine.failOpening(nil)
        _ = try await bench.running(EngineBench.movie(named: "next"))
        #expect(bench.machine.log.contains("open fake:camera"))
    }
}

@Suite struct `Who may do what with a session` {
    @Test func `who is in a sandbox sees and stops only what is its own`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        var other = EngineBench.client(":1.9", program: "other")
        other.identity.program = "flatpak:org.example.Other"
        other.identity.tier = .sandboxed
        #expect(await bench.engine.list(for: other).isEmpty)
        #expect(await code { try await bench.engine.stop(id, client: other) } == .noSuchSession)
        await #expect(throws: CaptureError.self) { try await bench.engine.statistics(of: id, client: other) }
        // Another process of the very program may, and so may the user's own other programs.
        var same = other
        same.identity.program = EngineBench.client().identity.program
        #expect(await bench.engine.list(for: same).map(\.id) == [id])
        #expect(await bench.engine.list(for: EngineBench.client(":1.8", program: "panel")).map(\.id) == [id])
    }

    @Test func `another user neither sees nor stops it, and root does`() async throws {
        let bench = EngineBench()
        let id = try await bench.running()
        let stranger = EngineBench.client(":1.9", user: 1001)
        #expect(await bench.engine.list(for: stranger).isEmpty)
        await #expect(throws: CaptureError.self) { try await bench.engine.stop(id, client: stranger) }
        #expect(await bench.engine.list(for: EngineBench.client(":1.8", user: 0)).count == 1)
    }

    @Test func `a buffer is given to the connection that made the session alone`() async throws {
        let bench = EngineBench()
        let id = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        await #expect(throws: CaptureError.self) {
            try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client(":1.2"))
        }
    }
}
