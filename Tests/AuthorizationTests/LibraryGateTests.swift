import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import Authorization

@Suite struct `The consent of the media library` {
    private let store = AuthorizationStore.inMemory()
    private let log = DecisionLog()

    private func gate(_ person: PreparedPerson, policy: Policy = Policy()) -> AuthorizationGate {
        AuthorizationGate(
            store: store,
            usage: FixedUsageDescriptions("to keep your pictures"),
            prompter: person,
            policy: policy,
            decisions: log.note
        )
    }

    @Test(arguments: LibraryRow.table)
    func `follows the table, and each level prompts once`(_ row: LibraryRow) async throws {
        let person = PreparedPerson(row.answers)
        let gate = gate(person)
        let wants =
            row.asked.contains { (row.answers[$0] ?? .init(true)).isAllowed == false } ? CaptureError.Code.denied : nil
        if !row.asked.isEmpty {
            #expect(await code { _ = try await gate.request(row.asked) } == wants)
            #expect(person.asked == [row.asked.sorted()])
        }
        let found = try await gate.libraryAccess(for: .program())
        #expect(found == LibraryStatuses(add: row.add, readWrite: row.readWrite))
        #expect(found.withoutLevel == row.withoutLevel)
        #expect(try await gate.status(.libraryAdd, for: .program()) == row.add)
        #expect(try await gate.status(.libraryReadWrite, for: .program()) == row.readWrite)
        for explanation in await gate.explain(Service.ofLibrary, for: .program()) {
            #expect(explanation.status == (explanation.service == .libraryAdd ? found.add : found.readWrite))
        }
        let before = person.asked.count
        _ = await code { _ = try await gate.request([.libraryAdd]) }
        #expect(person.asked.count == before + (row.addPrompts ? 1 : 0))
        _ = await code { _ = try await gate.request([.libraryReadWrite]) }
        #expect(person.asked.count == before + (row.addPrompts ? 1 : 0) + (row.readWritePrompts ? 1 : 0))
    }

    @Test func `of a level that was asked leaves the other to be asked`() async throws {
        let person = PreparedPerson([.libraryAdd: false], [.libraryReadWrite: .chosen])
        let gate = gate(person)
        #expect(await code { _ = try await gate.request([.libraryAdd]) } == .denied)
        let reading = try #require(try await gate.request([.libraryReadWrite])[.libraryReadWrite])
        #expect(reading.isLimited)
        // Who may read may add, whatever was answered to adding before.
        let adding = try #require(try await gate.request([.libraryAdd])[.libraryAdd])
        #expect(adding.isLimited)
        #expect(adding.source == .libraryReadWrite)
        #expect(person.asked == [[.libraryAdd], [.libraryReadWrite]])
    }

    @Test func `asks in one question for what neither answer decides`() async throws {
        let person = PreparedPerson([.libraryAdd: true], [.libraryReadWrite: true])
        let gate = gate(person)
        _ = try await gate.request([.libraryAdd])
        let grants = try await gate.request(LibraryRow.both)
        #expect(person.asked == [[.libraryAdd], [.libraryReadWrite]])
        #expect(grants.values.allSatisfy { !$0.isLimited && $0.source == .libraryReadWrite })
        #expect(log.decisions.last?.message == "exe:/usr/bin/cheese may read and change the media library")
    }

    @Test func `for chosen assets is an answer about reading alone`() async throws {
        let person = PreparedPerson([.libraryAdd: .chosen], [.camera: .chosen])
        let gate = gate(person)
        #expect(await code { _ = try await gate.request([.libraryAdd]) } == .dismissed)
        #expect(await code { _ = try await gate.request([.camera]) } == .dismissed)
        #expect(try await gate.list().isEmpty)
        for service in Service.allCases where service != .libraryReadWrite {
            #expect(
                await code {
                    try await gate.set(user: 0, program: "unit:a.service", service: service, status: .limited)
                } == .invalidArgument
            )
            let row = StoredAnswer(
                user: 0,
                program: "unit:a.service",
                service: service,
                tier: .service,
                status: .limited,
                reason: .settings,
                time: .now,
                detail: "a test"
            )
            #expect(code { try store.put([row]) } == .invalidArgument)
        }
        #expect(store.state == .usable)
    }

    @Test func `tells the journal of a yes for chosen assets`() async throws {
        let gate = gate(PreparedPerson([.libraryReadWrite: .chosen]))
        _ = try await gate.request([.libraryReadWrite])
        #expect(log.decisions.map(\.status) == [.limited, .limited])
        #expect(log.decisions.first?.message.contains("said yes for chosen assets to") == true)
        #expect(
            log.decisions.last?.message == "exe:/usr/bin/cheese may read and change chosen assets of the media library"
        )
        #expect(try await gate.listed().map(\.status) == [.limited])
    }

    @Test func `needs a reason for each level, and names the key that is missing`() async throws {
        let person = PreparedPerson()
        let gate = AuthorizationGate(
            store: store,
            usage: MetadataUsageDescriptions(applications: [], units: [], overrides: ["/nonexistent/apps.d"]),
            prompter: person
        )
        let keys: [Service: String] = [
            .libraryAdd: "X-Capture-LibraryAddUsageDescription=",
            .libraryReadWrite: "X-Capture-LibraryUsageDescription=",
        ]
        for services in [[.libraryAdd], [.libraryReadWrite], LibraryRow.both] {
            let error = await #expect(throws: CaptureError.self) { try await gate.request(services) }
            #expect(error?.code.exitCode == 78)
            for (service, key) in keys { #expect(error?.message.contains(key) == services.contains(service)) }
        }
        #expect(person.asked.isEmpty)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `has reasons for both levels in the command line's own metadata`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("config/capturectl.desktop"), encoding: .utf8)
        let entry = KeyFile(parsing: text, path: "capturectl.desktop", dialect: .desktopEntry)
        for service in Service.allCases {
            #expect(entry.value("Desktop Entry", service.usageKey)?.isEmpty == false, "\(service.usageKey)")
        }
    }
}
