import CaptureCore
import TestSupport
import Testing

@testable import Authorization

@Suite struct `A choice about the media library in settings` {
    private let clock = FakeClock(wall: AnswerTime.now.wall + 3_600_000)
    private let person = PreparedPerson()
    private let log = DecisionLog()
    private let gate: AuthorizationGate

    init() {
        gate = AuthorizationGate(prompter: person, decisions: log.note, now: { [clock] in clock.now })
    }

    @Test(arguments: LibraryRow.table)
    func `changes later what was answered, and is never asked about again`(_ row: LibraryRow) async throws {
        if !row.asked.isEmpty {
            person.prepare(row.answers)
            _ = await code { _ = try await gate.request(row.asked, .album) }
        }
        let asked = person.asked.count
        let expected: [LibraryChoice: [AuthorizationStatus]] = [
            .none: [.denied, .denied, .denied], .addOnly: [.denied, .authorized, .denied],
            .limited: [.authorized, .limited, .limited], .all: [.authorized, .authorized, .authorized],
        ]
        for choice in LibraryChoice.allCases + LibraryChoice.allCases.reversed() {
            try await gate.set(choice)
            let found = try await gate.libraryAccess(for: .album)
            #expect([found.withoutLevel, found.add, found.readWrite] == expected[choice])
            _ = await code { _ = try await gate.request([.libraryAdd], .album) }
            _ = await code { _ = try await gate.request([.libraryReadWrite], .album) }
        }
        #expect(person.asked.count == asked)
    }

    @Test func `withdraws what it does not cover any more`() async throws {
        func grants() async throws -> [Grant] {
            let given = try await gate.request(LibraryRow.both, .album)
            return [Service.libraryAdd, .libraryReadWrite].compactMap { given[$0] }
        }
        try await gate.set(.all)
        let all = try await grants()
        try await gate.set(.limited)
        #expect(all.allSatisfy { !$0.isLive })
        #expect(all.last?.withdrawalReason.contains("chosen assets") == true)
        let limited = try await grants()
        #expect(limited.allSatisfy { $0.isLimited })
        try await gate.set(.all)
        #expect(limited.allSatisfy { $0.isLive })
        try await gate.set(.addOnly)
        #expect(limited.allSatisfy { !$0.isLive })
        let adding = try #require(try await gate.request([.libraryAdd], .album)[.libraryAdd])
        #expect(adding.source == .libraryAdd && !adding.isLimited)
        try await gate.set(.all)
        #expect(adding.isLive)
        try await gate.set(.none)
        #expect(!adding.isLive)
    }

    @Test func `withdraws a grant to add with the answer about reading that is forgotten`() async throws {
        try await gate.set(user: 0, program: "unit:album.service", service: .libraryReadWrite, status: .limited)
        let adding = try #require(try await gate.request([.libraryAdd], .album)[.libraryAdd])
        try await gate.reset(user: 0, program: "unit:album.service", service: .libraryReadWrite)
        #expect(!adding.isLive)
        #expect(try await gate.status(.libraryAdd, for: .album) == .notDetermined)
    }

    @Test func `is both answers or neither`() async throws {
        let options = SettingOptions(lifetime: .until(1))
        #expect(await code { try await gate.set(.all, options) } == .invalidArgument)
        #expect(try await gate.list().isEmpty)
        try await gate.set(.addOnly, SettingOptions(lifetime: .until(clock.now.wall + 1000)))
        let rows = try await gate.list()
        #expect(rows.map(\.status) == [.authorized, .denied])
        #expect(rows.map(\.lifetime.moment) == [clock.now.wall + 1000, nil])
        #expect(await code { try await gate.set(.none, SettingOptions(lifetime: .until(.max))) } == .invalidArgument)
    }

    @Test func `for chosen assets ends at its time, and what was added on it ends with it`() async throws {
        try await gate.set(.limited, SettingOptions(lifetime: .until(clock.now.wall + 1000)))
        let adding = try #require(try await gate.request([.libraryAdd], .album)[.libraryAdd])
        clock.pass(1001)
        await gate.endDue()
        #expect(!adding.isLive)
        #expect(try await gate.libraryAccess(for: .album).readWrite == .notDetermined)
    }

    @Test func `for chosen assets ends when it is not used, and adding by it is a use`() async throws {
        let day: Int64 = 86_400_000
        await gate.setLifetimes(LifetimeLimits(unused: day))
        try await gate.set(.limited)
        var adding: Grant? = try await gate.request([.libraryAdd], .album)[.libraryAdd]
        clock.pass(2 * day)
        await gate.endDue()
        #expect(adding?.isLive == true)
        #expect(try await gate.libraryAccess(for: .album).readWrite == .limited)
        adding = nil
        clock.pass(2 * day)
        await gate.endDue()
        let found = try await gate.libraryAccess(for: .album)
        #expect([found.add, found.readWrite] == [.notDetermined, .notDetermined])
    }

    @Test func `for this session allows adding as long, and ends with it`() async throws {
        person.prepare([.libraryReadWrite: PersonsAnswer(true, isLimited: true, lifetime: .session)])
        await gate.connected([.album], revision: 1)
        let reading = try #require(try await gate.request([.libraryReadWrite], .album)[.libraryReadWrite])
        let adding = try #require(try await gate.request([.libraryAdd], .album)[.libraryAdd])
        #expect(adding.isLimited && adding.source == .libraryReadWrite)
        // Another session of the same process still adds by it.
        await gate.sessionEnded([reading])
        #expect(try await gate.status(.libraryAdd, for: .album) == .limited)
        await gate.sessionEnded([adding])
        #expect(try await gate.status(.libraryAdd, for: .album) == .notDetermined)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `refuses a no to adding that would have no effect, and names what has one`() async throws {
        let unit = "unit:album.service"
        for choice in [LibraryChoice.limited, .all] {
            try await gate.set(choice)
            let error = await #expect(throws: CaptureError.self) {
                try await gate.set(user: 0, program: unit, service: .libraryAdd, status: .denied)
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.hasSuffix("capturectl auth set 'unit:album.service' library none") == true)
        }
        try await gate.set(.addOnly)
        try await gate.set(user: 0, program: unit, service: .libraryAdd, status: .denied)
        #expect(try await gate.status(.libraryAdd, for: .album) == .denied)
    }

    @Test func `loosens only what is not allowed already`() async throws {
        /// What may be set without being asked, from the least; each covers those before it.
        let order = LibraryChoice.allCases
        for (index, from) in order.enumerated() {
            try await gate.set(from)
            for (other, to) in order.enumerated() {
                let answers: [Service: AuthorizationStatus] = [
                    .libraryAdd: to.answers.add, .libraryReadWrite: to.answers.readWrite,
                ]
                let loosens = try await gate.loosens(user: 0, program: "unit:album.service", answers)
                #expect(loosens == (other > index), "from \(from) to \(to)")
            }
        }
        try await gate.set(.limited, SettingOptions(lifetime: .until(clock.now.wall + 1000)))
        let same: [Service: AuthorizationStatus] = [.libraryReadWrite: .limited]
        #expect(try await gate.loosens(user: 0, program: "unit:album.service", same))
        let shorter = GrantLifetime.until(clock.now.wall + 500)
        #expect(try await !gate.loosens(user: 0, program: "unit:album.service", same, lifetime: shorter))
        // A yes to a device is always said anew.
        try await gate.set(user: 0, program: "unit:album.service", service: .camera, status: .authorized)
        #expect(try await gate.loosens(user: 0, program: "unit:album.service", [.camera: .authorized]))
        await gate.setLifetimes(LifetimeLimits(unused: 86_400_000))
        #expect(try await gate.loosens(user: 0, program: "unit:album.service", [.libraryAdd: .authorized]))
    }

    @Test func `that may not loosen does not, whatever stood a moment ago`() async throws {
        try await gate.set(.all)
        try await gate.set(.none)
        let error = await code { try await gate.set(.limited, SettingOptions(mayLoosen: false)) }
        #expect(error == .notPermitted)
        #expect(try await gate.libraryAccess(for: .album).readWrite == .denied)
        try await gate.set(.all)
        try await gate.set(.limited, SettingOptions(mayLoosen: false))
        #expect(try await gate.libraryAccess(for: .album).readWrite == .limited)
    }

    @Test func `takes away a question that it answers`() async throws {
        let asking = Person()
        let gate = AuthorizationGate(prompter: asking)
        async let adding = gate.request([.libraryAdd], .album)
        await asking.wasAsked()
        try await gate.set(user: 0, program: "unit:album.service", service: .libraryReadWrite, status: .limited)
        #expect(try await adding[.libraryAdd]?.isLimited == true)
        #expect(asking.asked.count == 1)
    }
}
