import Authorization
import CaptureCore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct `Withdrawal` {
    let gate = AuthorizationGate(prompter: ClosurePrompter.yes)
    let program = "exe:/usr/bin/cheese"

    @Test func `of a grant has stopped everything when it returns`() async throws {
        let grants = try await gate.request([.camera, .microphone])
        let camera = try #require(grants[.camera])
        let one = Stopped(camera, of: gate)
        let other = Stopped(camera, of: gate)
        try await gate.set(user: 1000, program: program, service: .camera, status: .denied)
        #expect(one.hasStopped)
        #expect(other.hasStopped)
        #expect(!camera.isLive)
        #expect(grants[.microphone]?.isLive == true)
    }

    @Test func `waits for what another call withdrew`() async throws {
        let camera = try #require(try await gate.request([.camera])[.camera])
        let stopped = Stopped(camera, of: gate)
        #expect(try await gate.reset(user: 1000, program: program, service: .camera).count == 1)
        #expect(stopped.hasStopped)
        #expect(try await gate.reset(user: 1000, program: program, service: .camera).count == 0)
    }

    @Test func `lets its enforcers call the gate`() async throws {
        let camera = try #require(try await gate.request([.camera])[.camera])
        let caller = Caller(camera, of: gate)
        try await gate.setSwitch(.camera, isOn: false)
        #expect(caller.statuses == [.authorized])
    }

    @Test func `waits for files only if asked to`() async throws {
        let camera = try #require(try await gate.request([.camera])[.camera])
        // Only callers that ask for it wait for the remaining work.
        let slow = Slow(camera, of: gate)
        try await gate.setSwitch(.camera, isOn: false, awaitingFiles: false)
        #expect(!slow.isFinished)
        slow.finish()
        try await gate.setSwitch(.camera, isOn: false)
        #expect(slow.isFinished)
    }

    @Test func `by a reset of everything reaches every program and user`() async throws {
        let one = try #require(try await gate.request([.camera, .microphone])[.camera])
        let two = try #require(try await gate.request([.camera], .program("/usr/bin/b", user: 1001))[.camera])
        #expect(try await gate.reset(user: nil, program: nil, service: nil).count == 3)
        #expect(!one.isLive)
        #expect(!two.isLive)
        #expect(try await gate.list().isEmpty)
        #expect(try await gate.status(.camera, for: .program()) == .notDetermined)
    }

    @Test func `by a reset leaves a no that came after it was looked for, and tells what went`() async throws {
        let camera = try #require(try await gate.request([.camera])[.camera])
        try await gate.set(user: 1000, program: "exe:/usr/bin/other", service: .camera, status: .denied)
        let named = try await gate.list().filter { $0.status == .denied }
        try await gate.set(user: 1000, program: program, service: .microphone, status: .denied)
        let gone = try await gate.reset(user: 1000, program: nil, service: nil, denials: named)
        #expect(Set(gone.map(\.program)) == ["exe:/usr/bin/other", program])
        #expect(Set(gone.map(\.service)) == [.camera])
        #expect(!camera.isLive)
        #expect(try await gate.list().map(\.service) == [.microphone])
        #expect(try await gate.status(.microphone, for: .program()) == .denied)
    }

    @Test func `by a reset leaves a no that was said again since it was looked for`() async throws {
        _ = try await gate.request([.camera])
        let none = try await gate.list().filter { $0.status == .denied }
        try await gate.set(user: 1000, program: program, service: .camera, status: .denied)
        #expect(try await gate.reset(user: 1000, program: program, service: .camera, denials: none).isEmpty)
        #expect(try await gate.status(.camera, for: .program()) == .denied)
        var earlier = try #require(try await gate.list().first)
        earlier.time.wall -= 1
        #expect(try await gate.reset(user: 1000, program: program, service: .camera, denials: [earlier]).isEmpty)
        let named = try await gate.list()
        #expect(try await gate.reset(user: 1000, program: program, service: .camera, denials: named).count == 1)
        #expect(try await gate.status(.camera, for: .program()) == .notDetermined)
    }

    @Test(arguments: [("app:org.a.B", Tier.claimed), ("flatpak:org.a.B", .sandboxed), ("unit:a.service", .service)])
    func `by a no in settings reaches every file of a unit or sandbox, and those that never asked`(
        program: String,
        tier: Tier
    ) async throws {
        func running(_ file: String) -> ClientIdentity {
            var client = ClientIdentity.app("org.a.B", runs: file, isProtected: false)
            client.program = program
            client.tier = tier
            return client
        }
        var grants: [Grant?] = []
        for file in ["/a/one", "/a/two"] { grants.append(try await gate.request([.camera], running(file))[.camera]) }
        try await gate.set(user: 1000, program: program, service: .camera, status: .denied)
        #expect(grants.allSatisfy { $0?.isLive == false })
        for file in ["/a/one", "/a/two", "/a/three"] {
            #expect(await code { try await gate.request([.camera], running(file)) } == .denied)
            #expect(try await gate.status(.camera, for: running(file)) == .denied)
        }
        #expect(try await gate.list().map(\.status) == [.denied])
    }

    @Test(arguments: [true, false])
    func `ends what was captured though it cannot be stored`(isDenied: Bool) async throws {
        let folder = try TemporaryFolder()
        let gate = AuthorizationGate(store: AuthorizationStore(directory: folder.path), prompter: ClosurePrompter.yes)
        let grants = try await gate.request([.camera, .microphone])
        let camera = try #require(grants[.camera])
        let other = try #require(try await gate.request([.camera], .program("/usr/bin/b"))[.camera])
        let stopped = Stopped(camera, of: gate)
        // A file that others could read is not relied on.
        let file = folder.path + "/" + AuthorizationStore.fileName
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let fault = try #require(
            await #expect(throws: CaptureError.self) {
                if isDenied {
                    try await gate.set(user: 1000, program: program, service: .camera, status: .denied)
                } else {
                    try await gate.reset(user: 1000, program: program, service: .camera)
                }
            }
        )
        let told = await gate.withdrawUnstored(
            user: 1000,
            program: program,
            services: [.camera],
            isDenied: isDenied,
            after: fault
        )
        #expect(told.code == .inputOutput)
        #expect(told.message.contains(fault.message))
        #expect(stopped.hasStopped)
        #expect(!camera.isLive)
        #expect(grants[.microphone]?.isLive == true)
        #expect(other.isLive)
        #expect(await code { _ = try await gate.request([.camera]) } == .inputOutput)
    }

    @Test func `of one user's answers leaves another's`() async throws {
        _ = try await gate.request([.camera])
        let other = try #require(try await gate.request([.camera], .program(user: 1001))[.camera])
        #expect(try await gate.reset(user: 1000, program: nil, service: nil).count == 1)
        #expect(other.isLive)
    }

    @Test func `does not come from setting yes again`() async throws {
        var client = ClientIdentity.app("org.gnome.Cheese", runs: "/app/bin/cheese")
        client.program = "flatpak:org.gnome.Cheese"
        client.tier = .sandboxed
        let camera = try #require(try await gate.request([.camera], client)[.camera])
        try await gate.set(user: 1000, program: client.program, service: .camera, status: .authorized)
        #expect(camera.isLive)
        #expect(try await gate.list().map(\.reason) == [.settings])
    }

    @Test func `in settings is told of once, however often it is set`() async throws {
        let log = DecisionLog()
        let gate = AuthorizationGate(prompter: Person(), decisions: log.note)
        for _ in 1...3 { try await gate.set(user: 1000, program: program, service: .camera, status: .denied) }
        #expect(log.decisions.count == 1)
        try await gate.set(user: 1000, program: program, service: .microphone, status: .denied)
        try await gate.set(user: 1001, program: program, service: .camera, status: .denied)
        #expect(log.decisions.count == 3)
        let boxed = "flatpak:org.example.A"
        for _ in 1...3 { try await gate.set(user: 1000, program: boxed, service: .camera, status: .authorized) }
        try await gate.set(user: 1000, program: boxed, service: .camera, status: .denied)
        #expect(log.decisions.map(\.status).suffix(2) == [.authorized, .denied])
        #expect(log.decisions.count == 5)
    }

    @Test func `in settings has an end where a user has too many answers, but for what is answered or in use`()
        async throws
    {
        let grants = try await gate.request([.camera])
        func deny(_ program: String, user: UInt32 = 1000) async throws {
            try await gate.set(user: user, program: program, service: .camera, status: .denied, most: 3)
        }
        for number in 1...3 { try await deny("exe:/x-\(number)") }
        let error = await #expect(throws: CaptureError.self) { try await deny("exe:/x-4") }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("this user already has 3 answers in settings") == true)
        #expect(error?.message.contains("capturectl auth reset") == true)
        try await deny("exe:/x-3")
        try await deny("exe:/x-4", user: 1001)
        try await deny(program)
        #expect(grants[.camera]?.isLive == false)
        try await gate.set(user: 1000, program: "exe:/x-4", service: .camera, status: .denied)
    }

    @Test func `works for the grants that tests are given`() async throws {
        let (grant, revoke) = try await TestGrants.revocable(.microphone)
        #expect(grant.isLive)
        try await revoke()
        #expect(!grant.isLive)
    }

    @Test(arguments: [
        "", "cheese", "exe:cheese", "unit:cheese", "unit:a/b.service", "uid:x", "app:", "app:a/b", "exe:/a\nb",
    ])
    func `and settings refuse what is no program id`(id: String) async {
        #expect(
            await code { try await gate.set(user: 0, program: id, service: .camera, status: .denied) }
                == .invalidArgument
        )
    }

    @Test func `and settings take yes and no alone`() async {
        for status in [AuthorizationStatus.notDetermined, .restricted, .limited] {
            #expect(
                await code { try await gate.set(user: 0, program: program, service: .camera, status: status) }
                    == .invalidArgument
            )
        }
    }

    @Test func `and settings allow no file that is not there`() async throws {
        let missing = "exe:/nonexistent/tool"
        #expect(
            await code { try await gate.set(user: 1, program: missing, service: .camera, status: .authorized) }
                == .invalidArgument
        )
        try await gate.set(user: 1, program: missing, service: .camera, status: .denied)
        #expect(try await gate.statuses(user: 1, program: missing) == [.camera: .denied])
    }
}

/// Runs as long as a grant lives, and takes a while to stop.
final class Stopped: GrantEnforcer {
    private let grant: Grant
    private let flag = Atomic<Bool>(false)
    var hasStopped: Bool { flag.load(ordering: .relaxed) }

    init(_ grant: Grant, of gate: AuthorizationGate) {
        self.grant = grant
        gate.enforced(by: self)
    }

    func enforceWithdrawals() async -> [Task<Void, Never>] {
        if grant.isLive { return [] }
        for _ in 0..<100 { await Task.yield() }
        flag.store(true, ordering: .relaxed)
        return []
    }
}

/// An enforcer that calls the gate.
private final class Caller: GrantEnforcer {
    private let grant: Grant
    private let gate: AuthorizationGate
    private let seen = Mutex<Set<AuthorizationStatus>>([])
    var statuses: Set<AuthorizationStatus> { seen.withLock { $0 } }

    init(_ grant: Grant, of gate: AuthorizationGate) {
        (self.grant, self.gate) = (grant, gate)
        gate.enforced(by: self)
    }

    func enforceWithdrawals() async -> [Task<Void, Never>] {
        if grant.isLive { return [] }
        await gate.sessionEnded([grant])
        let status = (try? await gate.status(.camera, for: .program())) ?? .notDetermined
        seen.withLock { _ = $0.insert(status) }
        return []
    }
}

/// An enforcer that returns remaining work.
private final class Slow: GrantEnforcer {
    private let grant: Grant
    private let end = AsyncStream<Void>.makeStream()
    private let flag = Atomic<Bool>(false)
    var isFinished: Bool { flag.load(ordering: .relaxed) }

    init(_ grant: Grant, of gate: AuthorizationGate) {
        self.grant = grant
        gate.enforced(by: self)
    }

    func finish() { end.continuation.finish() }

    func enforceWithdrawals() async -> [Task<Void, Never>] {
        if grant.isLive { return [] }
        return [
            Task {
                for await _ in end.stream {}
                flag.store(true, ordering: .relaxed)
            }
        ]
    }
}
