import Authorization
import CaptureCore
import CaptureEngine
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An input that is given another format` {
    private let bench = EngineBench()

    private static func description(_ width: Int? = 1920, of base: SessionDescription = EngineBench.buffer)
        -> SessionDescription
    {
        var description = base
        let height = width.map { $0 * 9 / 16 }
        description.inputs[0].video = VideoFormatRequest(width: width, height: height, isExact: true)
        return description
    }

    private func configure(_ id: UInt32, _ description: SessionDescription = description()) async throws {
        try await bench.engine.configure(id, description, files: [:], client: EngineBench.client())
    }

    private func camera(_ id: UInt32) async throws -> InputStatistics? {
        try await bench.engine.statistics(of: id, client: EngineBench.client()).inputs["camera"]
    }

    @Test func `is closed and opened again, and its buffers and counters go on`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        _ = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        bench.rings.made[0].counters.published = 7
        try await configure(id)
        #expect(bench.machine.log == ["open", "start", "close", "open", "start"].map { "\($0) fake:camera" })
        #expect(bench.rings.made[0].end == .moved)
        #expect(bench.watch.bufferMoves == 1)
        bench.rings.made[1].counters.published = 5
        let counters = try #require(try await camera(id))
        #expect(counters.format.contains("1920x1080"))
        #expect(counters.published == 12)
        let file = try await bench.engine.openBuffer(id, output: "frames", client: EngineBench.client())
        #expect(file as? FakeFile === bench.rings.made[1].file as? FakeFile)
        // One use, from before to after.
        #expect(try await bench.uses().map(\.outcome) == [""])
        try await bench.engine.stop(id, client: EngineBench.client())
        _ = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(bench.machine.openDevices == [])
    }

    @Test func `has what was lost meanwhile counted`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        bench.machine.dawdle(.milliseconds(50))
        try await configure(id)
        // Closing and opening alone take a tenth of a second, and the camera has 30 frames a second.
        #expect(try await camera(id)?.drops["paused"] ?? 0 >= 3)
    }

    @Test func `stays if a file that it would feed comes with the change`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        let before = bench.machine.log
        let new = Self.description().with("movie", .movie, "mkv", of: "camera")
        let error = await #expect(throws: CaptureError.self) {
            try await bench.engine.configure(id, new, files: ["movie": FakeFile()], client: EngineBench.client())
        }
        #expect(error?.code == .invalidArgument)
        #expect(bench.machine.log == before && bench.watch.bufferMoves == 0)
        #expect(await bench.state(of: id)?.description == EngineBench.buffer)
        #expect(await bench.state(of: id)?.state == .running)
    }

    @Test func `stays while it feeds a file, or another session uses it`() async throws {
        let movie = try await bench.running(EngineBench.movie())
        let before = bench.machine.log
        let fed = await #expect(throws: CaptureError.self) {
            try await configure(movie, Self.description(of: EngineBench.movie()))
        }
        #expect(fed?.code == .invalidArgument)
        #expect(fed?.message.contains("'movie'") == true)
        let buffer = try await bench.running(EngineBench.buffer)
        #expect(await code { try await configure(buffer) } == .busy)
        #expect(bench.machine.log == before)
        #expect(await bench.state(of: buffer)?.description == EngineBench.buffer)
        #expect(await bench.state(of: buffer)?.state == .running)
        // Alone, it may.
        try await bench.engine.stop(movie, client: EngineBench.client())
        _ = await bench.watch.wait(movie, for: .stopped)
        try await configure(buffer)
        #expect(try await camera(buffer)?.format.contains("1920x1080") == true)
    }

    @Test func `has its former format back if it cannot have the other one`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        let refusal = CaptureError(.noSuchFormat, "no such size")
        let openings = Atomic(0)
        bench.machine.before { [machine = bench.machine] what in
            guard what.hasPrefix("open") else { return }
            machine.failOpening(openings.add(1, ordering: .relaxed).oldValue == 0 ? refusal : nil)
        }
        let error = await #expect(throws: CaptureError.self) { try await configure(id) }
        #expect(error == refusal)
        #expect(await bench.state(of: id)?.state == .running)
        #expect(await bench.state(of: id)?.description == EngineBench.buffer)
        #expect(try await camera(id)?.format.contains("640x480") == true)
        #expect(bench.machine.openDevices == ["fake:camera"])
        #expect(bench.watch.bufferMoves == 1)
    }

    @Test func `ends its session if it can have neither`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        bench.machine.failOpening(CaptureError(.inputOutput, "broken"))
        await #expect(throws: CaptureError.self) { try await configure(id) }
        let end = await bench.watch.wait(id, for: .failed, .stopped)
        #expect(end.state == .failed)
        #expect(end.reason?.message == "broken")
        #expect(bench.machine.openDevices == [])
    }

    @Test func `is closed with its session that is stopped meanwhile`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        bench.machine.before { [engine = bench.engine] what in
            if what.hasPrefix("open") { try? await engine.stop(id, client: EngineBench.client()) }
        }
        await #expect(throws: CaptureError.self) { try await configure(id) }
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
        #expect(bench.machine.openDevices == [])
    }

    @Test func `delivers nothing after a consent that is withdrawn meanwhile`() async throws {
        let id = try await bench.running(EngineBench.buffer)
        let (gate, rings) = (bench.gate, bench.rings)
        bench.machine.before { what in
            guard what.hasPrefix("open") else { return }
            // The withdrawal waits for the change, which waits for this.
            Task {
                try await gate.set(user: 1000, program: "exe:/usr/bin/tester", service: .camera, status: .denied)
            }
            let identity = EngineBench.client().identity
            while (try? await gate.status(.camera, for: identity)) != .denied {
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        await #expect(throws: CaptureError.self) { try await configure(id) }
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .failed)
        #expect(bench.machine.openDevices == [])
        #expect(rings.made.count == 1)
    }
}
