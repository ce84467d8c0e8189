import BusSupport
@testable import CaptureBus
import CaptureCore
import Synchronization
import Testing

/// More calls of one connection than may wait.
@Suite(.timeLimit(.minutes(10))) struct `A flood of calls` {
    private let path = "/org/capturekit/Test"
    private let mostWaiting = CallLimits().user / CallCost.call
    private let interface = BusInterface("org.capturekit.Test.Slow", methods: [BusMethod("Slow")])

    @Test func `is refused beyond those that wait, and told of once for each that is answered at most`() async throws {
        let bus = try PrivateBus()
        let server = try await BusConnection.open(bus.kind)
        let client = try await BusConnection.open(bus.kind)
        let told = Mutex(0)
        let (lines, tell) = AsyncStream<Void>.makeStream()
        // No call is answered before one was refused, however slowly they come.
        let first = Task { for await _ in lines { break } }
        let slow: BusHandler = { _ in
            await first.value
            return []
        }
        try await server.export(BusObject(path: path, [BusImplementation(interface, methods: ["Slow": slow])]))
        server.onFailure { _, error in
            guard error == BusErrors.tooMany else { return }
            told.withLock { $0 += 1 }
            tell.yield()
        }
        let calls = (0..<mostWaiting + 200).map { _ in
            Task { try await client.call(server.uniqueName, path, interface.name, "Slow", timeout: 300) }
        }
        var answered = 0
        for call in calls {
            do {
                _ = try await call.value
                answered += 1
            } catch let error as CaptureError {
                #expect(error.code == .busy)
            }
        }
        #expect(answered >= mostWaiting)
        #expect(answered < calls.count)
        #expect(told.withLock { $0 } <= answered)
    }
}
