import BusSupport
import CaptureCore
import CaptureSystem
import Glibc
import Synchronization
import Testing

@testable import CaptureBus

/// What the bus thread does at intervals.
@Suite(.timeLimit(.minutes(10)))
struct TickTests {
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    /// Counts ticks, and notes which threads they came on.
    private final class Ticks: Sendable {
        private let state = Mutex((count: 0, threads: Set<pthread_t>()))

        var count: Int { state.withLock { $0.count } }
        var threads: Set<pthread_t> { state.withLock { $0.threads } }

        func add() {
            state.withLock { state in
                state.count += 1
                state.threads.insert(pthread_self())
            }
        }
    }

    private static let interval: Int64 = 20_000_000

    @Test func `they come at intervals on one thread, until they are cancelled`() async throws {
        let connection = try await bus.connect()
        let ticks = Ticks()
        let began = Timestamp.now
        let subscription = connection.every(Self.interval) { ticks.add() }
        try await until { ticks.count > 5 }
        let count = ticks.count
        #expect(Int64(count) <= (Timestamp.now - began) / Self.interval + 1)
        #expect(ticks.threads.count == 1 && !ticks.threads.contains(pthread_self()))
        subscription.cancel()
        // The thread has heard of it once it has answered.
        _ = try await connection.askBus("GetId")
        let last = ticks.count
        for _ in 0..<5 {
            try await Task.sleep(for: .nanoseconds(Self.interval))
            _ = try await connection.askBus("GetId")
        }
        #expect(ticks.count == last)
    }

    @Test func `they end with the last reference, and with the connection`() async throws {
        let connection = try await bus.connect()
        let dropped = Ticks(), kept = Ticks()
        do { _ = connection.every(Self.interval) { dropped.add() } }
        let subscription = connection.every(Self.interval) { kept.add() }
        // The thread has heard of both once it ticks.
        try await until { kept.count > 0 }
        let (few, begun) = (dropped.count, kept.count)
        try await until { kept.count > begun + 3 }
        #expect(dropped.count == few)
        await connection.close()
        let last = kept.count
        try await Task.sleep(for: .nanoseconds(5 * Self.interval))
        #expect(kept.count == last)
        subscription.cancel()
    }

    @Test func `a bus that does not answer holds none back`() async throws {
        let connection = try await bus.connect()
        bus.stop()
        let ticks = Ticks()
        let answers = Collector<Bool>()
        let subscription = connection.every(Self.interval) { ticks.add() }
        connection.askBus("GetId", timeout: 1) { answers.add((try? $0.get()) != nil) }
        try await until { ticks.count > 5 }
        #expect(await answers.next() == [false])
        let then = ticks.count
        try await until { ticks.count > then }
        subscription.cancel()
    }

    @Test func `an answer comes once, and a closed connection is an answer`() async throws {
        let connection = try await bus.connect()
        let answers = Collector<Bool>()
        connection.askBus("GetId") { answers.add((try? $0.get())?.first?.text != nil) }
        #expect(await answers.next() == [true])
        await connection.close()
        connection.askBus("GetId") { answers.add((try? $0.get()) != nil) }
        #expect(await answers.next() == [false])
    }
}
