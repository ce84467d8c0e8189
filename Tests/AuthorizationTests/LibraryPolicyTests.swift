import CaptureCore
import TestSupport
import Testing

@testable import Authorization

@Suite struct `The levels of the media library under a policy` {
    private let folders: PolicyFolders
    private let store = AuthorizationStore.inMemory()
    private let person = PreparedPerson()
    private let gate: AuthorizationGate

    init() throws {
        folders = try PolicyFolders()
        gate = AuthorizationGate(store: store, prompter: person)
    }

    private func rule(_ service: Service, _ decision: String) -> String {
        "[Rule]\nService=\(service.rawValue)\nProgram=unit:album.service\nDecision=\(decision)\n"
    }

    private func access(_ rules: String...) async throws -> [AuthorizationStatus] {
        await gate.setPolicy(try folders.read(rules.joined()))
        let found = try await gate.libraryAccess(for: .album)
        for (index, explanation) in await gate.explain(Service.ofLibrary, for: .album).enumerated() {
            #expect(explanation.status == [found.add, found.readWrite][index])
        }
        return [found.add, found.readWrite]
    }

    @Test func `are each restricted apart, and what is restricted counts for nothing else`() async throws {
        try await gate.set(.limited)
        let grants = try await gate.request(LibraryRow.both, .album)
        #expect(try await access(rule(.libraryAdd, "restrict")) == [.restricted, .limited])
        #expect(grants[.libraryAdd]?.isLive == false)
        #expect(grants[.libraryReadWrite]?.isLive == true)
        // Its own answer is a yes to adding.
        #expect(try await access(rule(.libraryReadWrite, "restrict")) == [.authorized, .restricted])
        #expect(grants[.libraryReadWrite]?.isLive == false)
        try await gate.setPolicy(folders.read(""))
        try await gate.set(.none)
        try await gate.set(user: 0, program: "unit:album.service", service: .libraryReadWrite, status: .authorized)
        #expect(try await access(rule(.libraryReadWrite, "restrict")) == [.denied, .restricted])
        #expect(try await access() == [.authorized, .authorized])
    }

    @Test func `are loosened by a yes to adding alone, and where the reading that it would follow from is restricted`()
        async throws
    {
        try await gate.set(user: 0, program: "unit:album.service", service: .libraryReadWrite, status: .authorized)
        let adding: [Service: AuthorizationStatus] = [.libraryAdd: .authorized]
        let both: [Service: AuthorizationStatus] = [.libraryAdd: .authorized, .libraryReadWrite: .authorized]
        // It would outlast the reading.
        #expect(try await gate.loosens(user: 0, program: "unit:album.service", adding))
        #expect(try await !gate.loosens(user: 0, program: "unit:album.service", both))
        #expect(try await access(rule(.libraryReadWrite, "restrict")) == [.notDetermined, .restricted])
        #expect(try await gate.loosens(user: 0, program: "unit:album.service", both))
        // And a no to it has an effect there.
        try await gate.set(user: 0, program: "unit:album.service", service: .libraryAdd, status: .denied)
        #expect(try await access(rule(.libraryReadWrite, "restrict")) == [.denied, .restricted])
    }

    @Test func `end a grant to add with the reading that it rests on`() async throws {
        try await gate.set(user: 0, program: "unit:album.service", service: .libraryReadWrite, status: .authorized)
        let adding = try #require(try await gate.request([.libraryAdd], .album)[.libraryAdd])
        #expect(try await access(rule(.libraryReadWrite, "restrict")) == [.notDetermined, .restricted])
        #expect(!adding.isLive)
        #expect(adding.withdrawalReason.contains("policy forbids it now"))
    }

    @Test func `follow from what policy allows, where nothing is said against adding`() async throws {
        let reading = rule(.libraryReadWrite, "allow")
        #expect(try await access(reading) == [.authorized, .authorized])
        let adding = try #require(try await gate.request([.libraryAdd], .album)[.libraryAdd])
        #expect(adding.source == .libraryReadWrite && adding.basis == .policy)
        let explained = await gate.explain([.libraryAdd], for: .album)[0]
        #expect(explained.decider == .policy && explained.source == .libraryReadWrite && explained.outcome == .starts)
        #expect(try await access(reading, rule(.libraryAdd, "ask")) == [.notDetermined, .authorized])
        #expect(!adding.isLive)
        #expect(try await access(rule(.libraryAdd, "allow")) == [.authorized, .notDetermined])
        // The person's own no to adding stands above what policy allows of reading, and withdraws what that gave.
        #expect(try await access(reading) == [.authorized, .authorized])
        let given = try #require(try await gate.request([.libraryAdd], .album)[.libraryAdd])
        try await gate.set(user: 0, program: "unit:album.service", service: .libraryAdd, status: .denied)
        #expect(!given.isLive)
        #expect(try await access(reading) == [.denied, .authorized])
        #expect(person.asked.isEmpty)
    }
}
