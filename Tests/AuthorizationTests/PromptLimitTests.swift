import Authorization
import CaptureCore
import TestSupport
import Testing

@Suite struct `Questions that come to nothing` {
    let person = Person()
    let log = DecisionLog()
    let clock = FakeClock()
    let gate: AuthorizationGate

    init() {
        gate = AuthorizationGate(prompter: person, decisions: log.note, now: { [clock] in clock.now })
    }

    /// Asks, and has the question end so.
    private func ask(
        _ client: ClientIdentity = .program(),
        _ services: Set<Service> = [.camera],
        end: @escaping @Sendable (Person) -> Void
    ) async -> CaptureError.Code? {
        let count = person.asked.count
        let request = Task { [gate] in await code { _ = try await gate.request(services, client) } }
        await person.wasAsked(count + 1)
        end(person)
        return await request.value
    }

    private func late() async -> CaptureError.Code? {
        await ask { [clock] person in
            clock.pass(70_000)
            person.fails(.timedOut)
        }
    }

    /// Asks where no question is expected.
    private func refusal(_ client: ClientIdentity = .program()) async -> CaptureError? {
        do {
            _ = try await gate.request([.camera], client)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [CaptureError.Code.dismissed, .timedOut, .nobodyToAsk])
    func `are put three times in a minute, then nobody is asked, and told when again`(
        how: CaptureError.Code
    ) async throws {
        for _ in 1...3 {
            #expect(await ask { $0.fails(how) } == how)
            clock.pass(5_000)
        }
        let error = try #require(await refusal())
        #expect(error.code == .askedTooOften)
        #expect(error.code.exitCode == 75)
        #expect(error.message.contains("exe:/usr/bin/cheese asked 3 times within 60 s"))
        #expect(error.message.hasSuffix("it may ask again in 45 s"))
        #expect(log.decisions.last?.cause == .askedTooOften)
        #expect(log.decisions.last?.status == .notDetermined)
        #expect(log.decisions.last?.message.contains("it may ask again in 45 s") == true)
        #expect(person.asked.count == 3)
        clock.pass(44_999)
        #expect(await refusal()?.message.hasSuffix("again in 1 s") == true)
        clock.pass(1)
        #expect(await ask { $0.answers([.camera: true]) } == nil)
        #expect(person.asked.count == 4)
    }

    @Test func `count from their end, by a clock that nobody sets`() async {
        for _ in 1...3 { _ = await late() }
        #expect(await ask { $0.fails(.dismissed) } == .dismissed)
        clock.set(by: -1_000_000_000)
        #expect(await ask { $0.fails(.dismissed) } == .dismissed)
        #expect(await refusal()?.code == .askedTooOften)
        clock.set(by: 2_000_000_000_000)
        #expect(await refusal()?.code == .askedTooOften)
    }

    @Test func `are each program's and each user's own, whatever its files`() async {
        for inode in 1...3 { _ = await ask(.program(inode: UInt64(inode))) { $0.fails(.dismissed) } }
        #expect(await refusal(.program(inode: 4))?.code == .askedTooOften)
        #expect(await ask(.program("/usr/bin/else")) { $0.fails(.dismissed) } == .dismissed)
        #expect(await ask(.program(user: 1001)) { $0.fails(.dismissed) } == .dismissed)
    }

    @Test func `are not those that were answered, for now or for always`() async throws {
        for _ in 1...3 {
            #expect(await ask { $0.answers([.camera: PersonsAnswer(true)]) } == nil)
            _ = try await gate.reset(user: 1000, program: nil, service: nil)
            #expect(await ask { $0.answers([.camera: PersonsAnswer(true, lifetime: .session)]) } == nil)
            _ = try await gate.reset(user: 1000, program: nil, service: nil)
        }
        for _ in 1...3 { #expect(await ask { $0.fails(.dismissed) } == .dismissed) }
        #expect(await refusal()?.code == .askedTooOften)
        try await gate.set(user: 1000, program: "exe:/usr/bin/cheese", service: .camera, status: .denied)
        #expect(await refusal()?.code == .denied)
    }

    @Test func `are those that a program opens and leaves`() async {
        for _ in 1...3 {
            let count = person.asked.count
            let request = Task { [gate] in await code { _ = try await gate.request([.camera]) } }
            await person.wasAsked(count + 1)
            request.cancel()
            #expect(await request.value == .dismissed)
        }
        #expect(await refusal()?.code == .askedTooOften)
        #expect(person.asked.count == 3)
    }

    @Test func `are questions, not requests: a crowd counts once`() async {
        for round in 1...3 {
            let crowd = (0..<50).map { _ in Task { [gate] in await code { _ = try await gate.request([.camera]) } } }
            while await gate.waiterCount < 50 { try? await Task.sleep(for: .milliseconds(1)) }
            await person.wasAsked(round)
            #expect(person.asked.count == round)
            person.fails(.dismissed)
            for request in crowd { #expect(await request.value == .dismissed) }
        }
        #expect(await refusal()?.code == .askedTooOften)
    }

    @Test func `are none where nobody was there to see them, nor where a switch took them away`() async throws {
        let unseen = AuthorizationGate(
            prompter: ClosurePrompter { _ throws(CaptureError) in throw CaptureError(.nobodyToAsk, "nobody") }
        )
        for _ in 1...5 { #expect(await code { _ = try await unseen.request([.camera]) } == .nobodyToAsk) }
        for round in 1...4 {
            let request = Task { [gate] in await code { _ = try await gate.request([.camera]) } }
            await person.wasAsked(round)
            while await gate.waiterCount == 0 { try? await Task.sleep(for: .milliseconds(1)) }
            try await gate.setSwitch(.camera, isOn: false)
            #expect(await request.value == .switchedOff)
            try await gate.setSwitch(.camera, isOn: true)
        }
    }

    @Test func `are as many as the configuration says, at once when it is read anew`() async {
        await gate.setPromptLimits(PromptLimits(burst: 1, interval: 3_600_000))
        _ = await ask { $0.fails(.dismissed) }
        #expect(await refusal()?.message.contains("asked once within 3600 s") == true)
        await gate.setPromptLimits(PromptLimits(burst: 2, interval: 3_600_000))
        _ = await ask { $0.fails(.dismissed) }
        #expect(await refusal()?.code == .askedTooOften)
        await gate.setPromptLimits(PromptLimits(burst: 1, interval: 0))
        #expect(await ask { $0.fails(.dismissed) } == .dismissed)
    }

    @Test func `are told by an explanation`() async throws {
        for _ in 1...3 { _ = await ask { $0.fails(.dismissed) } }
        let (_, named) = try await gate.explain([.camera], program: "exe:/usr/bin/cheese", user: 1000)
        for found in await gate.explain([.camera], for: .program()) + named {
            guard case .refused(let error) = found.outcome else {
                Issue.record("it says \(found.outcome)")
                continue
            }
            #expect(error.code == .askedTooOften)
            #expect(found.status == .notDetermined)
        }
        clock.pass(60_000)
        #expect(await gate.explain([.camera], for: .program()).first?.outcome == .asks(name: "cheese"))
    }
}
