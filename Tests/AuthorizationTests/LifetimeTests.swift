@testable import Authorization
import CaptureCore
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite struct `A yes` {
    let folder: TemporaryFolder
    /// Later than the real clock, which marks the store when it is opened.
    let clock = FakeClock(wall: AnswerTime.now.wall + 3_600_000)
    let person = Person()
    let log = DecisionLog()
    static let hour: Int64 = 3_600_000
    static let day: Int64 = 86_400_000
    let program = "exe:/usr/bin/cheese"

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A gate as the daemon has it after a start.
    private func start(_ limits: LifetimeLimits = LifetimeLimits()) async -> AuthorizationGate {
        let gate = AuthorizationGate(
            store: AuthorizationStore(directory: folder.path),
            prompter: person,
            decisions: log.note,
            now: { [clock] in clock.now }
        )
        await gate.setLifetimes(limits)
        return gate
    }

    private func ask(
        _ gate: AuthorizationGate,
        _ lifetime: GrantLifetime,
        _ client: ClientIdentity = .program()
    ) async throws -> Grant {
        let count = person.asked.count
        async let grants = gate.request([.camera], client)
        await person.wasAsked(count + 1)
        person.answers([.camera: PersonsAnswer(true, lifetime: lifetime)])
        return try #require(try await grants[.camera])
    }

    /// Time goes by, and what has come to its end in it is withdrawn.
    private func pass(_ milliseconds: Int64, _ gate: AuthorizationGate) async {
        clock.pass(milliseconds)
        await gate.endDue()
    }

    /// Whether the next start asks a person.
    private func isAsked(_ gate: AuthorizationGate, _ client: ClientIdentity = .program()) async throws -> Bool {
        try await gate.status(.camera, for: client) == .notDetermined
    }

    @Test func `until a date holds until then, and withdraws what runs at that time, told why`() async throws {
        let gate = await start()
        let grant = try await ask(gate, .until(clock.now.wall + Self.hour))
        #expect(try await gate.listed().first?.ends == clock.now.wall + Self.hour)
        await pass(Self.hour - 1, gate)
        #expect(grant.isLive)
        #expect(try await !isAsked(gate))
        clock.pass(1)
        #expect(try await isAsked(gate))
        await gate.endDue()
        #expect(!grant.isLive)
        #expect(grant.withdrawalReason == "its end date has passed")
        #expect(try await gate.list().isEmpty)
        #expect(log.decisions.last?.cause == .expired)
        #expect(log.decisions.last?.status == .notDetermined)
    }

    @Test func `until a date ends by itself, without a call`() async throws {
        let gate = AuthorizationGate(prompter: person)
        let watch = WithdrawalWatch(gate)
        let unit = ClientIdentity(program: "unit:a.service", tier: .service, user: 990, name: "a", detail: "a test")
        try await gate.set(user: 0, program: unit.program, service: .camera, status: .authorized)
        let grant = try #require(try await gate.request([.camera], unit)[.camera])
        // A test that is held up for two seconds names a time that is past, and tries again.
        while true {
            let soon = GrantLifetime.until(AnswerTime.now.wall + 2000)
            let refusal = await code {
                try await gate.set(
                    user: 0,
                    program: unit.program,
                    service: .camera,
                    status: .authorized,
                    lifetime: soon
                )
            }
            guard let refusal else { break }
            try #require(refusal == .invalidArgument)
        }
        await watch.end(of: grant)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `until a date is on disk and holds after a restart, and after one of the machine`() async throws {
        _ = try await ask(await start(), .until(clock.now.wall + Self.hour))
        clock.pass(60_000)
        #expect(try await !isAsked(await start()))
        clock.reboot("second")
        let gate = await start()
        #expect(try await !isAsked(gate))
        clock.pass(Self.hour)
        #expect(try await isAsked(gate))
    }

    @Test func `is not lengthened by a clock that is set back`() async throws {
        let gate = await start()
        let grant = try await ask(gate, .until(clock.now.wall + Self.hour))
        clock.set(by: -Self.day)
        clock.pass(Self.hour)
        #expect(try await isAsked(gate))
        await gate.endDue()
        #expect(!grant.isLive)
    }

    @Test func `is not lengthened by a clock that is set back while the machine is off`() async throws {
        _ = try await ask(await start(), .until(clock.now.wall + Self.hour))
        clock.reboot("second", off: -Self.day)
        let gate = await start()
        #expect(try await isAsked(gate))
        // It is not forgotten either: the clock may be set right again.
        clock.set(by: Self.day + 60_000)
        #expect(try await !isAsked(gate))
        clock.set(by: -Self.day)
        clock.pass(Self.hour)
        #expect(try await isAsked(gate))
    }

    @Test func `is shortened by a clock that is set forward`() async throws {
        let gate = await start()
        let grant = try await ask(gate, .until(clock.now.wall + Self.hour))
        clock.set(by: Self.hour)
        #expect(try await isAsked(gate))
        await gate.endDue()
        #expect(!grant.isLive)
    }

    @Test func `for this session is no one else's, and ends with the session`() async throws {
        let gate = await start()
        let me = ClientIdentity.program(pid: 100)
        let again = ClientIdentity.program(pid: 101)
        await gate.connected([me, again], revision: 1)
        let grant = try await ask(gate, .session, me)
        #expect(try await !isAsked(gate, me))
        #expect(try await isAsked(gate, again))
        #expect(try await gate.list().map(\.lifetime) == [.session])
        await gate.sessionEnded([grant])
        #expect(try await isAsked(gate, me))
        #expect(try await gate.list().isEmpty)
    }

    @Test func `for this session lasts as long as one of those that began under it`() async throws {
        let gate = await start()
        await gate.connected([.program()], revision: 1)
        let first = try await ask(gate, .session)
        let second = try #require(try await gate.request([.camera])[.camera])
        // Those of one that ended may be held on to for a while.
        await gate.sessionEnded([first])
        #expect(try await !isAsked(gate))
        await gate.sessionEnded([second])
        #expect(try await isAsked(gate))
        withExtendedLifetime(first) {}
    }

    @Test func `for this session leaves a detached session alone when its program goes`() async throws {
        let gate = await start(LifetimeLimits(grace: 0))
        await gate.connected([.program()], revision: 1)
        let grant = try await ask(gate, .session)
        await gate.connected([], revision: 2)
        #expect(grant.isLive)
        await gate.sessionEnded([grant])
        #expect(try await gate.list().isEmpty)
    }

    @Test func `until it is closed holds for the program's processes, and ends after the grace`() async throws {
        let gate = await start(LifetimeLimits(grace: 10_000))
        let (one, two) = (ClientIdentity.program(pid: 100), ClientIdentity.program(pid: 101))
        await gate.connected([one, two], revision: 1)
        let grant = try await ask(gate, .connection, one)
        #expect(try await !isAsked(gate, two))
        await gate.connected([two], revision: 2)
        await pass(60_000, gate)
        #expect(grant.isLive)
        await gate.connected([], revision: 3)
        await pass(9_999, gate)
        #expect(grant.isLive)
        clock.pass(1)
        #expect(try await isAsked(gate, two))
        await gate.endDue()
        #expect(!grant.isLive)
        #expect(grant.withdrawalReason == "it was given until the program is closed, which it now is")
        #expect(log.decisions.last?.cause == .expired)
    }

    /// A process of one program of a tier, which runs one of its files.
    private func part(_ tier: Tier, _ file: String, pid: Int32) -> ClientIdentity {
        let ids: [Tier: String] = [.sandboxed: "flatpak:org.a.B", .service: "unit:a.service", .user: "uid:990"]
        return ClientIdentity(
            program: ids[tier] ?? "app:a",
            tier: tier,
            user: 990,
            name: "a",
            detail: "a test",
            executable: ExecutableFile(path: file, device: 1, inode: UInt64(pid), changed: 5, isProtected: false),
            pid: pid
        )
    }

    @Test(arguments: [Tier.sandboxed, .service, .user])
    func `until it is closed ends for all files of what is no claim`(tier: Tier) async throws {
        let gate = await start(LifetimeLimits(grace: 0))
        let (one, two) = (part(tier, "/app/bin/one", pid: 100), part(tier, "/app/bin/two", pid: 101))
        await gate.connected([one, two], revision: 1)
        let first = try await ask(gate, .connection, one)
        let second = try #require(try await gate.request([.camera], two)[.camera])
        await gate.connected([], revision: 2)
        #expect(!first.isLive)
        #expect(!second.isLive)
    }

    @Test(arguments: Tier.allCases)
    func `goes by a no to another file of the program, unless that is only what it claims to be`(tier: Tier)
        async throws
    {
        let gate = await start()
        let (one, two) = (part(tier, "/app/bin/one", pid: 100), part(tier, "/app/bin/two", pid: 101))
        await gate.connected([one, two], revision: 1)
        let grant = try await ask(gate, .session, one)
        async let refusal = code { _ = try await gate.request([.camera], two) }
        await person.wasAsked(2)
        person.answers([.camera: false])
        #expect(await refusal == .denied)
        #expect(grant.isLive == (tier == .claimed))
    }

    @Test func `until it is closed goes on when the program comes back within the grace`() async throws {
        let gate = await start(LifetimeLimits(grace: 10_000))
        await gate.connected([.program()], revision: 1)
        let grant = try await ask(gate, .connection)
        await gate.connected([], revision: 2)
        clock.pass(9_000)
        await gate.connected([.program(pid: 300)], revision: 3)
        await pass(60_000, gate)
        #expect(grant.isLive)
        // What is told late and out of order is not believed.
        await gate.connected([], revision: 2)
        await pass(60_000, gate)
        #expect(grant.isLive)
    }

    @Test func `until it is closed is not lengthened by looking, nor by setting the clock`() async throws {
        let gate = await start(LifetimeLimits(grace: 10_000))
        await gate.connected([.program()], revision: 1)
        let grant = try await ask(gate, .connection)
        for revision in UInt64(2)...9 {
            await gate.connected([], revision: revision)
            clock.pass(2_000)
            clock.set(by: -Self.day)
        }
        await gate.endDue()
        #expect(!grant.isLive)
    }

    @Test(arguments: [GrantLifetime.session, .connection])
    func `that is not for always is never on disk, and gone after a restart`(lifetime: GrantLifetime) async throws {
        let gate = await start()
        await gate.connected([.program()], revision: 1)
        let grant = try await ask(gate, lifetime)
        #expect(grant.isLive)
        #expect(try AuthorizationStore(directory: folder.path).allAnswers().isEmpty)
        #expect(try await isAsked(await start()))
    }

    @Test(arguments: [GrantLifetime.session, .connection, .until(.max / 2)])
    func `of every lifetime is taken back by a no and by a reset`(lifetime: GrantLifetime) async throws {
        let gate = await start()
        await gate.connected([.program()], revision: 1)
        let denied = try await ask(gate, lifetime)
        try await gate.set(user: 1000, program: program, service: .camera, status: .denied)
        #expect(!denied.isLive)
        #expect(try await gate.status(.camera, for: .program()) == .denied)
        #expect(try await gate.reset(user: 1000, program: nil, service: nil).count == 1)
        let reset = try await ask(gate, lifetime)
        #expect(try await gate.reset(user: 1000, program: program, service: .camera).count == 1)
        #expect(!reset.isLive)
        #expect(try await isAsked(gate))
    }

    @Test func `in settings may have an end, which is to come, and a no has none`() async throws {
        let gate = await start()
        let unit = "unit:doorbell.service"
        try await gate.set(
            user: 0,
            program: unit,
            service: .camera,
            status: .authorized,
            lifetime: .until(clock.now.wall + Self.day)
        )
        #expect(try await gate.statuses(user: 0, program: unit) == [.camera: .authorized])
        clock.pass(Self.day)
        #expect(try await gate.statuses(user: 0, program: unit).isEmpty)
        for (status, lifetime) in [
            (AuthorizationStatus.authorized, GrantLifetime.until(clock.now.wall)), (.denied, .until(.max)),
            (.authorized, .session), (.authorized, .connection),
        ] {
            #expect(
                await code {
                    try await gate.set(user: 0, program: unit, service: .camera, status: status, lifetime: lifetime)
                } == .invalidArgument
            )
        }
    }

    @Test func `that is changed takes what runs along`() async throws {
        let gate = await start()
        let client = ClientIdentity(program: "unit:a.service", tier: .service, user: 990, name: "a", detail: "a test")
        try await gate.set(user: 0, program: client.program, service: .camera, status: .authorized)
        let grant = try #require(try await gate.request([.camera], client)[.camera])
        let soon = GrantLifetime.until(clock.now.wall + Self.hour)
        try await gate.set(user: 0, program: client.program, service: .camera, status: .authorized, lifetime: soon)
        #expect(grant.isLive)
        try await gate.set(user: 0, program: client.program, service: .camera, status: .authorized)
        await pass(Self.hour, gate)
        #expect(grant.isLive)
        let later = GrantLifetime.until(clock.now.wall + Self.hour)
        try await gate.set(user: 0, program: client.program, service: .camera, status: .authorized, lifetime: later)
        await pass(Self.hour, gate)
        #expect(!grant.isLive)
    }

    @Test func `that is not used ends where the configuration says so, and not otherwise`() async throws {
        let gate = await start()
        do { _ = try await ask(gate, .always) }
        clock.pass(400 * Self.day)
        #expect(try await !isAsked(gate))
        _ = try await gate.request([.camera])
        await gate.setLifetimes(LifetimeLimits(unused: 30 * Self.day))
        clock.pass(29 * Self.day)
        _ = try await gate.request([.camera])
        clock.pass(29 * Self.day)
        #expect(try await !isAsked(gate))
        clock.pass(Self.day)
        #expect(try await isAsked(gate))
        await gate.endDue()
        #expect(try await gate.list().isEmpty)
        #expect(log.decisions.last?.message.contains("was not used for too long") == true)
    }

    @Test func `that is in use is not unused, and a no never is`() async throws {
        let gate = await start(LifetimeLimits(unused: Self.day))
        let grant = try await ask(gate, .always)
        try await gate.set(user: 1000, program: program, service: .microphone, status: .denied)
        await pass(30 * Self.day, gate)
        #expect(grant.isLive)
        #expect(try await !isAsked(gate))
        #expect(try await gate.status(.microphone, for: .program()) == .denied)
    }

    @Test func `is unused from the end of a long use on`() async throws {
        let gate = await start(LifetimeLimits(unused: Self.day))
        let grant = try await ask(gate, .always)
        clock.pass(30 * Self.day)
        await gate.sessionEnded([grant])
        await pass(Self.day - 1, gate)
        #expect(try await !isAsked(gate))
        clock.pass(1)
        #expect(try await isAsked(gate))
    }

    @Test func `is used until its service was switched off`() async throws {
        let gate = await start(LifetimeLimits(unused: Self.day))
        let grant = try await ask(gate, .always)
        clock.pass(30 * Self.day)
        try await gate.setSwitch(.camera, isOn: false)
        #expect(!grant.isLive)
        await gate.endDue()
        try await gate.setSwitch(.camera, isOn: true)
        #expect(try await !isAsked(gate))
        clock.pass(Self.day)
        #expect(try await isAsked(gate))
    }

    @Test func `in use for long outlives a daemon that is killed meanwhile`() async throws {
        let gate = await start(LifetimeLimits(unused: Self.day))
        let grant = try await ask(gate, .always)
        await pass(30 * Self.day, gate)
        #expect(try await !isAsked(await start(LifetimeLimits(unused: Self.day))))
        #expect(grant.isLive)
    }

    @Test func `with any time in its row can be reckoned with, which stops nobody`() {
        for wall in [Int64.min, -1, 0, .max] {
            for boot in ["first", "other"] {
                let start = AnswerTime(wall: wall, sinceBoot: wall, boot: "first")
                let now = AnswerTime(wall: clock.now.wall, sinceBoot: 5_000_000, boot: boot)
                #expect(start.elapsed(at: now) >= 0)
                #expect(Standing(from: start, until: start.end(after: .max), at: now, time: now.wall) != .unknown)
                #expect(Standing(from: start, until: .min, at: now, time: now.wall) == .over)
            }
        }
    }

    @Test func `that is over in a store that cannot be read is looked at again in a minute`() async throws {
        let looks = Looks()
        let gate = AuthorizationGate(
            store: AuthorizationStore(directory: folder.path),
            prompter: person,
            now: { [clock] in
                looks.count.add(1, ordering: .relaxed)
                return clock.now
            }
        )
        let soon = GrantLifetime.until(clock.now.wall + Self.hour)
        try await gate.set(user: 0, program: "unit:a.service", service: .camera, status: .authorized, lifetime: soon)
        let file = folder.path + "/" + AuthorizationStore.fileName
        unsafe chmod(file, 0o644)
        await pass(Self.hour, gate)
        let before = looks.count.load(ordering: .relaxed)
        try await Task.sleep(for: .milliseconds(500))
        #expect(looks.count.load(ordering: .relaxed) - before < 10)
        unsafe chmod(file, 0o600)
        await pass(60_000, gate)
        #expect(try await gate.list().isEmpty)
    }

    @Test func `on the command's own terminal is stored as that`() async throws {
        let gate = await start()
        async let grants = gate.request([.camera])
        await person.wasAsked()
        person.answers([.camera: PersonsAnswer(true, isInline: true)])
        let grant = try #require(try await grants[.camera])
        #expect(grant.basis == .inlineAnswer)
        #expect(try await gate.list().map(\.reason) == [.inlineAnswer])
        #expect(log.decisions.contains { $0.cause == .inlineAnswer })
    }
}

/// How often the time was asked for.
private final class Looks: Sendable {
    let count = Atomic(0)
}
