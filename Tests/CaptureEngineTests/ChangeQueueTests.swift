import Authorization
import CaptureCore
import CaptureEngine
import TestSupport
import Testing

/// Two programs, or two tasks of one, change a session at the same time.
@Suite(.timeLimit(.minutes(10))) struct `Changes of one session` {
    private let bench = EngineBench()

    private func add(_ name: String, to id: UInt32, _ client: SessionClient = EngineBench.client()) async throws {
        let output = OutputDescription(name: name, kind: .photo, format: "jpeg")
        try await bench.engine.addOutput(id, output, inputs: ["camera"], file: FakeFile(), client: client)
    }

    private func outputs(of id: UInt32) async -> [String] {
        let sessions = await bench.engine.list(for: EngineBench.client())
        return sessions.first { $0.id == id }?.description.outputs.map(\.name) ?? []
    }

    @Test func `that come at the same time leave each other's outputs alone`() async throws {
        let id = try await bench.running()
        let names = (1...40).map { "shot-\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names { group.addTask { try await add(name, to: id) } }
            try await group.waitForAll()
        }
        #expect(Set(await outputs(of: id)) == Set(names + ["movie"]))
        let statistics = try await bench.engine.statistics(of: id, client: EngineBench.client())
        #expect(Set(statistics.outputs.keys) == Set(names + ["movie"]))
    }
}
