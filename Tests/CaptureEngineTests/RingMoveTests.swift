import Authorization
import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import CaptureEngine

/// What becomes of a ring that a program may have kept mapped.
@Suite(.timeLimit(.minutes(10))) struct RingMoveTests {
    private let other = EngineBench.client(":1.2", program: "other")

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

    /// How a client may leave a ring whose memory the driver still has.
    enum Leaving: CaseIterable { case stopping, disabling, removing }

    @Test(arguments: Leaving.allCases, [false, true])
    func
        `a consent that is withdrawn behind that takes from the driver what it has of the ring, until it has filled it`(
            leaving: Leaving,
            isFilled: Bool
        ) async throws
    {
        let bench = EngineBench()
        let client = EngineBench.client()
        let recording = try await bench.running(EngineBench.movie(), other)
        var second = EngineBench.buffer
        second.inputs[0].device = "fake:camera"
        let id = try await bench.running(leaving == .removing ? EngineBench.both : second, client)
        _ = try await bench.engine.openBuffer(id, output: "frames", client: client)
        switch leaving {
        case .stopping:
            try await bench.engine.stop(id, client: client)
            _ = await bench.watch.wait(id, for: .stopped, .failed)
        case .disabling: try await bench.engine.setEnabled(false, id, from: "camera", to: "frames", client: client)
        case .removing:
            let sound = SessionDescription.of("microphone", "sound")
            try await bench.engine.configure(id, sound, files: [:], client: client)
        }
        let moves = { bench.machine.log.filter { $0.hasPrefix("move fake:camera") } }
        #expect(moves() == ["move fake:camera"])
        // What is nothing to its program costs nobody a frame.
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/third", service: .camera, status: .denied)
        #expect(moves() == ["move fake:camera"])
        if isFilled, let ring = bench.rings.made.last(where: { $0.end == nil }) { ring.counters.published = 4 }
        try await bench.gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        #expect(moves().last == (isFilled ? "move fake:camera" : "move fake:camera at once"))
        #expect(await bench.engine.list(for: other).first { $0.id == recording }?.state == .running)
    }

    @Test func `a driver that does not answer keeps no other device from being taken away`() async throws {
        let bench = EngineBench()
        let third = EngineBench.client(":1.3", program: "third")
        _ = try await bench.running(EngineBench.movie(), other)
        let reading = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(reading, output: "frames", client: EngineBench.client())
        let hearing = try await bench.running(SessionDescription.of("microphone", "sound"), third)
        _ = try await bench.engine.openBuffer(hearing, output: "sound", client: third)
        try await bench.engine.stop(hearing, client: third)
        _ = await bench.watch.wait(hearing, for: .stopped, .failed)
        let (called, call) = AsyncStream<Void>.makeStream()
        let (answered, answer) = AsyncStream<Void>.makeStream()
        bench.machine.beforeMoves { device in
            guard device == FakeMachine.camera.id else { return }
            call.finish()
            for await _ in answered {}
        }
        let tester = "exe:/usr/bin/tester"
        async let first: Void = bench.gate.set(user: 1000, program: tester, service: .camera, status: .denied)
        for await _ in called {}
        let name = "exe:/usr/bin/third"
        async let second: Void = bench.gate.set(user: 1000, program: name, service: .microphone, status: .denied)
        await bench.machine.wait(for: "move fake:microphone at once")
        answer.finish()
        try await first
        try await second
    }

    @Test func `what a ring still gets while its source leaves it is counted`() async throws {
        let bench = EngineBench()
        let recording = try await bench.running(EngineBench.movie(), other)
        let reading = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(reading, output: "frames", client: EngineBench.client())
        let ring = try #require(bench.rings.made.first { $0.counters.published == 0 && $0.end == nil })
        ring.counters.published = 10
        bench.machine.beforeMoves { _ in ring.counters.published = 12 }
        try await bench.engine.stop(reading, client: EngineBench.client())
        _ = await bench.watch.wait(reading, for: .stopped, .failed)
        let counters = try await bench.engine.statistics(of: recording, client: other)
        #expect(counters.inputs["camera"]?.published == 12)
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
        // The camera delivers: each look finds more.
        ring.whenLooked { $0.published += 1 }
        let given = Task { try await bench.engine.openBuffer(joining, output: "frames", client: EngineBench.client()) }
        // For longer than one that is silent would be waited for.
        try await Task.sleep(for: .milliseconds(1500))
        #expect(!bench.machine.log.contains { $0.hasPrefix("move") })
        ring.whenLooked(nil)
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
        let sound = SessionDescription.of("microphone", "sound")
        let reading = try await bench.running(EngineBench.buffer.with("sound", of: "microphone"))
        _ = try await bench.engine.openBuffer(reading, output: "frames", client: EngineBench.client())
        try await bench.engine.configure(reading, sound, files: [:], client: EngineBench.client())
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera"])
        #expect(await bench.engine.list(for: EngineBench.client()).first { $0.id == reading }?.state == .running)
    }

    @Test func `a withdrawn consent does not wait for a change that waits for a disk`() async throws {
        let bench = EngineBench()
        _ = try await bench.running(EngineBench.movie(), other)
        let id = try await bench.running(EngineBench.both)
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
        let id = try await bench.running(EngineBench.both)
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
        // What it brought until it had moved counts, too.
        first.counters.published = 153
        shared.settle(first, atOnce: false)
        #expect(live.statistics.published == 73)
        // It has four slots in its hands.
        second.counters.published += 3
        #expect(shared.mayStillWrite(first) && shared.mayStillWrite(nil))
        second.counters.published += 1
        #expect(!shared.mayStillWrite(first) && !shared.mayStillWrite(nil))
        let third = FakeRing()
        _ = shared.go(into: third, atOnce: false)
        #expect(shared.mayStillWrite(second))
        _ = shared.go(into: FakeRing(), atOnce: true)
        shared.settle(third, atOnce: true)
        #expect(!shared.mayStillWrite(second) && !shared.mayStillWrite(third))
    }
}
