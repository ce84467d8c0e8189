import Authorization
import CaptureCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct `One question for many` {
    let person = Person()
    let log = DecisionLog()
    let gate: AuthorizationGate

    init() {
        gate = AuthorizationGate(prompter: person, decisions: log.note)
    }

    /// Requests that are under way when the question is put and before it is answered.
    private func crowd(_ count: Int, _ services: Set<Service> = [.camera]) -> [Task<CaptureError.Code?, Never>] {
        (0..<count).map { _ in Task { [gate] in await code { _ = try await gate.request(services) } } }
    }

    @Test func `a thousand requests at one time make one question and get one answer`() async throws {
        let crowd = crowd(1000)
        await person.wasAsked()
        person.answers([.camera: true])
        for request in crowd { #expect(await request.value == nil) }
        #expect(person.asked.count == 1)
        #expect(try await gate.list().count == 1)
        #expect(log.decisions.filter { $0.cause == .answer }.count == 1)
        #expect(log.decisions.count == 1001)
    }

    @Test(arguments: [CaptureError.Code.dismissed, .nobodyToAsk])
    func `everybody who waited hears that there was no answer`(why: CaptureError.Code) async throws {
        let crowd = crowd(100)
        await waiters(100)
        person.fails(why)
        for request in crowd { #expect(await request.value == why) }
        #expect(person.asked.count == 1)
    }

    @Test func `a part of what is being asked joins the question`() async throws {
        let both = Task { [gate] in await code { _ = try await gate.request([.camera, .microphone]) } }
        await person.wasAsked()
        let camera = Task { [gate] in await code { _ = try await gate.request([.camera]) } }
        await waiters(2)
        person.answers([.camera: true, .microphone: false])
        #expect(await both.value == .denied)
        #expect(await camera.value == nil)
        #expect(person.asked.count == 1)
    }

    @Test func `more than is being asked waits for the answer and asks for the rest`() async throws {
        let camera = Task { [gate] in await code { _ = try await gate.request([.camera]) } }
        await person.wasAsked()
        let both = Task { [gate] in await code { _ = try await gate.request([.camera, .microphone]) } }
        await waiters(2)
        person.answers([.camera: true])
        await person.wasAsked(2)
        #expect(person.asked.map(\.services) == [[.camera], [.microphone]])
        person.answers([.microphone: true])
        #expect(await camera.value == nil)
        #expect(await both.value == nil)
    }

    @Test func `something else of the same program is asked after the first, whatever became of that`() async throws {
        let camera = Task { [gate] in await code { _ = try await gate.request([.camera]) } }
        await person.wasAsked()
        let microphone = Task { [gate] in await code { _ = try await gate.request([.microphone]) } }
        await waiters(2)
        person.fails(.dismissed)
        #expect(await camera.value == .dismissed)
        await person.wasAsked(2)
        person.answers([.microphone: true])
        #expect(await microphone.value == nil)
    }

    @Test func `different programs are asked about at one time`() async throws {
        let one = Task { [gate] in await code { _ = try await gate.request([.camera], .program("/usr/bin/a")) } }
        let two = Task { [gate] in await code { _ = try await gate.request([.camera], .program("/usr/bin/b")) } }
        await person.wasAsked(2)
        person.answers([.camera: true])
        #expect(await one.value == nil)
        #expect(await two.value == nil)
    }

    @Test func `who goes away stops waiting, and the question goes with the last`() async throws {
        let crowd = crowd(3)
        await waiters(3)
        crowd[0].cancel()
        #expect(await crowd[0].value == .dismissed)
        #expect(person.withdrawn == 0)
        crowd[1].cancel()
        crowd[2].cancel()
        #expect(await crowd[1].value == .dismissed)
        #expect(await crowd[2].value == .dismissed)
        #expect(await gate.waiterCount == 0)
        #expect(person.withdrawn == 1)
        #expect(try await gate.list().isEmpty)
        #expect(log.decisions.allSatisfy { $0.cause == .requesterGone })
    }

    @Test func `a request of somebody who is gone already asks nobody`() async throws {
        let request = Task { [gate] in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await code { _ = try await gate.request([.camera]) }
        }
        #expect(await request.value == .dismissed)
        #expect(await gate.waiterCount == 0)
        // The person may hear of it only after it was taken away.
        while person.asked.count != person.withdrawn { await Task.yield() }
        #expect(person.asked.count <= 1)
    }

    @Test func `an answer counts while one of those who wait still is who it was`() async throws {
        let changing = Task { [gate] in
            await code {
                let looks = Looks()
                let requester = Requester(client: .program(), session: "") {
                    await looks.next() <= 2 ? .program() : .program("/usr/bin/evil")
                }
                _ = try await gate.requestAccess([.camera], for: requester)
            }
        }
        await person.wasAsked()
        let honest = Task { [gate] in await code { _ = try await gate.request([.camera]) } }
        await waiters(2)
        person.answers([.camera: true])
        #expect(await changing.value == .notPermitted)
        #expect(await honest.value == nil)
    }

    @Test func `settings that change while a question is open decide it`() async throws {
        let crowd = crowd(2)
        await waiters(2)
        try await gate.set(user: 1000, program: "exe:/usr/bin/cheese", service: .camera, status: .denied)
        for request in crowd { #expect(await request.value == .denied) }
        #expect(person.withdrawn == 1)
        person.answers([.camera: true])
        #expect(try await gate.status(.camera, for: .program()) == .denied)
    }

    /// Returns when that many wait and the person sees the question: each is a task of its own, and comes in when it is run.
    private func waiters(_ count: Int) async {
        await person.wasAsked()
        while await gate.waiterCount < count { try? await Task.sleep(for: .milliseconds(1)) }
    }
}

private actor Looks {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
