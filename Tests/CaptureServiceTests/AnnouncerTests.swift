import BusSupport
import CaptureBus
import CaptureCore
import Testing

@testable import Authorization
@testable import CaptureService

@Suite(.timeLimit(.minutes(10)))
struct `A person's answer` {
    private func decision(_ cause: Decision.Cause, _ status: AuthorizationStatus) -> Decision {
        Decision(
            program: "flatpak:org.example.Calls",
            tier: .sandboxed,
            user: 0,
            pid: 1,
            identity: "a test",
            service: .camera,
            status: status,
            cause: cause,
            message: "a test"
        )
    }

    @Test(arguments: [Decision.Cause.answer, .inlineAnswer, .expired])
    func `is told on the bus, whichever agent it came from; what was decided by it later is not`(cause: Decision.Cause)
        async throws
    {
        let bus = try PrivateBus()
        let daemon = try await BusConnection.open(bus.kind)
        let client = try await BusConnection.open(bus.kind)
        let (signals, feed) = AsyncStream<[BusValue]>.makeStream()
        let match = BusMatch(interface: CaptureNames.authorization, member: "Changed")
        let heard = try await client.subscribe(match) { feed.yield($0.arguments) }
        let callers = CallerDirectory(bus: daemon, root: SystemRoot(ofProcessOne: false)) { _ in }
        let listeners = Listeners()
        let root = ClientIdentity(program: "exe:/a", tier: .claimed, user: 0, name: "a", detail: "a test")
        try listeners.add(root, connection: client.uniqueName)
        let announcer = Announcer(listeners)
        announcer.decided(decision(.storedAnswer, .authorized))
        announcer.decided(decision(.dismissed, .notDetermined))
        announcer.decided(decision(cause, .denied))
        announcer.finish()
        await announcer.run(
            SessionObjects(bus: daemon, callers: callers, listeners: listeners, doors: .ofTests),
            bus: daemon
        )
        var iterator = signals.makeAsyncIterator()
        let first = try #require(await iterator.next())
        let told: [BusValue] = [.string("flatpak:org.example.Calls"), .string("camera"), .uint32(2)]
        #expect(Array(first.dropFirst()) == told)
        withExtendedLifetime(heard) {}
    }
}
