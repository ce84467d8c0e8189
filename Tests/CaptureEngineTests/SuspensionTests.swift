import Authorization
import CaptureCore
import Synchronization
import TestSupport
import Testing

@testable import CaptureEngine

/// A camera's ring, under the switch.
extension EngineBench {
    /// A movie of camera and microphone, and the camera's ring beside it.
    static var both: SessionDescription { movie().with("frames", of: "camera") }

    /// A session whose client has its camera's ring, under a camera that was switched off.
    func suspended(_ description: SessionDescription = buffer, _ client: SessionClient = client()) async throws
        -> UInt32
    {
        let id = try await running(description, client)
        _ = try await engine.openBuffer(id, output: "frames", client: client)
        try await turn(.camera, on: false)
        return id
    }

    /// As the daemon does it.
    func turn(_ service: Service, on isOn: Bool) async throws {
        try await gate.setSwitch(service, isOn: isOn)
        if isOn { await engine.resume() }
    }

    func state(of id: UInt32) async -> SessionSnapshot? {
        await engine.list(for: Self.client()).first { $0.id == id }
    }

    func uses() async throws -> [HistoryEntry] {
        try await history.page(HistoryFilter(limit: 100)).filter { $0.kind == .use }.reversed()
    }
}

/// Who comes and goes.
final class Doorman: Presence {
    private let gone = Mutex<(why: String?, user: UInt32)>((nil, 1000))

    func absence(of client: ClientIdentity) async -> String? {
        gone.withLock { $0.user == client.user ? $0.why : nil }
    }

    /// A user leaves, or is back.
    func leave(_ why: String?, _ user: UInt32 = 1000) { gone.withLock { $0 = (why, user) } }
}

@Suite(.timeLimit(.minutes(10))) struct `A session that is interrupted` {
    private let bench = EngineBench()

    @Test func `has delivered its last when the switch has returned, and goes on in another ring when it is on`()
        async throws
    {
        let id = try await bench.suspended()
        #expect(bench.machine.openDevices.isEmpty)
        // Readers are told to wait for the next.
        #expect(bench.rings.made.map(\.end) == [.moved])
        let session = await bench.state(of: id)
        #expect(session?.state == .suspended)
        #expect(session?.state.isFinal == false)
        #expect(session?.reason?.code == .switchedOff)
        #expect(session?.reason?.message.contains("capturectl switch camera on") == true)
        #expect(try await bench.uses().map(\.outcome) == ["interrupted"])
        #expect(bench.watch.bufferMoves == 0)
        try await bench.turn(.camera, on: true)
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        #expect(await bench.state(of: id)?.reason == nil)
        #expect(bench.machine.openDevices == ["fake:camera"])
        #expect(bench.watch.bufferMoves == 1)
        let ring = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        #expect(ring === bench.rings.made[1].file)
        #expect(try await bench.uses().map(\.outcome) == ["interrupted", ""])
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `by its user's leaving goes on when they are back`() async throws {
        let doorman = Doorman()
        let id = try await bench.running(EngineBench.buffer)
        await bench.gate.setPresence(doorman)
        doorman.leave("the session is locked")
        await bench.gate.presenceChanged()
        #expect(await bench.watch.wait(id, for: .suspended, .failed).state == .suspended)
        #expect(await bench.state(of: id)?.reason == CaptureError(.userAway, "the session is locked"))
        #expect(bench.machine.openDevices.isEmpty)
        await bench.engine.resume()
        doorman.leave(nil)
        await bench.gate.presenceChanged()
        await bench.engine.resume()
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        #expect(bench.machine.openDevices == ["fake:camera"])
    }

    @Test func `has its files finished, and keeps its buffers and the counters of both`() async throws {
        let id = try await bench.running(EngineBench.both)
        _ = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        bench.rings.made[0].counters.published = 5
        var counters = OutputStatistics()
        counters.frames = 7
        bench.recorders.recorder("movie")?.report(.progress(counters))
        try await bench.turn(.camera, on: false)
        await bench.watch.waitForOutput("movie")
        #expect(await bench.state(of: id)?.state == .suspended)
        #expect(bench.machine.openDevices.isEmpty)
        try await bench.turn(.camera, on: true)
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        // Nothing is made of the sound any more.
        #expect(bench.machine.openDevices == ["fake:camera"])
        bench.rings.made.last?.counters.published = 3
        let statistics = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(statistics.inputs["camera"]?.published == 8)
        #expect(statistics.inputs["microphone"] != nil)
        #expect(statistics.outputs.keys.sorted() == ["frames", "movie"])
        try await bench.addPhoto(to: id)
        #expect(bench.machine.openDevices == ["fake:camera"])
        // What makes something of it does open it.
        let sound = OutputDescription(name: "sound", kind: .sound, format: "wav")
        try await bench.engine.addOutput(
            id,
            sound,
            inputs: ["microphone"],
            file: FakeFile(),
            client: EngineBench.client()
        )
        #expect(bench.machine.openDevices == ["fake:camera", "fake:microphone"])
        try await bench.engine.configure(id, EngineBench.buffer, files: [:], client: EngineBench.client())
        #expect(bench.machine.openDevices == ["fake:camera"])
        #expect(await bench.state(of: id)?.state == .running)
        let left = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(left.inputs.keys.sorted() == ["camera"])
        #expect(left.inputs["camera"]?.published == 8)
    }

    @Test func `in what it needs no longer goes on at once`() async throws {
        let id = try await bench.running(EngineBench.both)
        try await bench.turn(.microphone, on: false)
        await bench.watch.waitForOutput("movie")
        #expect(await bench.watch.wait(id, for: .running, .failed, .interrupted).state == .running)
        #expect(bench.machine.openDevices == ["fake:camera"])
        #expect(try await bench.uses().count == 3)
    }

    @Test func `can be stopped, and opens nothing after that`() async throws {
        let id = try await bench.suspended()
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        try await bench.turn(.camera, on: true)
        #expect(await bench.state(of: id)?.state == .stopped)
        #expect(bench.machine.log.count { $0.hasPrefix("open") } == 1)
    }

    @Test(arguments: [true, false])
    func `ends when its client leaves, whom its buffers are for`(isAttached: Bool) async throws {
        var description = EngineBench.buffer
        description.isAttached = isAttached
        let id = try await bench.suspended(description)
        await bench.engine.clientGone(":1.1")
        let end = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(end.state == (isAttached ? .stopped : .failed))
        #expect(end.reason?.code == (isAttached ? nil : .unreachable))
    }

    @Test func `whose client has left already ends, since nobody reads its buffers`() async throws {
        let id = try await bench.running(EngineBench.both)
        await bench.engine.clientGone(":1.1")
        #expect(await bench.state(of: id)?.state == .running)
        try await bench.turn(.camera, on: false)
        let end = await bench.watch.wait(id, for: .interrupted, .failed, .stopped)
        #expect(end.state == .interrupted)
        #expect(end.reason?.code == .switchedOff)
    }

    @Test func `ends with the daemon`() async throws {
        let id = try await bench.suspended()
        await bench.engine.shutDown()
        #expect(await bench.state(of: id)?.state == .stopped)
        #expect(await bench.state(of: id)?.reason?.code == .unreachable)
    }

    @Test func `is not changed, started or read meanwhile, and is told why`() async throws {
        let id = try await bench.suspended()
        let client = EngineBench.client()
        let change = await #expect(throws: CaptureError.self) { try await bench.addPhoto(to: id) }
        #expect(change?.code == .wrongState)
        #expect(change?.message.contains("the camera is switched off") == true)
        #expect(await code { try await bench.engine.start(id, client: client) } == .wrongState)
        #expect(
            await code { _ = try await bench.engine.openBuffer(id, output: "frames", client: client) } == .wrongState
        )
    }

    @Test func `counts as one of its user's`() async throws {
        _ = try await bench.suspended()
        for _ in 1..<SessionTable.mostSessions { _ = try await bench.create() }
        #expect(await code { _ = try await bench.create() } == .busy)
    }

    @Test func `whose camera is gone when it is to go on ends so, whatever else is there`() async throws {
        let id = try await bench.suspended()
        var other = FakeMachine.camera
        other.id = DeviceID(rawValue: "fake:other")
        other.aliases = []
        bench.machine.plug([other, FakeMachine.microphone])
        try await bench.turn(.camera, on: true)
        let end = await bench.watch.wait(id, for: .running, .interrupted, .failed)
        #expect(end.state == .interrupted)
        #expect(end.reason?.code == .deviceLost)
        #expect(bench.machine.openDevices.isEmpty)
    }
}
