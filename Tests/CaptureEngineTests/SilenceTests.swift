import CaptureCore
import CaptureEngine
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A camera that delivers nothing usable` {
    private let bench = EngineBench()
    private let clock = TurnClock()
    private static let film = SessionDescription.of("camera", "movie", .movie, "mkv")

    /// Takes turns of the engine, 50 ms of its own time apart.
    ///
    /// - Parameters:
    ///   - seconds: For how long turns are taken.
    ///   - fault: Why devices stand still.
    ///   - work: What the camera does before each turn.
    /// - Returns: The session as it is then.
    private func turns(
        _ id: UInt32,
        seconds: Double,
        fault: CaptureError? = nil,
        _ work: (FakeRing) -> Void = { _ in }
    ) async -> SessionSnapshot? {
        for _ in 0..<Int(seconds * 20) {
            for ring in bench.rings.made { work(ring) }
            await bench.engine.takeTurn(at: clock.next()) { fault }
        }
        return await bench.engine.list(for: EngineBench.client()).first { $0.id == id }
    }

    /// How a session ended.
    private func end(of id: UInt32) async -> SessionSnapshot {
        await bench.watch.wait(id, for: .failed, .stopped, .interrupted)
    }

    @Test func `ends the recording after five seconds`() async throws {
        let id = try await bench.running(Self.film)
        // The first turn begins the time.
        #expect(await turns(id, seconds: 5)?.state == .running)
        _ = await turns(id, seconds: 0.05)
        let end = await end(of: id)
        #expect(end.state == .failed)
        #expect(end.reason?.code.exitCode == 74)
        #expect(end.reason?.message.hasPrefix("the camera delivers nothing") == true)
        #expect(bench.machine.openDevices.isEmpty)
    }

    @Test func `is told apart from one that delivers only damaged frames`() async throws {
        let id = try await bench.running(Self.film)
        _ = await turns(id, seconds: 6) { $0.counters.drops[DropCause.deviceError.rawValue] += 1 }
        let end = await end(of: id)
        #expect(end.state == .failed)
        #expect(end.reason?.code.exitCode == 74)
        #expect(end.reason?.message.hasPrefix("the camera delivers only damaged frames") == true)
    }

    @Test func `is suspended while its input has no signal, and its file goes on`() async throws {
        let id = try await bench.running(Self.film)
        let fault = CaptureError(.noSignal, "no signal")
        bench.machine.interrupt(FakeMachine.camera.id, fault)
        let meanwhile = await turns(id, seconds: 7)
        #expect(meanwhile?.state == .suspended)
        #expect(meanwhile?.reason == fault)
        bench.machine.interrupt(FakeMachine.camera.id, nil)
        #expect(await turns(id, seconds: 1)?.state == .running)
        #expect(bench.machine.openDevices == ["fake:camera"])
    }

    @Test func `is not one that delivers now and then, or whose devices stand still, or that nobody records`()
        async throws
    {
        let slow = try await bench.running(Self.film)
        #expect(await turns(slow, seconds: 7) { $0.counters.published += 1 }?.state == .running)
        let other = `A camera that delivers nothing usable`()
        let paused = try await other.bench.running(Self.film)
        let fault = CaptureError(.timedOut, "the bus does not answer")
        #expect(await other.turns(paused, seconds: 7, fault: fault)?.state == .suspended)
        let third = `A camera that delivers nothing usable`()
        let mapped = try await third.bench.running(EngineBench.buffer)
        #expect(await third.turns(mapped, seconds: 7)?.state == .running)
    }
}

/// The time of an engine's turns.
private final class TurnClock: Sendable {
    private let last = Mutex(SuspendingClock.now)

    /// 50 ms later than the time before.
    func next() -> SuspendingClock.Instant {
        last.withLock {
            $0 = $0.advanced(by: .milliseconds(50))
            return $0
        }
    }
}
