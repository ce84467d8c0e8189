import Authorization
import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import CaptureEngine

/// What becomes of a ring that a program may have kept mapped.
@Suite(.timeLimit(.minutes(10))) struct RingMoveTests {
    private let other = EngineBench.client(":1.2", program: "other")

    /// A movie, and the camera's ring beside it.
    private var both: SessionDescription {
        var description = EngineBench.movie()
        description.outputs += EngineBench.buffer.outputs
        description.connections += EngineBench.buffer.connections
        return description
    }

    @Test func `a withdrawn consent takes the ring from its program, and whoever shares the camera goes on in another`()
        async throws
    {
        let bench = EngineBench()
        let recording = try await bench.running(EngineBench.movie(), other)
        let reading = try await bench.running(EngineBench.buffer)
        let unseen = try await bench.running(EngineBench.buffer)
        let before = try await bench.engine.openBuffer(reading, output: "frames", client: EngineBench.client())
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera at once"])
        #expect(await bench.watch.wait(reading, for: .failed, .stopped).reason?.code == .revoked)
        #expect(await bench.watch.wait(unseen, for: .failed, .stopped).reason?.code == .revoked)
        #expect(await bench.engine.list(for: other).first { $0.id == recording }?.state == .running)
        #expect(bench.recorders.recorder("movie")?.moves == 1)
        let third = try await bench.running(EngineBench.buffer, other)
        let after = try await bench.engine.openBuffer(third, output: "frames", client: other)
        #expect(before !== after)
    }

    @Test(arguments: [true, false])
    func `readers of a ring are told whether the session was stopped or the consent withdrawn`(isWithdrawn: Bool)
        async throws
    {
        let bench = EngineBench()
        let id = try await bench.running(EngineBench.buffer)
        if isWithdrawn {
            try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        } else {
            try await bench.engine.stop(id, client: EngineBench.client())
        }
        _ = await bench.watch.wait(id, for: .failed, .stopped)
        #expect(bench.rings.made[0].end == (isWithdrawn ? .revoked : .stopped))
    }

    @Test func `what is switched off interrupts its sessions, and finishes their files`() async throws {
        let bench = EngineBench()
        let recording = try await bench.running()
        try await bench.gate.setSwitch(.camera, isOn: false)
        #expect(bench.machine.log.contains("close fake:camera"))
        let end = await bench.watch.wait(recording, for: .interrupted, .failed, .stopped)
        #expect(end.state == .interrupted)
        #expect(end.reason?.code == .switchedOff)
        let next = try await bench.running()
        #expect(await bench.watch.wait(next, for: .failed, .running).reason?.code == .switchedOff)
    }

    @Test func `a user who goes away interrupts sessions, and finishes their files`() async throws {
        struct Locked: Presence {
            func absence(of client: ClientIdentity) async -> String? { "the session is locked" }
        }
        let bench = EngineBench()
        let recording = try await bench.running()
        await bench.gate.setPresence(Locked())
        #expect(bench.machine.log.contains("close fake:camera"))
        let end = await bench.watch.wait(recording, for: .interrupted, .failed, .stopped)
        #expect(end.state == .interrupted)
        #expect(end.reason == CaptureError(.userAway, "the session is locked"))
    }

    @Test func `a session's end does, too, without haste`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        let reading = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(reading, output: "frames", client: EngineBench.client())
        let another = try await bench.running(EngineBench.buffer, other)
        _ = try await bench.engine.openBuffer(another, output: "frames", client: other)
        try await bench.engine.stop(reading, client: EngineBench.client())
        _ = await bench.watch.wait(reading, for: .stopped, .failed)
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
        #expect(bench.recorders.recorder("movie")?.moves == 1)
        #expect(bench.watch.bufferMoves == 1)
    }

    @Test func `a ring that another session of the program was given is left to it`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        var sessions: [UInt32] = []
        for _ in 0..<2 {
            let id = try await bench.running(EngineBench.buffer)
            _ = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
            sessions.append(id)
        }
        try await bench.engine.stop(sessions[0], client: EngineBench.client())
        _ = await bench.watch.wait(sessions[0], for: .stopped, .failed)
        #expect(!bench.machine.log.contains { $0.hasPrefix("move") })
        try await bench.engine.stop(sessions[1], client: EngineBench.client())
        _ = await bench.watch.wait(sessions[1], for: .stopped, .failed)
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
    }

    @Test func `another process of the program is not left in a ring whose consent was for a session`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        var second = EngineBench.client(":1.3")
        second.identity.pid = 4711
        let again = second.identity
        second.identifyAgain = { () throws(CaptureError) in again }
        second.identifyAtStart = second.identifyAgain
        var sessions: [UInt32] = []
        for client in [EngineBench.client(), second] {
            let id = try await bench.running(EngineBench.buffer, client)
            _ = try await bench.engine.openBuffer(id, output: "frames", client: client)
            sessions.append(id)
        }
        try await bench.engine.stop(sessions[0], client: EngineBench.client())
        _ = await bench.watch.wait(sessions[0], for: .stopped, .failed)
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
    }

    @Test func `who joins a camera that streams is given no ring that holds what came before, and nobody loses by it`()
        async throws
    {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        let first = try await bench.running(EngineBench.buffer, other)
        let held = try await bench.engine.openBuffer(first, output: "frames", client: other)
        #expect(!bench.machine.log.contains { $0.hasPrefix("move") })
        bench.rings.made[0].counters.published = 1
        let joining = try await bench.running(EngineBench.buffer)
        // Nothing is moved for who may never read.
        #expect(!bench.machine.log.contains { $0.hasPrefix("move") })
        let given = try await bench.engine.openBuffer(joining, output: "frames", client: EngineBench.client())
        #expect(given !== held)
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
        // Told to the reader that is there, to whom the ring goes on, and not to the one that has just been given it.
        #expect(bench.watch.bufferMoves == 1)
        #expect(bench.recorders.recorder("movie")?.moves == 1)
        // What was published since it joined is its own.
        bench.rings.made.last?.counters.published = 1
        let again = try await bench.engine.openBuffer(joining, output: "frames", client: EngineBench.client())
        #expect(again === given)
        #expect(try await bench.engine.openBuffer(first, output: "frames", client: other) === given)
    }

    @Test func `who joins a camera that lags waits for what is captured after that`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        let ring = bench.rings.made[0]
        (ring.counters.published, ring.counters.age) = (1, .max / 2)
        let joining = try await bench.running(EngineBench.buffer)
        let given = Task { try await bench.engine.openBuffer(joining, output: "frames", client: EngineBench.client()) }
        // The camera delivers, for longer than one that is silent would be waited for, on a thread of its own, as it does.
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                for _ in 0..<300 {
                    usleep(5000)
                    ring.counters.published += 1
                }
                done.resume()
            }
        }
        #expect(!bench.machine.log.contains { $0.hasPrefix("move") })
        ring.counters.age = 0
        #expect(try await given.value === bench.rings.made.last?.handOut(isPatient: false))
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
    }

    @Test func `who joins a camera that delivers nothing does not wait for it`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        (bench.rings.made[0].counters.published, bench.rings.made[0].counters.age) = (1, .max / 2)
        let joining = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(joining, output: "frames", client: EngineBench.client())
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
    }

    @Test func `who joins without memory for it is refused alone`() async throws {
        let bench = EngineBench()
        let recording = try await bench.running(EngineBench.movie(), other)
        bench.rings.made[0].counters.published = 1
        let joining = try await bench.running(EngineBench.buffer)
        bench.rings.refuse(CaptureError(.inputOutput, "no memory is left"))
        let error = await #expect(throws: CaptureError.self) {
            _ = try await bench.engine.openBuffer(joining, output: "frames", client: EngineBench.client())
        }
        #expect(error?.message == "no memory is left")
        #expect(await bench.engine.list(for: other).first { $0.id == recording }?.state == .running)
        #expect(!bench.machine.log.contains { $0.hasPrefix("move") })
    }

    @Test func `a camera that cannot go on elsewhere is given to nobody who joins`() async throws {
        let bench = EngineBench()
        let recording = try await bench.running(EngineBench.movie(), other)
        bench.rings.made[0].counters.published = 1
        let joining = try await bench.running(EngineBench.buffer)
        bench.machine.failMoves(CaptureError(.inputOutput, "no memory is left"))
        let error = await #expect(throws: CaptureError.self) {
            _ = try await bench.engine.openBuffer(joining, output: "frames", client: EngineBench.client())
        }
        #expect(error?.code == .wrongState)
        #expect(await bench.watch.wait(recording, for: .interrupted, .failed, .stopped).reason?.code == .busy)
    }

    @Test func `an input that is taken away leaves its ring, as the history tells of its end`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        let sound = SessionDescription(
            inputs: [InputDescription(name: "microphone", mediaType: .audio)],
            outputs: [OutputDescription(name: "sound", kind: .buffer, format: "")],
            connections: [ConnectionDescription(input: "microphone", output: "sound")],
            isAttached: false
        )
        var all = EngineBench.buffer
        all.inputs += sound.inputs
        all.outputs += sound.outputs
        all.connections += sound.connections
        let reading = try await bench.running(all)
        _ = try await bench.engine.openBuffer(reading, output: "frames", client: EngineBench.client())
        try await bench.engine.configure(reading, sound, files: [:], client: EngineBench.client())
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
        #expect(await bench.engine.list(for: EngineBench.client()).first { $0.id == reading }?.state == .running)
    }

    @Test func `a withdrawn consent does not wait for a change that waits for a disk`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        let id = try await bench.running(both)
        _ = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        let recorder = try #require(bench.recorders.recorder("movie"))
        recorder.isStubborn = true
        async let change: Void = bench.engine.configure(
            id,
            EngineBench.buffer,
            files: [:],
            client: EngineBench.client()
        )
        // The file is being finished, and is not.
        await recorder.waitForStop()
        async let end: Void = bench.gate.set(
            user: 1000,
            program: "exe:/usr/bin/tester",
            service: .camera,
            status: .denied
        )
        await bench.machine.wait(for: "move fake:camera at once")
        recorder.kill()
        _ = try? await change
        try await end
        #expect(await bench.watch.wait(id, for: .failed, .stopped).reason?.code == .revoked)
    }

    @Test func `a recorder is handed a ring once`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        let recorder = try #require(bench.recorders.recorder("movie"))
        let sound = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 2, periodFrames: 480)
        let source = FakeSource(FakeMachine.microphone.id, .audio(sound), FakeMachine())
        let shared = SharedSource(device: FakeMachine.microphone, source: source, ring: FakeRing())
        let live = LiveOutput(EngineBench.movie().outputs[0], recorder: recorder, feeds: [shared])
        live.launched(with: shared.ring, of: shared)
        live.go(on: shared)
        #expect(recorder.moves == 0)
        _ = shared.go(into: FakeRing(), atOnce: false)
        live.go(on: shared)
        live.go(on: shared)
        #expect(recorder.moves == 1)
    }

    @Test func `a session that is ending is given no ring any more`() async throws {
        let bench = EngineBench()
        let id = try await bench.running(both)
        bench.recorders.recorder("movie")?.isStubborn = true
        try await bench.engine.stop(id, client: EngineBench.client())
        await bench.machine.wait(for: "close fake:camera")
        let error = await #expect(throws: CaptureError.self) {
            _ = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        }
        #expect(error?.code == .wrongState)
        bench.recorders.recorder("movie")?.kill()
        _ = await bench.watch.wait(id, for: .stopped, .failed)
    }

    @Test func `a camera that cannot go on elsewhere is closed for everyone`() async throws {
        let bench = EngineBench()
        let recording = try await bench.running(EngineBench.movie(), other)
        let reading = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(reading, output: "frames", client: EngineBench.client())
        bench.machine.failMoves(CaptureError(.inputOutput, "no memory is left"))
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        #expect(bench.machine.log.contains("close fake:camera"))
        let end = await bench.watch.wait(recording, for: .interrupted, .failed, .stopped)
        #expect(end.state == .interrupted)
        #expect(end.reason?.code == .busy)
        #expect(end.reason?.message.contains("no memory is left") == true)
    }

    @Test func `the counters of all rings are one`() {
        let sound = AudioFormat(sampleFormat: .s16, sampleRate: 48000, channels: 2, periodFrames: 480)
        let source = FakeSource(FakeMachine.microphone.id, .audio(sound), FakeMachine())
        let (first, second) = (FakeRing(), FakeRing())
        first.counters.published = 100
        first.counters.drops[DropCause.noSlot.rawValue] = 3
        let shared = SharedSource(device: FakeMachine.microphone, source: source, ring: first)
        let live = LiveInput(shared)
        first.counters.published = 150
        #expect(shared.go(into: second, atOnce: false) === first)
        second.counters.published = 20
        second.counters.drops[DropCause.revocation.rawValue] = 2
        #expect(live.statistics.published == 70)
        #expect(live.statistics.drops == ["revocation": 2])
        #expect(shared.mayStillWrite(first))
        _ = shared.go(into: first, atOnce: true)
        #expect(!shared.mayStillWrite(first) && !shared.mayStillWrite(second))
    }
}
