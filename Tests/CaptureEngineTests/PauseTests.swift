import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A session whose devices stand still` {
    private static let fault = CaptureError(.timedOut, "the bus does not answer")
    private let bench = EngineBench()

    private func session(_ id: UInt32) async -> SessionSnapshot? {
        await bench.engine.list(for: EngineBench.client()).first { $0.id == id }
    }

    @Test func `shows as suspended, keeps everything, and runs again`() async throws {
        let id = try await bench.running()
        let log = bench.machine.log
        await bench.engine.takeTurn { Self.fault }
        #expect(await bench.watch.wait(id, for: .suspended).reason == Self.fault)
        #expect(await session(id)?.state == .suspended)
        #expect(await session(id)?.reason == Self.fault)
        // Turning a switch on looks for suspended sessions to resume; this one never stopped.
        await bench.engine.resume()
        await bench.engine.takeTurn { Self.fault }
        await bench.engine.takeTurn { nil }
        #expect(await bench.watch.wait(id, for: .running).reason == nil)
        #expect(bench.machine.log == log)
        #expect(bench.rings.made.allSatisfy { $0.end == nil })
        try await bench.engine.stop(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .stopped, .failed, .interrupted).state == .stopped)
    }

    @Test func `is suspended at once if it starts meanwhile`() async throws {
        await bench.engine.takeTurn { Self.fault }
        let id = try await bench.create()
        #expect(await session(id)?.state == .configured)
        #expect(await session(id)?.reason == nil)
        try await bench.engine.start(id, client: EngineBench.client())
        #expect(await bench.watch.wait(id, for: .suspended, .failed).reason == Self.fault)
        await bench.engine.takeTurn { nil }
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
    }

    @Test func `ends if its consent is withdrawn meanwhile`() async throws {
        let id = try await bench.running()
        await bench.engine.takeTurn { Self.fault }
        let client = EngineBench.client().identity
        _ = try await bench.gate.set(user: client.user, program: client.program, service: .camera, status: .denied)
        let end = await bench.watch.wait(id, for: .failed, .stopped, .interrupted)
        #expect(end.state == .failed)
        #expect(end.reason?.code == .revoked)
        #expect(bench.machine.openDevices.isEmpty)
    }
}
