import CaptureCore
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Authorization

/// What is answered without the gate, and that it is never more than the gate would say.
@Suite struct `A remembered decision` {
    /// A clock of the test's own, well after the store was written. It stands still, however long a busy machine takes.
    private final class Clock: Sendable {
        private let time = Mutex(AnswerTime.now)
        private let ahead = Mutex<Int64>(3000)
        var now: AnswerTime {
            var time = time.withLock(\.self)
            let ahead = ahead.withLock { $0 }
            time.wall += ahead
            time.sinceBoot += ahead
            return time
        }
        func goOn(_ milliseconds: Int64) { ahead.withLock { $0 += milliseconds } }
        /// Goes to some seconds after what was just written, which has a timestamp of the real clock.
        func goPastWrite() {
            time.withLock { $0 = .now }
            goOn(3000)
        }
    }

    private let folder: TemporaryFolder
    private let clock = Clock()
    private let log = DecisionLog()
    private let store: AuthorizationStore
    private let gate: AuthorizationGate
    private let client = ClientIdentity.program("/usr/bin/env", inode: 7)
    private var file: String { folder.path + "/" + AuthorizationStore.fileName }

    init() async throws {
        folder = try TemporaryFolder()
        store = AuthorizationStore(directory: folder.path)
        gate = AuthorizationGate(store: store, prompter: Person(), decisions: log.note, now: { [clock] in clock.now })
        try put(.authorized)
        try await decide()
    }

    private func put(_ status: AuthorizationStatus, _ lifetime: GrantLifetime = .always) throws {
        let now = clock.now
        let answer = StoredAnswer(
            user: 1000,
            program: client.program,
            service: .camera,
            tier: .claimed,
            status: status,
            reason: .answer,
            time: now,
            executable: client.executable,
            detail: "the session 3",
            lifetime: lifetime,
            // Else the first use is written down, and with it the file changes.
            lastUsed: now
        )
        try store.put([answer])
        clock.goPastWrite()
        // Files are stamped by a clock that ticks: the next write is to be at another tick.
        let written = Self.tick
        while Self.tick == written {}
    }

    private static var tick: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return time.tv_nsec
    }

    @Test func `for chosen assets is remembered as that, and each request for it is told so`() async throws {
        let row = StoredAnswer(
            user: 1000,
            program: client.program,
            service: .libraryReadWrite,
            tier: .claimed,
            status: .limited,
            reason: .answer,
            time: clock.now,
            executable: client.executable,
            detail: "the session 3",
            lastUsed: clock.now
        )
        try store.put([row])
        clock.goPastWrite()
        let written = Self.tick
        while Self.tick == written {}
        _ = try await gate.request([.camera, .libraryAdd, .libraryReadWrite], client)
        #expect(gate.remembered.status(.libraryReadWrite, for: client) == .limited)
        #expect(gate.remembered.status(.libraryAdd, for: client) == .limited)
        #expect(gate.remembered.grants([.camera], for: client))
        #expect(!gate.remembered.grants([.libraryAdd], for: client))
        #expect(!gate.remembered.grants([.libraryReadWrite], for: client))
    }

    /// By the gate, which remembers.
    private func decide() async throws {
        _ = try await gate.request([.camera], client)
    }

    private var isGranted: Bool { gate.remembered.grants([.camera], for: client) }
    private var status: AuthorizationStatus? { gate.remembered.status(.camera, for: client) }

    @Test func `is what the gate has decided, for that program and service alone`() async throws {
        #expect(isGranted)
        #expect(status == .authorized)
        #expect(!gate.remembered.grants([.camera, .microphone], for: client))
        #expect(!gate.remembered.grants([], for: client))
        #expect(gate.remembered.status(.microphone, for: client) == nil)
        let other = ClientIdentity.program("/usr/bin/env", inode: 8)
        #expect(!gate.remembered.grants([.camera], for: other))
        #expect(gate.remembered.status(.camera, for: other) == nil)
    }

    @Test func `goes with any write to the store, by whomever`() async throws {
        try put(.denied)
        #expect(!isGranted)
        #expect(status == nil)
        #expect(try await gate.status(.camera, for: client) == .denied)
        #expect(status == .denied)
        #expect(!isGranted)

        let other = try DatabaseQueue(path: file)
        try await other.write { try $0.execute(sql: "UPDATE answer SET status = 3") }
        clock.goOn(5)
        #expect(status == nil)
        try other.close()
    }

    @Test func `goes with an answer that is set or reset`() async throws {
        try await gate.set(user: 1000, program: client.program, service: .camera, status: .denied)
        #expect(!isGranted)
        _ = try await gate.reset(user: 1000, program: client.program, service: .camera)
        #expect(status == nil)
        #expect(try await gate.status(.camera, for: client) == .notDetermined)
        #expect(status == nil)
    }

    @Test func `goes with policy, a switch and limits`() async throws {
        await gate.setPolicy(Policy())
        #expect(!isGranted)
        try await decide()
        #expect(isGranted)
        try await gate.setSwitch(.camera, isOn: false)
        #expect(!isGranted)
        _ = try await gate.status(.camera, for: client)
        #expect(status == .authorized)
        #expect(!isGranted)
        try await gate.setSwitch(.camera, isOn: true)
        try await decide()
        await gate.setLifetimes(LifetimeLimits(unused: 1_000_000))
        #expect(!isGranted)
        // From here on it depends on the time.
        try await decide()
        #expect(!isGranted)
    }

    @Test func `goes when its file is opened to others, moved away or brought back`() async throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        clock.goOn(5)
        #expect(!isGranted)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        clock.goPastWrite()
        try await decide()
        #expect(isGranted)
        try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
        clock.goOn(5)
        #expect(!isGranted)
        try FileManager.default.copyItem(atPath: file + ".away", toPath: file)
        #expect(!isGranted)
    }

    @Test func `is not kept where the answer has a date, or the file has just changed`() async throws {
        try put(.authorized, .until(clock.now.wall + 1_000_000))
        try await decide()
        #expect(!isGranted)
        #expect(status == nil)
        try put(.authorized)
        clock.goOn(-12000)
        try await decide()
        #expect(!isGranted)
    }

    @Test func `is looked at again after some seconds`() async throws {
        clock.goOn(9000)
        #expect(isGranted)
        try await decide()
        clock.goOn(1500)
        #expect(!isGranted)
        try await decide()
        #expect(isGranted)
    }

    @Test func `is told to the journal by the gate alone`() async throws {
        let before = log.decisions.count
        #expect(isGranted)
        #expect(log.decisions.count == before)
        try await decide()
        #expect(log.decisions.count == before + 1)
        #expect(log.decisions.last?.cause == .storedAnswer)
        #expect(log.decisions.last?.status == .authorized)
    }

    @Test func `goes when its user does`() async throws {
        await gate.setPresence(Away())
        #expect(!isGranted)
        _ = try await gate.status(.camera, for: client)
        #expect(status == .authorized)
        #expect(!isGranted)
    }

    private struct Away: Presence {
        func absence(of client: ClientIdentity) async -> String? { "nobody is there" }
    }
}
