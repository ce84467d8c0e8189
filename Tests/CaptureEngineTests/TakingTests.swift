import Authorization
import CaptureCore
import TestSupport
import Testing

@testable import CaptureEngine

/// A person who takes something until the test ends the question.
private struct HeldPrompter: Prompter {
    let ends: AsyncStream<Void>

    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] { [:] }

    func pick(_ question: PickQuestion) async throws(CaptureError) -> PickedAssets {
        for await _ in ends { break }
        return PickedAssets(["a"])
    }
}

/// A session by which an agent has a person take something for a program.
@Suite(.timeLimit(.minutes(10)))
struct `A session of taking` {
    private let ends = AsyncStream<Void>.makeStream()
    private let bench: EngineBench
    private let program = EngineBench.client(":1.5", program: "asker")

    init() { bench = EngineBench(prompter: HeldPrompter(ends: ends.stream)) }

    private func agent(_ taking: Taking?, _ connection: String = ":1.1") -> SessionClient {
        var agent = EngineBench.client(connection, program: "capturectl")
        agent.taking = taking
        return agent
    }

    /// The question, which stands when this returns.
    private func question(longest: Int = 0) async throws -> (taking: Taking, answer: Task<PickedAssets, any Error>) {
        let program = program
        let taking = try await bench.gate.taking(longest: longest, for: program.identity)
        let answer = Task { [gate = bench.gate] () async throws -> PickedAssets in
            try await gate.take(taking, "photo", by: program.requester)
        }
        while true {
            do throws(CaptureError) {
                _ = try await bench.gate.requestAccess([.camera], for: taking)
                return (taking, answer)
            } catch {
                await Task.yield()
            }
        }
    }

    @Test func `captures without anybody's consent, is the program's use, and ends with the question`() async throws {
        let (taking, answer) = try await question()
        let agent = agent(taking)
        let id = try await bench.engine.create(EngineBench.buffer, files: [:], client: agent)
        try await bench.engine.start(id, client: agent)
        #expect(await bench.watch.wait(id, for: .running, .failed).state == .running)
        let uses = try await bench.history.page(HistoryFilter(limit: 100)).filter { $0.kind == .use }
        #expect(uses.map(\.program) == ["exe:/usr/bin/asker"] && uses.map(\.cause) == ["taking"])
        ends.continuation.yield()
        #expect(try await answer.value == PickedAssets(["a"]))
        #expect(await bench.watch.wait(id, for: .failed, .stopped).state == .failed)
        await #expect(throws: CaptureError.self) {
            let late = try await bench.engine.create(EngineBench.buffer, files: [:], client: agent)
            try await bench.engine.start(late, client: agent)
            let state = await bench.watch.wait(late, for: .running, .failed)
            if let reason = state.reason { throw reason }
        }
    }

    @Test func `is changed by the agent's own connection alone, and saves what it takes for the program`() async throws
    {
        let (taking, answer) = try await question()
        let agent = agent(taking)
        let id = try await bench.engine.create(EngineBench.buffer, files: [:], client: agent)
        try await bench.engine.start(id, client: agent)
        _ = await bench.watch.wait(id, for: .running, .failed)
        // Another process of the command line has the same consent, and no part in this.
        await #expect(throws: CaptureError.self) {
            try await bench.engine.checkMayChange(id, client: self.agent(nil, ":1.2"))
        }
        let photo = PhotoSettings(library: LibraryDestination())
        _ = try await bench.engine.capturePhoto(id, output: "frames", photo, files: [:], client: self.agent(nil))
        #expect(bench.saver.log.contains { $0.hasPrefix("begin ") && $0.hasSuffix("for exe:/usr/bin/asker") })
        ends.continuation.yield()
        _ = try await answer.value
    }
}
