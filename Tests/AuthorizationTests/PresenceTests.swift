import CaptureCore
import Synchronization
import TestSupport
import Testing

@testable import Authorization

/// People who come and go, as the test says.
private final class Doorman: Presence {
    private struct State {
        var away: [UInt32: String] = [:]
        var looks = 0
        /// Is done in the middle of the next look.
        var during: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())

    var looks: Int { state.withLock { $0.looks } }

    func sends(_ user: UInt32, away why: String?) {
        state.withLock { $0.away[user] = why }
    }

    func inTheNextLook(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.during = body }
    }

    func absence(of client: ClientIdentity) async -> String? {
        let (found, during) = state.withLock { state in
            state.looks += 1
            defer { state.during = nil }
            return (state.away[client.user], state.during)
        }
        await during?()
        return found
    }
}

extension AuthorizationGate {
    /// Has a question stand.
    fileprivate func put(_ taking: Taking) { takings.insert(taking) }
}

@Suite(.timeLimit(.minutes(10))) struct PresenceTests {
    private let person = Person()
    private let log = DecisionLog()
    private let doorman = Doorman()
    private let gate: AuthorizationGate

    init() async {
        gate = AuthorizationGate(prompter: person, decisions: log.note)
        await gate.setPresence(doorman)
    }

    private func cheese(of user: UInt32 = 1000) -> ClientIdentity {
        var client = ClientIdentity.app("cheese", runs: "/usr/bin/cheese")
        client.user = user
        return client
    }

    private func allow(_ user: UInt32 = 1000) async throws {
        try await gate.keep([.camera], for: cheese(of: user))
    }

    @Test func `who goes away loses what is live, is refused until it is back, and keeps the answer`() async throws {
        try await allow()
        let grant = try #require(try await gate.request([.camera], cheese())[.camera])
        doorman.sends(1000, away: "the session is locked")
        await gate.presenceChanged()
        #expect(!grant.isLive)
        #expect(grant.withdrawnBy == .userAway)
        #expect(grant.withdrawalReason == "the session is locked")
        #expect(log.decisions.last?.cause == .userAway)
        #expect(log.decisions.last?.status == .authorized)
        let error = await #expect(throws: CaptureError.self) { try await gate.request([.camera], cheese()) }
        #expect(error == CaptureError(.userAway, "the session is locked"))
        #expect(error?.code.exitCode == 77)
        #expect(log.decisions.last?.cause == .userAway)
        #expect(try await gate.status(.camera, for: cheese()) == .authorized)
        doorman.sends(1000, away: nil)
        await gate.presenceChanged()
        _ = try await gate.request([.camera], cheese())
        #expect(person.asked.isEmpty)
    }

    @Test func `others go on`() async throws {
        try await allow(1001)
        let grant = try #require(try await gate.request([.camera], cheese(of: 1001))[.camera])
        doorman.sends(1000, away: "the session is locked")
        await gate.presenceChanged()
        #expect(grant.isLive)
    }

    @Test func `nobody is asked who is away, and an open question is taken away`() async throws {
        let asking = Task { try await gate.request([.camera], cheese()) }
        await person.wasAsked()
        doorman.sends(1000, away: "the session is locked")
        await gate.presenceChanged()
        #expect(await code { _ = try await asking.value } == .userAway)
        #expect(person.withdrawn == 1)
        #expect(await code { _ = try await gate.request([.camera], cheese()) } == .userAway)
        #expect(person.asked.count == 1)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `who goes away while a request is looked at gets nothing by it`() async throws {
        try await allow()
        let (gate, doorman) = (gate, doorman)
        doorman.inTheNextLook {
            doorman.sends(1000, away: "the session is locked")
            await gate.presenceChanged()
        }
        #expect(await code { _ = try await gate.request([.camera], cheese()) } == .userAway)
        #expect(doorman.looks == 2)
    }

    @Test func `nor does who goes away while what a person takes is looked at`() async throws {
        let (gate, doorman) = (gate, doorman)
        let taking = Taking(cheese(), [.camera], longest: 0)
        await gate.put(taking)
        #expect(try await gate.requestAccess([.camera], for: taking)[.camera]?.isLive == true)
        doorman.inTheNextLook {
            doorman.sends(1000, away: "the session is locked")
            await gate.presenceChanged()
        }
        #expect(await code { _ = try await gate.requestAccess([.camera], for: taking) } == .userAway)
    }

    @Test func `it matters no longer when the configuration says so`() async throws {
        try await allow()
        doorman.sends(1000, away: "the session is locked")
        #expect(await gate.absence(of: cheese())?.code == .userAway)
        await gate.setPresence(nil)
        #expect(await gate.absence(of: cheese()) == nil)
        let grant = try #require(try await gate.request([.camera], cheese())[.camera])
        await gate.setPresence(doorman)
        #expect(!grant.isLive)
    }
}
