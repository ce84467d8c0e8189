import Authorization
import CaptureCore
import Synchronization
import TestSupport
import Testing

@testable import CaptureEngine

/// What comes while a session is interrupted or goes on: no device may be left open for it.
@Suite(.timeLimit(.minutes(10))) struct `Going on, and something else at that time` {
    private let bench = EngineBench()

    /// A moment in a resumption.
    enum Moment: String, CaseIterable {
        case opening = "open fake:camera"
        case starting = "start"
    }

    /// Does something once at a moment of the next resumption, which goes on when the effect is there. The withdrawal
    /// waits for the resumption, so the resumption cannot wait for the withdrawal.
    private func at(
        _ moment: Moment,
        _ body: @escaping @Sendable () async throws(CaptureError) -> Void,
        until isDone: @escaping @Sendable () async -> Bool = { true }
    ) -> AsyncStream<Void> {
        let (done, told) = AsyncStream<Void>.makeStream()
        let once = Once()
        bench.machine.before { what in
            guard what == moment.rawValue, once.take() else { return }
            Task {
                do throws(CaptureError) { try await body() } catch { Issue.record(error) }
                told.finish()
            }
            while await !isDone() { try? await Task.sleep(for: .milliseconds(1)) }
        }
        return done
    }

    @Test(arguments: Moment.allCases)
    func `a switch that is turned off again interrupts it again`(moment: Moment) async throws {
        let id = try await bench.suspended()
        let gate = bench.gate
        let done = at(moment) { () throws(CaptureError) in
            try await gate.setSwitch(.camera, isOn: false)
        } until: {
            await gate.currentSwitches.isOff(.camera)
        }
        try await bench.turn(.camera, on: true)
        for await _ in done {}
        #expect(await bench.state(of: id)?.state == .suspended)
        #expect(bench.machine.openDevices.isEmpty)
        #expect(try await bench.uses().allSatisfy { !$0.outcome.isEmpty })
        #expect(bench.watch.bufferMoves == 0)
        try await bench.turn(.camera, on: true)
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        #expect(bench.machine.openDevices == ["fake:camera"])
    }

    @Test func `a switch that is turned off between the consent and the opening opens nothing`() async throws {
        let identity = EngineBench.client().identity
        let looks = Mutex<Int?>(nil)
        let gate = bench.gate
        let client = SessionClient(identity: identity, connection: ":1.1") { () throws(CaptureError) in
            let look = looks.withLock { count in
                count = count.map { $0 + 1 }
                return count
            }
            // The second look of a resumption, when the consent was given anew.
            if look == 2 {
                Task { try await gate.setSwitch(.camera, isOn: false) }
                while await !gate.currentSwitches.isOff(.camera) { try? await Task.sleep(for: .milliseconds(1)) }
            }
            return identity
        }
        let id = try await bench.suspended(EngineBench.buffer, client)
        looks.withLock { $0 = 0 }
        try await gate.setSwitch(.camera, isOn: true)
        await bench.engine.resume()
        while looks.withLock({ $0 ?? 0 }) < 2 { try? await Task.sleep(for: .milliseconds(1)) }
        try await gate.setSwitch(.camera, isOn: false)
        #expect(await bench.state(of: id)?.state == .suspended)
        #expect(bench.machine.log.count { $0.hasPrefix("open") } == 1)
        looks.withLock { $0 = nil }
        try await bench.turn(.camera, on: true)
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
    }

    @Test(arguments: Moment.allCases)
    func `a stop ends it`(moment: Moment) async throws {
        let id = try await bench.suspended()
        let engine = bench.engine
        let done = at(moment) { () throws(CaptureError) in try await engine.stop(id, client: EngineBench.client()) }
        try await bench.turn(.camera, on: true)
        for await _ in done {}
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.openDevices.isEmpty)
        #expect(try await bench.uses().allSatisfy { !$0.outcome.isEmpty })
    }

    @Test(arguments: Moment.allCases)
    func `a withdrawn consent ends it`(moment: Moment) async throws {
        let id = try await bench.suspended()
        let gate = bench.gate
        let done = at(moment) { () throws(CaptureError) in
            try await gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
        } until: {
            (try? await gate.status(.camera, for: EngineBench.client().identity)) == .denied
        }
        try await bench.turn(.camera, on: true)
        for await _ in done {}
        #expect(await bench.watch.wait(id, for: .stopped, .failed).reason?.code == .revoked)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `of two services that are off both have to be on`() async throws {
        let id = try await bench.running(twoBuffers)
        try await bench.turn(.camera, on: false)
        try await bench.turn(.microphone, on: false)
        try await bench.turn(.camera, on: true)
        let session = await bench.watch.wait(id, for: .suspended)
        #expect(session.state == .suspended)
        while await bench.state(of: id)?.reason?.message.contains("the microphone is switched off") != true {
            await Task.yield()
        }
        #expect(bench.machine.openDevices.isEmpty)
        try await bench.turn(.microphone, on: true)
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        #expect(bench.machine.openDevices.sorted() == ["fake:camera", "fake:microphone"])
        // The turn that tells of the state tells of the buffers, too, after it.
        #expect(await bench.state(of: id)?.state == .running)
        #expect(bench.watch.bufferMoves == 2)
    }

    @Test func `a switch that is on again while its files are being finished is not missed`() async throws {
        let id = try await bench.running(EngineBench.both)
        bench.recorders.recorder("movie")?.isStubborn = true
        let ending = Task { try await bench.gate.setSwitch(.camera, isOn: false) }
        await bench.machine.wait(for: "close fake:camera")
        try await bench.gate.setSwitch(.camera, isOn: true, awaitingFiles: false)
        await bench.engine.resume()
        bench.recorders.recorder("movie")?.kill()
        try await ending.value
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        #expect(bench.machine.openDevices == ["fake:camera"])
    }

    @Test func `an output that is added when the switch is turned is refused, and its session goes on later`()
        async throws
    {
        let id = try await bench.running(EngineBench.buffer)
        bench.recorders.hold("shot")
        let adding = Task { try await bench.addPhoto(to: id) }
        await bench.recorders.waitForLaunch("shot")
        try await bench.turn(.camera, on: false)
        await #expect(throws: CaptureError.self) { try await adding.value }
        #expect(await bench.state(of: id)?.state == .suspended)
        #expect(bench.machine.openDevices.isEmpty)
        try await bench.turn(.camera, on: true)
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
    }

    @Test func `a camera that another program uses on leaves the ring of who is interrupted`() async throws {
        let doorman = Doorman()
        let other = EngineBench.client(":1.2", user: 1001, program: "other")
        _ = try await bench.running(EngineBench.movie(), other)
        let id = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        doorman.leave("another user sits at the machine", 1000)
        await bench.gate.setPresence(doorman)
        #expect(await bench.watch.wait(id, for: .suspended, .failed).state == .suspended)
        #expect(bench.machine.log.filter { $0.hasPrefix("move") } == ["move fake:camera at once"])
        #expect(bench.recorders.recorder("movie")?.moves == 1)
        #expect(bench.watch.bufferMoves == 0)
        doorman.leave(nil)
        await bench.gate.presenceChanged()
        await bench.engine.resume()
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        #expect(bench.machine.log.count { $0 == "open fake:camera" } == 1)
    }

    // Which of the two lets go of the camera first is different each time.
    @Test(arguments: 0..<12)
    func `a ring that is shared with who ends by the same switch says that it goes on`(round: Int) async throws {
        let other = EngineBench.client(":1.2", user: 1001 + UInt32(round), program: "other")
        let pictures = SessionDescription.of("camera", "movie", .movie, "mkv")
        let recording = try await bench.running(pictures, other)
        let id = try await bench.running(EngineBench.buffer)
        let ring = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        try await bench.turn(.camera, on: false)
        _ = await bench.watch.wait(recording, for: .interrupted)
        #expect(bench.machine.openDevices.isEmpty)
        let given = bench.rings.made.first { $0.file === ring }
        #expect(given?.end == .moved)
        try await bench.turn(.camera, on: true)
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
    }

    private var twoBuffers: SessionDescription { EngineBench.buffer.with("sounds", of: "microphone") }
}

final class Once: Sendable {
    private let isFirst = Atomic<Bool>(true)
    func take() -> Bool { isFirst.exchange(false, ordering: .relaxed) }
}
