import CaptureCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Authorization

@Suite struct `The gate under a policy` {
    let folders: PolicyFolders
    let person = Person()
    let log = DecisionLog()
    let store = AuthorizationStore.inMemory()
    let gate: AuthorizationGate
    private let unit = ClientIdentity(
        program: "unit:doorbell.service",
        tier: .service,
        user: 990,
        name: "doorbell",
        detail: "a test",
        groups: [990],
        units: ["doorbell.service"]
    )
    private let allowing = "[Rule]\nService=camera\nProgram=unit:doorbell.service\nDecision=allow\n"
    private let restricting = "[Rule]\nService=camera\nDecision=restrict\n"

    init() throws {
        folders = try PolicyFolders()
        gate = AuthorizationGate(store: store, prompter: person, decisions: log.note)
    }

    /// Lets a person say yes.
    private func allow(_ services: Set<Service>, _ client: ClientIdentity) async throws -> [Service: Grant] {
        async let grants = gate.request(services, client)
        await person.wasAsked()
        person.answers(Dictionary(uniqueKeysWithValues: services.map { ($0, true) }))
        return try await grants
    }

    private var file: String { folders.administrator.path + "/policy.d/50-test.conf" }

    @Test func `refuses above a stored yes, and names file and line`() async throws {
        let client = ClientIdentity.app("cheese", runs: "/usr/bin/cheese")
        _ = try await allow([.camera], client)
        await gate.setPolicy(try folders.read("\n\n" + restricting))
        let error = await #expect(throws: CaptureError.self) { try await gate.request([.camera, .microphone], client) }
        #expect(error?.code == .restricted)
        #expect(error?.code.exitCode == 77)
        #expect(error?.message.contains("\(file):3 says restrict") == true)
        #expect(error?.message.contains("the camera") == true)
        #expect(error?.message.contains("the microphone") == false)
        #expect(try await gate.status(.camera, for: client) == .restricted)
        #expect(try await gate.statuses(user: 1000, program: "app:cheese")[.camera] == .restricted)
        let row = try #require(try await gate.list().first)
        #expect(row.status == .authorized)
        #expect(try await gate.listed().first?.verdict.place == "\(file):3")
        #expect(person.asked.count == 1)
        let told = log.decisions.suffix(2)
        #expect(told.map(\.cause) == [.policy, .policy])
        #expect(told.map(\.status) == [.restricted, .notDetermined])
        #expect(told.allSatisfy { $0.message.contains("\(file):3") })
    }

    @Test func `refuses without a look at a store that is broken, too`() async throws {
        let folder = try TemporaryFolder()
        let gate = AuthorizationGate(
            store: try folder.damagedStore(),
            prompter: person,
            policy: try folders.read(restricting + allowing.replacingOccurrences(of: "camera", with: "microphone"))
        )
        #expect(await code { _ = try await gate.request([.camera]) } == .restricted)
        // A yes of the policy's is worth nothing while a no cannot be looked up.
        #expect(await code { _ = try await gate.request([.microphone], unit) } == .inputOutput)
    }

    @Test func `is not changed by settings, which say where it comes from`() async throws {
        await gate.setPolicy(try folders.read(restricting))
        for status in [AuthorizationStatus.authorized, .denied] {
            let error = await #expect(throws: CaptureError.self) {
                try await gate.set(user: 1000, program: "flatpak:org.example.A", service: .camera, status: status)
            }
            #expect(error?.code == .restricted)
            #expect(error?.message.contains("\(file):1") == true)
        }
        #expect(try await gate.list().isEmpty)
        try await gate.set(user: 1000, program: "flatpak:org.example.A", service: .microphone, status: .authorized)
    }

    @Test func `allows a unit without a question and without an answer`() async throws {
        await gate.setPolicy(try folders.read(allowing))
        #expect(try await gate.status(.camera, for: unit) == .authorized)
        let grant = try #require(try await gate.request([.camera], unit)[.camera])
        #expect(grant.isLive)
        #expect(person.asked.isEmpty)
        #expect(try await gate.list().isEmpty)
        #expect(log.decisions.map(\.cause) == [.policy])
        #expect(log.decisions.first?.message.contains("\(file):1 says allow") == true)
    }

    @Test func `lets a stored no stand above what policy allows`() async throws {
        await gate.setPolicy(try folders.read(allowing))
        try await gate.set(user: 0, program: unit.program, service: .camera, status: .denied)
        #expect(await code { _ = try await gate.request([.camera], unit) } == .denied)
        #expect(try await gate.status(.camera, for: unit) == .denied)
    }

    @Test func `asks only about what policy does not allow`() async throws {
        await gate.setPolicy(try folders.read(allowing))
        async let both = gate.request([.camera, .microphone], unit)
        await person.wasAsked()
        #expect(person.asked.last?.services == [.microphone])
        person.answers([.microphone: true])
        #expect(try await both.count == 2)
        #expect(try await gate.list().map(\.service) == [.microphone])
    }

    @Test func `withdraws what a new policy forbids, with the reason, before it returns`() async throws {
        let client = ClientIdentity.app("cheese", runs: "/usr/bin/cheese")
        let grants = try await allow([.camera, .microphone], client)
        let camera = try #require(grants[.camera])
        let stopped = Stopped(camera, of: gate)
        #expect(await gate.setPolicy(try folders.read(restricting)) == 1)
        #expect(stopped.hasStopped)
        #expect(!camera.isLive)
        #expect(camera.withdrawalReason.contains("\(file):1 says restrict"))
        #expect(grants[.microphone]?.isLive == true)
        #expect(try await gate.list().count == 2)
        #expect(log.decisions.last?.cause == .policy)
        #expect(log.decisions.last?.status == .restricted)
        await gate.setPolicy(Policy())
        #expect(try await gate.request([.camera], client)[.camera]?.isLive == true)
        #expect(!camera.isLive)
    }

    @Test func `withdraws everything when the policy cannot be understood any more`() async throws {
        let client = ClientIdentity.app("cheese", runs: "/usr/bin/cheese")
        let grant = try #require(try await allow([.microphone], client)[.microphone])
        await gate.setPolicy(try folders.read("[Rule]\nDecision=restrict\nService=camra\n"))
        #expect(!grant.isLive)
        let error = await #expect(throws: CaptureError.self) { try await gate.request([.microphone], client) }
        #expect(error?.code == .restricted)
        #expect(error?.message.contains("the policy cannot be understood: \(file):3: 'camra' is not a value") == true)
        await gate.setPolicy(try folders.read("[Rule]\nDecision=restrict\nService=camera\n"))
        #expect(try await gate.request([.microphone], client)[.microphone]?.isLive == true)
    }

    @Test func `withdraws what only the policy before allowed`() async throws {
        let allowed = try folders.read(allowing)
        await gate.setPolicy(allowed)
        let first = try #require(try await gate.request([.camera], unit)[.camera])
        await gate.setPolicy(allowed)
        #expect(first.isLive)
        await gate.setPolicy(Policy())
        #expect(!first.isLive)
        #expect(first.withdrawalReason == "policy allows it no longer")
        // An answer of the person's own holds without the rule.
        await gate.setPolicy(allowed)
        let second = try #require(try await gate.request([.camera], unit)[.camera])
        try await gate.set(user: 0, program: unit.program, service: .camera, status: .authorized)
        await gate.setPolicy(Policy())
        #expect(second.isLive)
    }

    @Test func `takes an open question away that a new policy answers`() async throws {
        let asking = Task { await code { _ = try await gate.request([.camera]) } }
        await person.wasAsked()
        await gate.setPolicy(try folders.read(restricting))
        #expect(await asking.value == .restricted)
        #expect(person.withdrawn == 1)
        person.answers([.camera: true])
        #expect(try await gate.list().isEmpty)
    }

    @Test func `stores no answer that comes while a new policy forbids it`() async throws {
        let looks = Atomic<Int>(0)
        let gate = gate
        let policy = try folders.read(restricting)
        let asking = Task {
            await code {
                let requester = Requester(client: .program(), session: "") {
                    // The first look happens at the request, the second before the question, the third at the answer.
                    if looks.add(1, ordering: .relaxed).newValue == 3 { await gate.setPolicy(policy) }
                    return .program()
                }
                _ = try await gate.requestAccess([.camera], for: requester)
            }
        }
        await person.wasAsked()
        person.answers([.camera: true])
        #expect(await asking.value == .restricted)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `explains what decides and what a start would do`() async throws {
        let client = ClientIdentity.program()
        var found = try #require(await gate.explain([.camera], for: client).first)
        #expect(found.decider == .nothing)
        #expect(found.outcome == .asks(name: "cheese"))
        #expect(found.status == .notDetermined)

        async let answered = gate.request([.camera])
        await person.wasAsked()
        person.answers([.camera: true])
        _ = try await answered
        found = try #require(await gate.explain([.camera], for: client).first)
        #expect(found.decider == .answer)
        #expect(found.outcome == .starts)
        #expect(found.answer?.reason == .answer)

        await gate.setPolicy(try folders.read(restricting))
        found = try #require(await gate.explain([.camera], for: client).first)
        #expect(found.decider == .policy)
        #expect(found.status == .restricted)
        #expect(found.answer?.status == .authorized)
        #expect(found.verdict.place == "\(file):1")
        guard case .refused(let error) = found.outcome else {
            Issue.record("\(found.outcome)")
            return
        }
        #expect(error.code == .restricted)
    }

    @Test func `explains a program that is only named, by its file where it has one`() async throws {
        let folder = try TemporaryFolder()
        let tool = try folder.write("tool", "x")
        let program = "exe:" + tool
        try await gate.set(user: 1000, program: program, service: .camera, status: .authorized)
        #expect(try await gate.explain([.camera], program: program, user: 1000).explanations[0].outcome == .starts)
        #expect(try await gate.explain([.camera], program: program, user: 1001).explanations[0].decider == .nothing)
        // Another file at its place is another program.
        try FileManager.default.moveItem(atPath: tool, toPath: tool + ".old")
        try folder.write("tool", "y")
        #expect(try await gate.explain([.camera], program: program, user: 1000).explanations[0].decider == .nothing)
        #expect(await code { _ = try await gate.explain([.camera], program: "tool", user: 1000) } == .invalidArgument)
    }

    @Test func `explains that the store cannot be used`() async throws {
        let folder = try TemporaryFolder()
        let gate = AuthorizationGate(store: try folder.damagedStore(), prompter: person)
        guard case .refused(let error) = await gate.explain([.camera], for: .program())[0].outcome else {
            Issue.record("it is not refused")
            return
        }
        #expect(error.code == .inputOutput)
    }
}
