import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

/// What becomes of the rings behind connections that are disabled.
@Suite(.timeLimit(.minutes(10))) struct `A disabled buffer` {
    private let bench = EngineBench()
    private let other = EngineBench.client(":1.2", program: "other")

    private func set(_ isEnabled: Bool, _ id: UInt32, _ output: String = "frames") async throws {
        try await bench.engine.setEnabled(isEnabled, id, from: "camera", to: output, client: EngineBench.client())
    }

    private func open(_ id: UInt32, _ output: String = "frames") async throws -> any OpenFile {
        try await bench.engine.openBuffer(id, output: output, client: EngineBench.client())
    }

    private func refusal(_ id: UInt32, _ output: String = "frames") async -> CaptureError? {
        await #expect(throws: CaptureError.self) { try await open(id, output) }
    }

    private var moves: Int { bench.machine.log.count { $0.hasPrefix("move") } }

    @Test func `is written no more, while whoever shares the camera goes on, and enabled it goes on in a new ring`()
        async throws
    {
        _ = try await bench.running(EngineBench.movie(), other)
        let id = try await bench.running(EngineBench.buffer)
        let before = try await open(id)
        let (log, made) = (bench.machine.log, bench.rings.made.count)
        try await set(false, id)
        #expect(moves == 1 && bench.recorders.recorder("movie")?.moves == 1)
        #expect(bench.watch.bufferMoves == 0)
        #expect(bench.rings.made.count == made + 1)
        let error = await refusal(id)
        #expect(error?.code == .wrongState && error?.message.contains("enable it") == true)
        let counters = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(counters.outputs["frames"]?.disabledInputs == ["camera"])
        // Once is enough.
        try await set(false, id)
        #expect(moves == 1)
        try await set(true, id)
        // The ring of meanwhile is left, too.
        #expect(moves == 2 && bench.watch.bufferMoves == 1 && bench.rings.made.count == made + 2)
        let after = try await open(id)
        #expect(after !== before && bench.rings.made.last?.handOut(isPatient: false) === after)
        #expect(moves == 2)
        #expect(bench.machine.log.filter { !$0.hasPrefix("move") } == log)
        #expect(try await bench.uses().allSatisfy(\.outcome.isEmpty))
    }

    @Test func `leaves the other buffers of its session theirs`() async throws {
        let description = EngineBench.buffer.with("second", of: "camera")
        let id = try await bench.running(description)
        _ = try await (open(id), open(id, "second"))
        try await set(false, id)
        // Told of the one that goes on, and no more of the other.
        #expect(moves == 1 && bench.watch.bufferMoves == 1)
        #expect(await refusal(id)?.code == .wrongState)
        let second = try await open(id, "second")
        try await set(true, id)
        #expect(moves == 2 && bench.watch.bufferMoves == 3)
        #expect(try await open(id) === open(id, "second"))
        #expect(try await open(id) !== second)
        try await set(false, id)
        try await set(false, id, "second")
        #expect(bench.watch.bufferMoves == 4)
        #expect(await refusal(id, "second")?.code == .wrongState)
    }

    @Test func `from the start is given no ring, and one with what comes later when it is enabled`() async throws {
        _ = try await bench.running(EngineBench.movie(), other)
        let id = try await bench.create(EngineBench.buffer)
        try await set(false, id)
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        #expect(await refusal(id)?.code == .wrongState)
        // Nothing was mapped that could be left.
        #expect(moves == 0)
        try await set(true, id)
        #expect(moves == 1 && bench.watch.bufferMoves == 1)
        #expect(try await open(id) === bench.rings.made.last?.handOut(isPatient: false))
    }

    @Test func `is not told of its camera after an interruption`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        _ = try await open(id)
        try await set(false, id)
        try await bench.gate.setSwitch(.camera, isOn: false)
        _ = await bench.watch.wait(id, for: .suspended, .failed)
        try await bench.gate.setSwitch(.camera, isOn: true)
        await bench.engine.resume()
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        #expect(bench.watch.bufferMoves == 0)
        #expect(await refusal(id)?.code == .wrongState)
        try await set(true, id)
        #expect(bench.watch.bufferMoves == 1)
        _ = try await open(id)
    }

    @Test func `whose camera cannot go on elsewhere is closed for everyone`() async throws {
        let recording = try await bench.running(EngineBench.movie(), other)
        let id = try await bench.running(EngineBench.buffer)
        _ = try await open(id)
        bench.machine.failMoves(CaptureError(.inputOutput, "no memory is left"))
        try await set(false, id)
        let end = await bench.watch.wait(recording, for: .interrupted, .failed, .stopped)
        #expect(end.reason?.message.contains("connection was disabled") == true)
    }
}
