import CaptureCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Authorization

/// A person who takes something as long as the test says.
private struct TakingPrompter: Prompter {
    let take: @Sendable (PickQuestion) async throws(CaptureError) -> PickedAssets

    func ask(_ request: PromptRequest) async throws(CaptureError) -> [Service: PersonsAnswer] { [:] }

    func pick(_ question: PickQuestion) async throws(CaptureError) -> PickedAssets {
        question.sight.note()
        return try await take(question)
    }
}

/// The gate's part when a person takes a photo or movie for a program.
@Suite(.timeLimit(.minutes(10)))
final class `A question of taking`: Sendable {
    private let folder = NSTemporaryDirectory() + "taking-gate-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func gate(
        policy: Policy = Policy(),
        _ take: @escaping @Sendable (PickQuestion) async throws(CaptureError) -> PickedAssets = { _ in
            PickedAssets(["a"])
        }
    ) -> AuthorizationGate {
        AuthorizationGate(
            store: AuthorizationStore(directory: folder),
            prompter: TakingPrompter(take: take),
            policy: policy
        )
    }

    private let client = ClientIdentity(
        program: "exe:/usr/bin/tool",
        tier: .claimed,
        user: 1000,
        name: "Tool",
        detail: "",
        pid: 7
    )

    private func take(_ gate: AuthorizationGate, _ taking: Taking) async -> Result<PickedAssets, CaptureError> {
        let requester = Requester(client: client, session: ":1.1") { [client] in client }
        return await Result.of { () throws(CaptureError) in
            try await gate.take(taking, taking.longest > 0 ? "movie" : "photo", by: requester)
        }
    }

    private let restricting = "[Rule]\nService=camera\nDecision=restrict\n"

    @Test func `opens the camera while it stands, whatever the program's consent, and not after it`() async throws {
        let seen = Mutex<(live: Grant?, other: CaptureError.Code?)>((nil, nil))
        let box = Mutex<(AuthorizationGate, Taking)?>(nil)
        let gate = gate { question throws(CaptureError) in
            guard let (gate, taking) = box.withLock({ $0 }) else { return PickedAssets() }
            #expect(question.purpose == .take && question.taking == taking && question.limit == 1)
            let given = try await gate.requestAccess([.camera], for: taking)
            var other: CaptureError.Code?
            do throws(CaptureError) {
                _ = try await gate.requestAccess([.microphone], for: taking)
            } catch {
                other = error.code
            }
            seen.withLock { [other] in $0 = (given[.camera], other) }
            #expect(given[.camera]?.isLive == true && given[.camera]?.basis == .taking)
            return PickedAssets(["a"])
        }
        try await gate.set(user: 1000, program: client.program, service: .camera, status: .denied)
        let taking = try await gate.taking(longest: 0, for: client)
        #expect(await code { try await gate.requestAccess([.camera], for: taking) } == .notPermitted)
        box.withLock { $0 = (gate, taking) }
        #expect(try await take(gate, taking).get() == PickedAssets(["a"]))
        // A photo takes no sound, and nothing is open any more.
        #expect(seen.withLock { $0.other } == .notPermitted)
        #expect(seen.withLock { $0.live?.isLive } == false)
        #expect(await code { try await gate.requestAccess([.camera], for: taking) } == .notPermitted)
        #expect(try await gate.status(.camera, for: client) == .denied)
    }

    @Test func `is not put where the camera is switched off, and has no sound where the microphone is`() async throws {
        let gate = gate()
        #expect(try await gate.taking(longest: 5, for: client).services == [.camera, .microphone])
        #expect(try await gate.taking(longest: 0, for: client).services == [.camera])
        try await gate.setSwitch(.microphone, isOn: false)
        #expect(try await gate.taking(longest: 5, for: client).services == [.camera])
        try await gate.setSwitch(.camera, isOn: false)
        #expect(await code { try await gate.taking(longest: 0, for: client) } == .switchedOff)
    }

    @Test func `ends for the agent when the camera is switched off or policy forbids it`() async throws {
        for isSwitch in [true, false] {
            let (begun, begin) = AsyncStream<Grant>.makeStream()
            let (ends, end) = AsyncStream<Void>.makeStream()
            let box = Mutex<(AuthorizationGate, Taking)?>(nil)
            let gate = gate { _ throws(CaptureError) in
                guard let (gate, taking) = box.withLock({ $0 }) else { return PickedAssets() }
                if let grant = try await gate.requestAccess([.camera], for: taking)[.camera] { begin.yield(grant) }
                for await _ in ends { break }
                throw CaptureError(.dismissed, "the question was closed")
            }
            let taking = try await gate.taking(longest: 0, for: client)
            box.withLock { $0 = (gate, taking) }
            async let result = take(gate, taking)
            var grants = begun.makeAsyncIterator()
            let grant = try #require(await grants.next())
            #expect(grant.isLive)
            if isSwitch {
                try await gate.setSwitch(.camera, isOn: false)
            } else {
                await gate.setPolicy(try PolicyFolders().read(restricting))
            }
            #expect(!grant.isLive)
            let again = await code { try await gate.requestAccess([.camera], for: taking) }
            #expect(again == (isSwitch ? .switchedOff : .restricted))
            end.yield()
            let outcome = await result
            #expect(code { try outcome.get() } == .dismissed)
        }
    }

    @Test func `is not put where policy forbids the camera`() async throws {
        let gate = gate(policy: try PolicyFolders().read(restricting))
        #expect(await code { try await gate.taking(longest: 0, for: client) } == .restricted)
    }
}
