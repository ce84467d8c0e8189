import Authorization
import CaptureCore
import TestSupport
import Testing

@testable import CaptureEngine

/// Two programs, or two tasks of one program, change a session at the same time.
@Suite(.timeLimit(.minutes(10))) struct `Changes of one session` {
    private let bench = EngineBench()

    private func add(
        _ name: String,
        to id: UInt32,
        _ client: SessionClient = EngineBench.client()
    ) async throws(CaptureError) {
        let output = OutputDescription(name: name, kind: .photo, format: "jpeg")
        try await bench.engine.addOutput(id, output, inputs: ["camera"], file: FakeFile(), client: client)
    }

    private func outputs(of id: UInt32) async -> [String] {
        let sessions = await bench.engine.list(for: EngineBench.client())
        return sessions.first { $0.id == id }?.description.outputs.map(\.name) ?? []
    }

    @Test func `that come at the same time leave each other's outputs alone`() async throws {
        let id = try await bench.running()
        let names = (1...15).map { "shot-\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names { group.addTask { try await add(name, to: id) } }
            try await group.waitForAll()
        }
        #expect(Set(await outputs(of: id)) == Set(names + ["movie"]))
        let statistics = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(Set(statistics.outputs.keys) == Set(names + ["movie"]))
    }

    /// What describes a session, and counts for it, is read by programs with a limit of its own.
    @Test func `that add one output after the other have the oldest finished one give way`() async throws {
        let id = try await bench.running()
        for number in 1..<SessionDescription.mostParts { try await add("shot-\(number)", to: id) }
        #expect(await code { try await add("shot-16", to: id) } == .busy)
        bench.recorders.recorder("shot-2")?.stop()
        while await outputs(of: id).contains("shot-2") {
            do throws(CaptureError) { try await add("shot-17", to: id) } catch { await Task.yield() }
        }
        let names = await outputs(of: id)
        #expect(names.count == SessionDescription.mostParts)
        #expect(names.last == "shot-17" && names.contains("shot-1") && names.contains("movie"))
        let statistics = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(Set(statistics.outputs.keys) == Set(names))
    }

    /// A session with a change under way, whose recorder does not begin its file.
    private func changing() async throws -> (id: UInt32, change: Task<Void, any Error>) {
        let id = try await bench.running()
        bench.recorders.hold("first")
        let change = Task { try await add("first", to: id) }
        await bench.recorders.waitForLaunch("first")
        return (id, change)
    }

    private func waiting(_ count: Int, for id: UInt32) async {
        while await bench.engine.waitingChanges(of: id) != count { try? await Task.sleep(for: .milliseconds(1)) }
    }

    private func begin(_ id: UInt32) { bench.recorders.recorder("first")?.report(.ready(OutputStatistics())) }

    @Test func `come one after the other, in order`() async throws {
        let (id, first) = try await changing()
        var later: [Task<Void, any Error>] = []
        for number in 1...5 {
            later.append(Task { try await add("later-\(number)", to: id) })
            await waiting(number, for: id)
        }
        #expect(await outputs(of: id) == ["movie"])
        begin(id)
        for task in [first] + later { try await task.value }
        #expect(await outputs(of: id) == ["movie", "first"] + (1...5).map { "later-\($0)" })
    }

    @Test func `that fail or are cancelled give the turn to the next one`() async throws {
        let (id, first) = try await changing()
        let cancelled = Task { try await add("cancelled", to: id) }
        await waiting(1, for: id)
        let wrong = Task { try await add("movie", to: id) }
        await waiting(2, for: id)
        let last = Task { try await add("last", to: id) }
        await waiting(3, for: id)
        cancelled.cancel()
        #expect(await code { try await cancelled.value } == .dismissed)
        begin(id)
        try await first.value
        #expect(await code { try await wrong.value } == .invalidArgument)
        try await last.value
        #expect(await outputs(of: id) == ["movie", "first", "last"])
    }

    @Test(arguments: [true, false])
    func `that wait are refused when the session ends or is interrupted`(ends: Bool) async throws {
        let (id, first) = try await changing()
        let second = Task { try await add("second", to: id) }
        await waiting(1, for: id)
        if ends {
            try await bench.engine.stop(id, client: EngineBench.client())
        } else {
            try await bench.gate.setSwitch(.camera, isOn: false)
        }
        let error = await #expect(throws: CaptureError.self) { try await second.value }
        #expect(error?.code == .wrongState)
        #expect(error?.message.contains("before this change began") == true)
        await #expect(throws: CaptureError.self) { try await first.value }
        _ = await bench.watch.wait(id, for: .stopped, .interrupted, .failed)
    }

    @Test func `that wait are refused when their program leaves`() async throws {
        let (id, first) = try await changing()
        let second = Task { try await add("second", to: id, EngineBench.client(":1.9")) }
        await waiting(1, for: id)
        await bench.engine.clientGone(":1.9")
        #expect(await code { try await second.value } == .unreachable)
        begin(id)
        try await first.value
    }

    @Test func `have a limit on how many wait`() async throws {
        let (id, first) = try await changing()
        let waiters = (0..<ChangeQueue.mostWaiting).map { number in Task { try await add("shot-\(number)", to: id) } }
        await waiting(ChangeQueue.mostWaiting, for: id)
        #expect(await code { try await add("more", to: id) } == .busy)
        begin(id)
        try await first.value
        for task in waiters { _ = await task.result }
        #expect(await outputs(of: id).count == SessionDescription.mostParts)
    }

    @Test func `keep a session whose files are all done while one waits`() async throws {
        let (id, first) = try await changing()
        let second = Task { try await add("second", to: id) }
        await waiting(1, for: id)
        bench.recorders.recorder("movie")?.stop()
        await bench.watch.waitForOutput("movie")
        begin(id)
        try await first.value
        try await second.value
        for name in ["first", "second"] { bench.recorders.recorder(name)?.stop() }
        #expect(await bench.watch.wait(id, for: .stopped, .failed).state == .stopped)
    }

    @Test func `that fail end a session whose files are all done`() async throws {
        let (id, first) = try await changing()
        bench.recorders.recorder("movie")?.stop()
        await bench.watch.waitForOutput("movie")
        bench.recorders.recorder("first")?.report(.failed(CaptureError(.inputOutput, "no room"), OutputStatistics()))
        await #expect(throws: CaptureError.self) { try await first.value }
        let end = await bench.watch.wait(id, for: .stopped, .failed)
        #expect(end.state == .stopped, "\(String(describing: end.reason))")
    }

    @Test func `are refused if the session starts meanwhile`() async throws {
        let id = try await bench.create()
        let once = Once()
        let (engine, client) = (bench.engine, EngineBench.client())
        bench.machine.whenLooked {
            guard once.take() else { return }
            do throws(CaptureError) { try await engine.start(id, client: client) } catch { Issue.record(error) }
        }
        #expect(
            await code { try await engine.configure(id, EngineBench.buffer, files: [:], client: client) } == .wrongState
        )
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        #expect(await outputs(of: id) == ["movie"])
    }
}

extension CaptureEngine {
    fileprivate func waitingChanges(of id: UInt32) -> Int { sessions[id]?.changes.waitingCount ?? 0 }
}
