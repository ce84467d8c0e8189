@testable import Authorization
import CaptureCore
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

/// A clock that moves when the test says so.
final class FakeClock: Sendable {
    private let time: Mutex<AnswerTime>

    init(wall: Int64 = 1_700_000_000_000, sinceBoot: Int64 = 5_000_000, boot: String = "first") {
        time = Mutex(AnswerTime(wall: wall, sinceBoot: sinceBoot, boot: boot))
    }

    var now: AnswerTime { time.withLock { $0 } }

    /// Time passes.
    func pass(_ milliseconds: Int64) {
        time.withLock {
            $0.wall += milliseconds
            $0.sinceBoot += milliseconds
        }
    }

    /// Somebody sets the wall clock by that much.
    func set(by milliseconds: Int64) { time.withLock { $0.wall += milliseconds } }

    /// The machine starts anew, having been off for a while by the wall clock.
    func reboot(_ boot: String, off milliseconds: Int64 = 60_000) {
        time.withLock { $0 = AnswerTime(wall: $0.wall + milliseconds, sinceBoot: 10_000, boot: boot) }
    }
}

@Suite struct `The history` {
    let folder: TemporaryFolder
    let clock = FakeClock()
    var file: String { folder.path + "/" + HistoryStore.fileName }
    static let day: Int64 = 86_400_000

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() -> HistoryStore {
        HistoryStore(.directory(folder.path)) { [clock] in clock.now }
    }

    private func keeper(_ store: HistoryStore, age: Int64 = 90 * day, count: Int = 1000) -> HistoryKeeper {
        HistoryKeeper(store, limits: HistoryLimits(age: age, count: count), now: { [clock] in clock.now })
    }

    private func use(_ client: ClientIdentity = .program(), _ service: Service = .camera) -> DeviceUse {
        DeviceUse(
            client: client,
            service: service,
            device: DeviceID(rawValue: "v4l2:usb-1"),
            deviceName: "A Camera",
            basis: .answer,
            session: 3
        )
    }

    private func decision(
        _ cause: Decision.Cause,
        _ status: AuthorizationStatus,
        program: String = "exe:/usr/bin/b",
        user: UInt32 = 1000
    ) -> Decision {
        Decision(
            program: program,
            tier: .claimed,
            user: user,
            pid: 7,
            identity: "a test",
            service: .camera,
            status: status,
            cause: cause,
            message: "as the test says"
        )
    }

    private func all(_ store: HistoryStore) throws -> [HistoryEntry] { try store.page(HistoryFilter(limit: 10_000)) }

    @Test func `has a use on disk before anything is captured, and its length when it has ended`() async throws {
        let keeper = keeper(open())
        let keys = try await keeper.begin([use()])
        let begun = try #require(try all(open()).first)
        #expect(begun.kind == .use)
        clock.pass(61_500)
        await keeper.end(keys, as: .revoked, "the consent was withdrawn")
        let entry = try #require(try all(open()).first)
        #expect(entry.outcome == "revoked")
        #expect(entry.duration == 61_500)
        #expect(entry.ended == entry.began.wall + 61_500)
        #expect(entry.message == "the consent was withdrawn")
        #expect(entry.program == "exe:/usr/bin/cheese")
        #expect(entry.tier == .claimed)
        #expect(entry.user == 1000)
        #expect(entry.deviceName == "A Camera")
        #expect(entry.cause == "answer")
        #expect(entry.session == 3)
    }

    @Test func `is the daemon's alone`() throws {
        #expect(open().state == .usable)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `counts a use's length by the clock that nobody sets`() async throws {
        let store = open()
        let keeper = keeper(store)
        let keys = try await keeper.begin([use()])
        clock.pass(60_000)
        clock.set(by: -3_600_000)
        #expect(try all(store).first?.duration == 60_000)
        await keeper.end(keys, as: .stopped)
        #expect(try all(store).first?.duration == 60_000)
    }

    @Test func `ends what a killed daemon left open at the latest time at which that lived`() async throws {
        do {
            let store = open()
            _ = try await keeper(store).begin([use(), use(.program(), .microphone)])
            clock.pass(90_000)
            try store.beat()
            clock.pass(5_000)
        }
        clock.reboot("second", off: 3_600_000)
        let entries = try all(open())
        #expect(entries.map(\.outcome) == ["daemon-ended", "daemon-ended"])
        #expect(entries.map(\.duration) == [90_000, 90_000])
        #expect(entries.allSatisfy { $0.ended == $0.began.wall + 90_000 })
    }

    @Test func `leaves alone what its own daemon has open`() async throws {
        let store = open()
        let keeper = keeper(store)
        _ = try await keeper.begin([use()])
        _ = try await keeper.begin([use(.program(), .microphone)])
        #expect(try all(store).allSatisfy { $0.ended == nil && $0.outcome.isEmpty })
    }

    @Test func `has every decision and change, who asked in vain being counted`() async throws {
        let store = open()
        let keeper = keeper(store)
        keeper.note(decision(.answer, .denied))
        for _ in 1...1000 { keeper.note(decision(.storedAnswer, .denied)) }
        keeper.note(decision(.settings, .authorized))
        keeper.note(decision(.storedAnswer, .authorized))
        let entries = try await keeper.page(HistoryFilter(limit: 10))
        #expect(entries.map(\.cause) == ["settings", "stored-answer", "answer"])
        #expect(entries.map(\.kind) == [.setting, .decision, .decision])
        #expect(entries.map(\.times) == [1, 1000, 1])
        clock.pass(1_800_000)
        keeper.note(decision(.storedAnswer, .denied))
        #expect(try await keeper.page(HistoryFilter(limit: 10)).map(\.times) == [1, 1001, 1])
        clock.pass(3_700_000)
        keeper.note(decision(.storedAnswer, .denied))
        #expect(try await keeper.page(HistoryFilter(limit: 10)).map(\.times) == [1, 1, 1001, 1])
    }

    @Test func `has who turned a switch`() async throws {
        let keeper = keeper(open())
        keeper.note(switch: .microphone, isOn: false, by: .program())
        let entry = try #require(try await keeper.page(HistoryFilter(limit: 10)).first)
        #expect(entry.kind == .setting && entry.service == .microphone && entry.status == .restricted)
        #expect(entry.user == 1000 && entry.program == "exe:/usr/bin/cheese")
        #expect(entry.message == "the microphone was switched off for every program")
        #expect(entry.author == SettingsAuthor(user: 1000, program: "exe:/usr/bin/cheese"))
    }

    @Test func `has who set and reset an answer, and nobody where it ended by itself`() async throws {
        let keeper = keeper(open())
        let gate = AuthorizationGate(prompter: Person(), decisions: keeper.note, now: { [clock] in clock.now })
        let root = SettingsAuthor(user: 0, program: "exe:/usr/bin/capturectl")
        let panel = SettingsAuthor(user: 1000, program: "app:panel")
        func set(_ service: Service, _ lifetime: GrantLifetime, _ author: SettingsAuthor) async throws {
            try await gate.set(
                user: 1000,
                program: "flatpak:org.a.B",
                service: service,
                status: .authorized,
                lifetime: lifetime,
                by: author
            )
        }
        try await set(.camera, .always, root)
        try await set(.microphone, .until(clock.now.wall + 5), panel)
        clock.pass(6)
        await gate.endDue()
        _ = try await gate.reset(user: 1000, program: "flatpak:org.a.B", service: nil, by: panel)
        let entries = try await keeper.page(HistoryFilter(limit: 10))
        #expect(entries.map(\.cause) == ["settings", "expired", "settings", "settings"])
        #expect(entries.map(\.author) == [panel, nil, panel, root])
        // From the disk, as the next daemon reads it.
        #expect(try all(open()).map(\.author) == [panel, nil, panel, root])
    }

    @Test func `of version 1 is taken over, where nobody knows who changed a setting`() async throws {
        let former = keeper(open())
        former.note(switch: .camera, isOn: false, by: .program())
        _ = try await former.begin([use()])
        // What it noted is written by a task of its own.
        await former.finish()
        let queue = try DatabaseQueue(path: file)
        try await queue.write { database in
            try database.execute(
                sql: """
                    ALTER TABLE entry DROP COLUMN authorProgram;
                    ALTER TABLE entry DROP COLUMN authorUser;
                    PRAGMA user_version = 1;
                    """
            )
        }
        try queue.close()
        let store = open()
        #expect(store.state == .usable)
        #expect(try store.file.pragma("user_version") == "2")
        #expect(try all(store).allSatisfy { $0.author == nil })
        let keeper = keeper(store)
        keeper.note(switch: .camera, isOn: true, by: .program())
        #expect(try await keeper.page(HistoryFilter(limit: 10)).first?.author?.user == 1000)
    }

    @Test func `keeps its whole length though a program makes more of it than is kept`() async throws {
        let store = open()
        let keeper = keeper(store, count: 1000)
        let began = clock.now.wall
        let other = try await keeper.begin([use(.program("/usr/bin/other", user: 1001))])
        await keeper.end(other, as: .stopped)
        for _ in 0..<2500 {
            let keys = try await keeper.begin([use()])
            clock.pass(100)
            await keeper.end(keys, as: .stopped)
        }
        let entries = try all(store)
        #expect(entries.count <= 1000)
        #expect(entries.contains { $0.program == "exe:/usr/bin/other" })
        let mine = entries.filter { $0.program == "exe:/usr/bin/cheese" }
        #expect(mine.last?.began.wall == began)
        #expect(mine.reduce(0) { $0 + $1.times } == 2500)
        #expect(mine.reduce(0) { $0 + $1.duration } == 250_000)
    }

    @Test func `forgets requests that came to nothing before it forgets a use`() async throws {
        let store = open()
        let keeper = keeper(store, count: 100)
        await keeper.end(try await keeper.begin([use()]), as: .stopped)
        for number in 0..<500 {
            keeper.note(decision(.nobodyToAsk, .notDetermined, program: "exe:/home/me/copy-\(number)"))
            _ = try await keeper.page(HistoryFilter(limit: 1))
        }
        let entries = try all(store)
        #expect(entries.count <= 100)
        #expect(entries.contains { $0.kind == .use })
    }

    @Test func `forgets the settings of who changes them without end before uses and others' settings`() async throws {
        let store = open()
        let keeper = keeper(store, count: 100)
        keeper.note(decision(.settings, .denied, user: 1001))
        for number in 0..<60 {
            let client = ClientIdentity.program("/usr/bin/program-\(number)", user: 1001)
            await keeper.end(try await keeper.begin([use(client)]), as: .stopped)
        }
        for number in 0..<500 {
            keeper.note(decision(.settings, .denied, program: "exe:/x-\(number)"))
            _ = try await keeper.page(HistoryFilter(limit: 1))
        }
        let entries = try all(store)
        #expect(entries.count <= 100)
        #expect(entries.count { $0.kind == .use } == 60)
        #expect(entries.contains { $0.kind == .setting && $0.user == 1001 })
        #expect(entries.contains { $0.program == "exe:/x-499" })
    }

    @Test func `forgets what is older than it is kept, and never what lasts`() async throws {
        let store = open()
        let keeper = keeper(store, age: Self.day)
        await keeper.end(try await keeper.begin([use()]), as: .stopped)
        _ = try await keeper.begin([use(.program(), .microphone)])
        clock.pass(Self.day + 1)
        await keeper.setLimits(HistoryLimits(age: Self.day, count: 1000))
        #expect(try all(store).map(\.service) == [.microphone])
    }

    @Test func `shows what is asked for, page by page`() async throws {
        let store = open()
        let keeper = keeper(store)
        for number in 0..<25 {
            let client = ClientIdentity.program("/usr/bin/p\(number % 2)", user: 1000 + UInt32(number % 5))
            let keys = try await keeper.begin([use(client, number % 3 == 0 ? .microphone : .camera)])
            clock.pass(1000)
            await keeper.end(keys, as: .stopped)
        }
        var query = HistoryFilter(limit: 10)
        var seen: [Int64] = []
        while true {
            let page = try store.page(query)
            seen += page.map(\.id)
            guard let last = page.last, page.count == 10 else { break }
            query.before = last.id
        }
        #expect(seen == (1...25).reversed().map { Int64($0) })
        query = HistoryFilter(limit: 100)
        query.user = "1002"
        #expect(try store.page(query).count == 5)
        query.program = "exe:/usr/bin/p0"
        #expect(try store.page(query).allSatisfy { $0.program == "exe:/usr/bin/p0" && $0.user == 1002 })
        query = HistoryFilter(limit: 100)
        query.service = .microphone
        #expect(try store.page(query).count == 9)
        let start: Int64 = 1_700_000_000_000
        query = HistoryFilter(limit: 100)
        query.since = start + 20_000
        #expect(try store.page(query).count == 6)
        query.until = start + 20_000
        #expect(try store.page(query).count == 2)
    }

    @Test func `refuses damage with its reason, and keeps the file`() async throws {
        try folder.write(HistoryStore.fileName, String(repeating: "x", count: 8192), mode: 0o600)
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let store = open()
        let keeper = keeper(store)
        let error = await #expect(throws: CaptureError.self) { try await keeper.check() }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("the history \(file) is damaged") == true)
        #expect(await code { _ = try await keeper.begin([use()]) } == .inputOutput)
        #expect(store.remedy == "mv '\(file)' '\(file).damaged'")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        try FileManager.default.moveItem(atPath: file, toPath: file + ".damaged")
        _ = try await keeper.begin([use()])
        #expect(store.state == .usable)
    }

    @Test(arguments: [0o644, 0o660])
    func `refuses a file that others can reach`(mode: Int) throws {
        #expect(open().state == .usable)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        guard case .unusable(let why) = open().state else { return #expect(Bool(false), "it is taken") }
        #expect(why.contains("the history") && why.contains("instead of 0600"))
    }

    @Test func `is not the store of answers, and neither is that a history`() throws {
        _ = AuthorizationStore(directory: folder.path)
        let answers = folder.path + "/" + AuthorizationStore.fileName
        try FileManager.default.copyItem(atPath: answers, toPath: file)
        guard case .unusable(let why) = open().state else { return #expect(Bool(false), "it is taken") }
        #expect(why.contains("not a history of captured"))
    }

    @Test(.enabled(if: SmallDisk.isPossible))
    func `refuses to begin on a full disk, and writes what it owes when there is room`() async throws {
        let disk = try SmallDisk(kilobytes: 256)
        let store = HistoryStore(.directory(disk.path + "/state")) { [clock] in clock.now }
        let complaints = Mutex<[String]>([])
        let keeper = HistoryKeeper(
            store,
            limits: HistoryLimits(age: Self.day, count: 100_000),
            now: { [clock] in clock.now },
            complain: { text in complaints.withLock { $0.append(text) } }
        )
        let keys = try await keeper.begin([use()])
        try disk.fill()
        var fault: CaptureError?
        for _ in 0..<2000 where fault == nil {
            do throws(CaptureError) {
                _ = try await keeper.begin([use(.program(), .microphone)])
            } catch {
                fault = error
            }
        }
        #expect(fault?.code == .inputOutput)
        #expect(fault?.message.contains("full") == true)
        keeper.note(decision(.answer, .authorized))
        clock.pass(5000)
        await keeper.end(keys, as: .stopped)
        #expect(complaints.withLock { $0.count } == 1)
        try disk.makeRoom()
        let entries = try await keeper.page(HistoryFilter(limit: 10_000))
        #expect(entries.first { $0.service == .camera && $0.kind == .use }?.duration == 5000)
        #expect(entries.contains { $0.kind == .decision })
    }

    @Test func `has an end also where its file was swapped meanwhile`() async throws {
        let store = open()
        let keeper = keeper(store)
        let keys = try await keeper.begin([use()])
        try FileManager.default.moveItem(atPath: file, toPath: file + ".kept")
        clock.pass(2000)
        await keeper.end(keys, as: .stopped)
        #expect(try all(store).map(\.duration) == [2000])
    }
}
