import CaptureBus
import CaptureCore
import CaptureMessages
import Glibc
import TestSupport
import Testing

@testable import Authorization
@testable import CaptureService

@Suite struct `The history on the bus` {
    private let commandLine = ShippedProgram(path: "/usr/bin/capturectl", root: SystemRoot(ofProcessOne: false))

    private func caller(_ user: UInt32, _ tier: Tier = .claimed) -> ClientIdentity {
        ClientIdentity(program: "exe:/usr/bin/a", tier: tier, user: user, name: "a", detail: "a test")
    }

    private func allowed(_ filter: [String: BusValue], to caller: ClientIdentity) throws(CaptureError) -> HistoryFilter
    {
        try HistoryPages.allowed(HistoryFilter(busValue: .properties(filter)), to: caller)
    }

    @Test func `shows a user its own and root everything`() throws {
        #expect(try allowed([:], to: caller(1000)).user == "1000")
        #expect(try allowed(["user": .string("1000")], to: caller(1000)).user == "1000")
        #expect(try allowed([:], to: caller(0)).user == nil)
        #expect(try allowed(["user": .string("1001")], to: caller(0)).user == "1001")
        #expect(code { try allowed(["user": .string("1001")], to: caller(1000)) } == .notPermitted)
    }

    @Test(arguments: [Tier.sandboxed, .service, .user])
    func `shows a program that is no person's tool what it did itself`(tier: Tier) throws {
        #expect(try allowed([:], to: caller(1000, tier)).program == "exe:/usr/bin/a")
        #expect(code { try allowed(["program": .string("exe:/usr/bin/b")], to: caller(1000, tier)) } == .notPermitted)
    }

    @Test func `refuses a filter that it does not know, or of another type`() {
        for filter: [String: BusValue] in [
            ["colour": .string("red")], ["limit": .uint32(0)], ["limit": .uint32(201)], ["before": .uint64(0)],
            ["since": .string("yesterday")], ["service": .string("kitchen")], ["program": .uint32(1)],
        ] {
            #expect(code { try allowed(filter, to: caller(0)) } == .invalidArgument)
        }
    }

    @Test(arguments: [Tier.claimed, .sandboxed])
    func `shows who changed a program's answer, but not to a program in a sandbox`(tier: Tier) async throws {
        let keeper = HistoryKeeper()
        let client = caller(1000, tier)
        keeper.note(
            Decision(
                program: client.program,
                tier: tier,
                user: 1000,
                pid: 0,
                identity: "set by id",
                service: .camera,
                status: .denied,
                cause: .settings,
                message: "",
                author: SettingsAuthor(user: 0, program: "exe:/usr/bin/capturectl")
            )
        )
        let pages = HistoryPages(keeper: keeper, commandLine: commandLine)
        let row = try await pages.answer(HistoryFilter(), to: client).first?.elements?.first?.properties
        let isTold = tier == .claimed
        #expect(row?["author-user"] == .string(isTold ? "root" : ""))
        #expect(row?["author-program"] == .string(isTold ? "exe:/usr/bin/capturectl" : ""))
    }

    @Test(arguments: [(UInt32(1000), 3), (0, 4)])
    func `tells of what others did to the media library to no program`(user: UInt32, count: Int) async throws {
        let keeper = HistoryKeeper()
        for (program, service) in [
            ("exe:/usr/bin/a", Service.libraryReadWrite), ("exe:/usr/bin/b", .libraryReadWrite),
            ("exe:/usr/bin/b", .camera), ("exe:/usr/bin/a", .camera),
        ] {
            keeper.note(
                Decision(
                    program: program,
                    tier: .claimed,
                    user: 1000,
                    pid: 7,
                    identity: "a test",
                    service: service,
                    status: .authorized,
                    cause: .confirmation,
                    message: "secret.jpg"
                )
            )
        }
        let pages = HistoryPages(keeper: keeper, commandLine: commandLine)
        var found: [String] = []
        var filter = HistoryFilter(limit: 1)
        // Whatever is left out, a page is as full as it can be.
        while true {
            let answer = try await pages.answer(filter, to: caller(user))
            let row = try #require(answer[0].elements?.first?.properties)
            found.append("\(row["program"]?.text ?? "") \(row["service"]?.text ?? "")")
            guard let next = answer[1].unsigned, next > 0 else { break }
            filter.before = Int64(next)
        }
        #expect(found.count == count)
        #expect(found.contains("exe:/usr/bin/b library-read-write") == (user == 0))
    }

    @Test func `has in the journal beside it who changed an answer`() {
        var decision = Decision(
            program: "exe:/a",
            user: 1000,
            pid: 0,
            identity: "set by id",
            service: .camera,
            status: .denied,
            cause: .settings,
            message: "camera of exe:/a was set to denied"
        )
        #expect(SessionJournal.sentence(on: decision) == "camera of exe:/a was set to denied")
        decision.author = SettingsAuthor(user: 0, program: "exe:/usr/bin/capturectl")
        #expect(
            SessionJournal.sentence(on: decision)
                == "camera of exe:/a was set to denied, by exe:/usr/bin/capturectl of root"
        )
    }

    @Test func `comes in pages that say where the next one begins`() async throws {
        let keeper = HistoryKeeper()
        let client = caller(getuid())
        for number in 1...5 {
            _ = try await keeper.begin([
                DeviceUse(
                    client: client,
                    service: .camera,
                    device: DeviceID(rawValue: "c"),
                    deviceName: "C",
                    basis: .settings,
                    session: UInt32(number)
                )
            ])
        }
        let pages = HistoryPages(keeper: keeper, commandLine: commandLine)
        var filter = HistoryFilter(limit: 2)
        var sessions: [Int64] = []
        while true {
            let answer = try await pages.answer(filter, to: client)
            let entries = try #require(answer[0].elements).compactMap(\.properties)
            sessions += entries.compactMap { $0["session"]?.integer }
            #expect(entries.allSatisfy { $0["cause"] == .string("settings") && $0["ended"] == .int64(0) })
            #expect(entries.allSatisfy { $0["user"] == .string(Users.name(of: getuid())) })
            guard let next = answer[1].unsigned, next > 0 else { break }
            filter.before = Int64(next)
        }
        #expect(sessions == [5, 4, 3, 2, 1])
    }
}
