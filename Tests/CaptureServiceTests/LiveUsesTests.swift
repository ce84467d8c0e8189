import BusSupport
import CaptureBus
import CaptureCore
import CaptureMessages
import Synchronization
import TestSupport
import Testing

@testable import Authorization
@testable import CaptureService

/// What indicators are shown.
@Suite(.timeLimit(.minutes(10)))
struct `A live use` {
    /// Time that passes when the test says so.
    private final class Waiting: Sendable {
        let asked = Mutex<[Duration]>([])
        let (passed, pass) = AsyncStream<Void>.makeStream()

        func wait(_ time: Duration) async {
            asked.withLock { $0.append(time) }
            var iterator = passed.makeAsyncIterator()
            _ = await iterator.next()
        }
    }

    private let told = AsyncStream<LiveUse>.makeStream()
    private let waiting = Waiting()

    private func uses(linger: Duration = .seconds(3)) -> LiveUses {
        let feed = told.continuation
        return LiveUses(linger: linger, wait: waiting.wait) { feed.yield($0.shown) }
    }

    /// A keeper that tells of its uses, as the daemon's does.
    private func keeper(_ live: LiveUses) -> HistoryKeeper {
        HistoryKeeper(.inMemory(), limits: HistoryLimits(age: 1_000_000, count: 1000), watch: live.follow)
    }

    private func client(_ program: String = "exe:/a", _ tier: Tier = .claimed, user: UInt32 = 1000) -> ClientIdentity {
        ClientIdentity(program: program, tier: tier, user: user, name: "a", detail: "a test")
    }

    private func use(_ client: ClientIdentity) -> DeviceUse {
        DeviceUse(
            client: client,
            service: .camera,
            device: DeviceID(rawValue: "v4l2:1"),
            deviceName: "Front",
            basis: .answer,
            session: 7
        )
    }

    @Test func `that began and ended at once is told of, and still listed for some seconds`() async throws {
        let live = uses()
        let keeper = keeper(live)
        var news = told.stream.makeAsyncIterator()
        await keeper.end(try await keeper.begin([use(client())]), as: .stopped)
        let began = try #require(await news.next())
        #expect(began.phase == .live && began.ended == nil && began.began > 0)
        let ended = try #require(await news.next())
        #expect(ended.phase == .ended && ended.ended ?? 0 >= ended.began && ended.id == began.id)
        #expect(live.list(for: client()) == [ended])
        waiting.pass.yield()
        #expect(await news.next()?.phase == .gone)
        #expect(live.list(for: client()).isEmpty)
        #expect(waiting.asked.withLock { $0 } == [.seconds(3)])
    }

    @Test func `ends by itself where others go on, at once when none is to linger`() async throws {
        let live = uses()
        live.setLinger(.zero)
        let keeper = keeper(live)
        var news = told.stream.makeAsyncIterator()
        let keys = try await keeper.begin([use(client()), use(client())])
        #expect(live.list(for: client()).map(\.phase) == [.live, .live])
        await keeper.end([keys[0]], as: .stopped)
        // Told twice is ended once.
        await keeper.end([keys[0]], as: .stopped)
        #expect(live.list(for: client()).map(\.id) == [UInt64(keys[1].value)])
        var phases: [LiveUse.Phase] = []
        for _ in 1...4 { phases.append(try #require(await news.next()).phase) }
        #expect(phases == [.live, .live, .ended, .gone])
    }

    @Test func `is its user's and root's to see, and to a program in a sandbox its own`() async throws {
        let live = uses()
        let sandboxed = client("flatpak:org.example.A", .sandboxed)
        _ = try await keeper(live).begin([use(sandboxed)])
        #expect(live.list(for: client()).count == 1)
        #expect(live.list(for: client(user: 0)).count == 1)
        #expect(live.list(for: sandboxed).count == 1)
        #expect(live.list(for: client(user: 1001)).isEmpty)
        #expect(live.list(for: client("flatpak:org.example.B", .sandboxed)).isEmpty)
        let properties = try #require(live.list(for: client()).first).properties
        #expect(properties["device-name"] == .string("Front"))
        #expect(properties["program"] == .string("flatpak:org.example.A"))
        #expect(properties["state"] == .string("live"))
    }

    @Test func `is told on the bus to those who may see it alone`() async throws {
        let bus = try PrivateBus()
        let daemon = try await BusConnection.open(bus.kind)
        let listeners = Listeners()
        let live = LiveUses(linger: .zero) { use in
            do throws(CaptureError) { try listeners.tell(daemon, of: use) } catch { Issue.record(error) }
        }
        var ears: [(streams: AsyncStream<BusSignal>, match: BusSubscription, connection: BusConnection)] = []
        for user: UInt32? in [1000, 0, 1001, nil] {
            let connection = try await BusConnection.open(bus.kind)
            let (signals, feed) = AsyncStream<BusSignal>.makeStream()
            let match = try await connection.subscribe(BusMatch(sender: daemon.uniqueName)) { feed.yield($0) }
            if let user { try listeners.add(client("exe:/shell", user: user), connection: connection.uniqueName) }
            ears.append((signals, match, connection))
        }
        let keeper = keeper(live)
        await keeper.end(try await keeper.begin([use(client())]), as: .stopped)
        try daemon.emit(CaptureNames.root, CaptureNames.manager, "DeviceRemoved", signature: "s", [.string("end")])
        var heard: [[String]] = []
        for ear in ears {
            var states: [String] = []
            for await signal in ear.streams {
                if signal.member == "DeviceRemoved" { break }
                states.append("\(signal.member) \(signal.arguments.first?.properties?["state"]?.text ?? "")")
            }
            heard.append(states)
        }
        let all = ["UseChanged live", "UseChanged ended", "UseChanged gone"]
        #expect(heard == [all, all, [], []])
    }
}
