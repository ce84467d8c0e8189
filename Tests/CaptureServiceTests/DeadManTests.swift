import BusSupport
import CaptureCore
import CaptureEngine
import CaptureSystem
import Testing

@testable import CaptureBus
@testable import CaptureService

/// Serialized, because each test holds a thread of the pool that all tests share.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Device threads stop when the control side does not prove itself` {
    /// A part of the control side.
    enum Part: String, CaseIterable, Sendable {
        case bus, gate, engine
    }

    /// Holds a part up; returns once it is held.
    private func hold(_ part: Part, of scene: DeadManScene) async throws -> Block {
        let block: Block
        switch part {
        case .bus:
            block = Block()
            block.arm()
            scene.connection.loop.post { _ in block.pass() }
        case .gate:
            block = scene.gateBlock
            block.arm()
            scene.knockAtGate()
        case .engine:
            block = scene.watch.block
            block.arm()
            scene.knockAtEngine()
        }
        try await until { block.since != nil }
        return block
    }

    @Test(arguments: Part.allCases)
    func `no byte of mapped memory changes once a part has been blocked for two seconds`(_ part: Part) async throws {
        let scene = try await DeadManScene()
        let (id, memory) = try await scene.stream()
        let block = try await hold(part, of: scene)
        let delays = Delays()
        // The two seconds of the requirement, and a moment for what a busy machine had begun before.
        try await Task.sleep(for: .milliseconds(2200))
        let begun = ContinuousClock.now
        var (later, change) = (memory.map(\.copy), Duration.zero)
        while ContinuousClock.now - begun < .seconds(3) {
            try await Task.sleep(for: .milliseconds(100))
            let now = memory.map(\.copy)
            if now != later { (later, change) = (now, ContinuousClock.now - begun) }
        }
        // A machine that was held up for longer than that moment ends later what it had begun.
        let delay = await delays.end()
        let isLate = delay > .milliseconds(200) && change < delay * 2
        #expect(change == .zero || isLate, "the memory changed \(change) after that; a delay was \(delay)")
        let held = block.open()
        #expect(held > .seconds(5))
        // It resumes by itself.
        for (one, last) in zip(memory, later) { try await until { one.copy != last } }
        try await until { await scene.session(id)?.state == .running }
        if part == .bus {
            // The gate and the engine can still report.
            let suspension = scene.watch.states.first { $0.state == .suspended }
            #expect(suspension?.reason?.code == .timedOut)
            #expect(scene.watch.states.last?.state == .running)
        }
        let lost = try await scene.statistics(of: id).inputs.mapValues { $0.drops["paused"] ?? 0 }
        #expect(lost["camera"] ?? 0 > 0)
        #expect(lost["microphone"] ?? 0 > 0)
        try await scene.stop(id)
    }

    @Test(arguments: Part.allCases)
    func `a part that is blocked for a second interrupts nothing`(_ part: Part) async throws {
        for attempt in 1... {
            let scene = try await DeadManScene()
            let (id, _) = try await scene.stream()
            let delays = Delays()
            let block = try await hold(part, of: scene)
            try await Task.sleep(for: .seconds(1))
            let held = block.open()
            // The first buffers after a pause would report it.
            try await Task.sleep(for: .seconds(1))
            let paused = try await scene.statistics(of: id).inputs.mapValues { $0.drops["paused"] ?? 0 }
            let isSuspended = scene.watch.states.contains { $0.state == .suspended }
            let most = max(held - .seconds(1), await delays.end())
            try await scene.stop(id)
            // Nothing was interrupted, however late the machine ran the others.
            if paused == ["camera": 0, "microphone": 0], !isSuspended { break }
            // A busy machine held the part up for longer, or ran the others too late. That says nothing about the
            // daemon.
            if most > .milliseconds(200), attempt < 40 { continue }
            try #require(most <= .milliseconds(200), "too busy a machine: in 40 attempts tasks always ran late")
            #expect(paused == ["camera": 0, "microphone": 0])
            #expect(!isSuspended)
            break
        }
    }
}
