import Authorization
import CaptureCore
import Foundation
import Synchronization
import TestSupport
import Testing

/// A person who picks what a closure says.
private struct PickingPrompter: Prompter {
    let answer: @Sendable (PickQuestion) async throws(CaptureError) -> PickedAssets

    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] { [:] }

    func pick(_ question: PickQuestion) async throws(CaptureError) -> PickedAssets {
        question.sight.note()
        return try await answer(question)
    }
}

/// The gate's part in picking: whose question, how long, how often.
@Suite(.timeLimit(.minutes(10)))
final class `A question of picking` {
    private let folder = NSTemporaryDirectory() + "picking-gate-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func gate(
        timeout: Duration = .seconds(600),
        _ answer: @escaping @Sendable (PickQuestion) async throws(CaptureError) -> PickedAssets
    ) -> AuthorizationGate {
        AuthorizationGate(
            store: AuthorizationStore(directory: folder),
            usage: FixedUsageDescriptions("to sort"),
            prompter: PickingPrompter(answer: answer),
            promptTimeout: timeout
        )
    }

    private func client(_ tier: Tier = .claimed, pid: Int32 = 7) -> ClientIdentity {
        let program = tier == .claimed ? "exe:/usr/bin/tool" : "unit:tool.service"
        return ClientIdentity(program: program, tier: tier, user: 1000, name: "Tool\u{202E}", detail: "", pid: pid)
    }

    private func pick(
        _ gate: AuthorizationGate,
        _ client: ClientIdentity,
        again: ClientIdentity? = nil
    ) async -> Result<PickedAssets, CaptureError> {
        let requester = Requester(client: client, session: ":1.1") { again ?? client }
        return await Result.of { () throws(CaptureError) in
            try await gate.pick(.pick, kinds: ["photo"], limit: 3, by: requester)
        }
    }

    private func code(_ result: Result<PickedAssets, CaptureError>) -> CaptureError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func `says who asks, harmless, and for what, and stands longer than others`() async throws {
        let seen = Mutex<PickQuestion?>(nil)
        let gate = gate(timeout: .seconds(60)) { question in
            seen.withLock { $0 = question }
            return PickedAssets(["a"])
        }
        #expect(try await pick(gate, client()).get() == PickedAssets(["a"]))
        let question = try #require(seen.withLock { $0 })
        #expect(question.purpose == .pick && question.kinds == ["photo"] && question.limit == 3)
        #expect(question.subject == "exe:/usr/bin/tool" && !question.name.contains("\u{202E}"))
        #expect(ContinuousClock.now.duration(to: question.deadline) > .seconds(500))
        #expect(try await gate.status(.libraryReadWrite, for: client()) == .notDetermined)
    }

    @Test func `is not put for programs of the machine's, nor answered for one that changed`() async {
        let count = Mutex(0)
        let gate = gate { _ in
            count.withLock { $0 += 1 }
            return PickedAssets(["a"])
        }
        #expect(code(await pick(gate, client(.service))) == .notPermitted)
        #expect(count.withLock { $0 } == 0)
        #expect(code(await pick(gate, client(), again: client(pid: 8))) == .notPermitted)
    }

    @Test func `is withdrawn in time, and those that come to nothing are counted`() async {
        let gate = gate(timeout: .milliseconds(5)) { _ throws(CaptureError) in
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
            throw CaptureError(.timedOut, "taken back")
        }
        await gate.setPromptLimits(PromptLimits(burst: 2, interval: 600_000))
        #expect(code(await pick(gate, client())) == .timedOut)
        #expect(code(await pick(gate, client())) == .timedOut)
        #expect(code(await pick(gate, client())) == .askedTooOften)
    }

    @Test func `may be put as often as it is answered`() async {
        let gate = gate { _ in PickedAssets(["a"]) }
        await gate.setPromptLimits(PromptLimits(burst: 1, interval: 600_000))
        for _ in 0..<5 { #expect(code(await pick(gate, client())) == nil) }
    }
}
