import Authorization
import BusSupport
import CaptureCore
import Foundation
import Testing

@testable import CaptureService

/// A thousand requests of one program on ten connections, over a real bus.
@Suite(.timeLimit(.minutes(10)), .serialized)
final class `A thousand requests of one program` {
    private let bus: PrivateBus
    private let folder = NSTemporaryDirectory() + "prompt-once-\(UUID().uuidString)"

    init() throws { bus = try PrivateBus() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// What they come to, when `end` has been done with the question that stands.
    private func crowd(
        _ scene: ConsentScene,
        end: () async throws -> Void
    ) async throws -> Set<RequestingClient.Outcome> {
        var clients: [RequestingClient] = []
        for _ in 0..<10 { clients.append(try await RequestingClient(on: bus)) }
        let numbers = try await withThrowingTaskGroup(of: (Int, Set<UInt32>).self) { group in
            for (index, client) in clients.enumerated() {
                group.addTask { (index, try await client.request(100)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(numbers.values.reduce(0) { $0 + $1.count } == 1000)
        try await end()
        var all: [RequestingClient.Outcome] = []
        for (index, client) in clients.enumerated() { all += await client.outcomes(of: numbers[index] ?? []) }
        #expect(all.count == 1000)
        return Set(all)
    }

    /// The same, where a question has to stand until all of them wait for it.
    private func asking(
        _ scene: ConsentScene,
        end: () async throws -> Void
    ) async throws -> Set<RequestingClient.Outcome> {
        try await crowd(scene) {
            while await scene.gate.waiterCount < 1000 { try? await Task.sleep(for: .milliseconds(1)) }
            try await end()
        }
    }

    private func start(promptTimeout: Duration = .seconds(600)) async throws -> (ConsentScene, CountingAgent) {
        let scene = try await ConsentScene(on: bus, state: folder, promptTimeout: promptTimeout)
        let agent = try await scene.agent(on: bus)
        return (scene, agent)
    }

    @Test(arguments: [true, false])
    func `make one question, whose answer all of them get, those after a restart too`(isYes: Bool) async throws {
        let outcome = RequestingClient.Outcome(code: isYes ? "" : "Denied", status: isYes ? 3 : 2)
        let (scene, agent) = try await start()
        #expect(try await asking(scene) { try await agent.answer(isYes) } == [outcome])
        #expect(agent.questions.count == 1)
        #expect(try await scene.gate.list().map(\.status) == [isYes ? .authorized : .denied])
        await scene.stop()

        let (next, other) = try await start()
        #expect(try await crowd(next) {} == [outcome])
        #expect(other.questions.isEmpty)
        #expect(try await next.gate.list().count == 1)
        await next.stop()
    }

    @Test func `are all dismissed with their one question, and asked anew after a restart`() async throws {
        try await comesToNothing("Dismissed") { agent in try await agent.dismiss() }
    }

    @Test func `are told when their agent is killed, and asked anew after a restart`() async throws {
        try await comesToNothing("NobodyToAsk") { agent in await agent.die() }
    }

    @Test func `time out together, and are asked anew after a restart`() async throws {
        // Long enough for all of them to come in, which is waited for.
        try await comesToNothing("TimedOut", promptTimeout: .seconds(90)) { _ in }
    }

    private func comesToNothing(
        _ code: String,
        promptTimeout: Duration = .seconds(600),
        end: (CountingAgent) async throws -> Void
    ) async throws {
        let (scene, agent) = try await start(promptTimeout: promptTimeout)
        let outcome = RequestingClient.Outcome(code: code, status: 0)
        #expect(try await asking(scene) { try await end(agent) } == [outcome])
        #expect(agent.questions.count == 1)
        #expect(try await scene.gate.list().isEmpty)
        await scene.stop()

        let (next, other) = try await start()
        #expect(try await next.gate.list().isEmpty)
        let yes = RequestingClient.Outcome(code: "", status: 3)
        #expect(try await asking(next) { try await other.answer(true) } == [yes])
        #expect(other.questions.count == 1)
        await next.stop()
    }
}
