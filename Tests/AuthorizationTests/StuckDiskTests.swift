import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import Authorization

/// A store whose disk does not answer, as in an fsync(2) that takes for ever: whoever uses it waits.
private final class StuckDisk: Sendable {
    private let released = DispatchSemaphore(value: 0)

    /// Has a thread hold a store; returns when it does.
    func hold(_ file: GuardedStore) {
        let held = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [released] in
            do {
                try file.access(.plain) { _ in
                    held.signal()
                    released.wait()
                    // The next one.
                    released.signal()
                }
            } catch {
                Issue.record(error)
            }
        }
        held.wait()
    }

    /// The disk answers.
    func release() { released.signal() }
}

@Suite(.timeLimit(.minutes(5))) struct `A disk that does not answer` {
    /// More than the cooperative pool has threads.
    private let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2

    /// Whether the pool runs a task while work is stuck.
    ///
    /// - Parameters:
    ///   - isStuck: Signalled by each piece of work just before it is.
    ///   - release: Called in the end.
    private func poolRuns(while isStuck: DispatchSemaphore, then release: @escaping @Sendable () -> Void) async -> Bool {
        let count = count
        return await withCheckedContinuation { continuation in
            // A thread of its own: a pool that is stuck would not run the test either.
            Thread.detachNewThread {
                for _ in 0..<count where isStuck.wait(timeout: .now() + 10) == .timedOut { break }
                let ran = DispatchSemaphore(value: 0)
                Task { ran.signal() }
                let hasRun = ran.wait(timeout: .now() + 10) == .success
                release()
                continuation.resume(returning: hasRun)
            }
        }
    }

    @Test func `takes no thread of the pool from others while gates wait for it`() async throws {
        let (disk, isStuck) = (StuckDisk(), DispatchSemaphore(value: 0))
        let gates = (0..<count).map { _ in
            let store = AuthorizationStore.inMemory()
            disk.hold(store.file)
            return AuthorizationGate(
                store: store,
                usage: FixedUsageDescriptions("x"),
                prompter: Person(),
                now: {
                    isStuck.signal()
                    return .now
                }
            )
        }
        let setting = gates.map { gate in
            Task { try await gate.set(user: 1, program: "exe:/bin/a", service: .camera, status: .denied) }
        }
        #expect(await poolRuns(while: isStuck, then: disk.release))
        for one in setting { try await one.value }
        for gate in gates { #expect(try await gate.list().count == 1) }
    }

    @Test func `takes none while histories wait for it`() async throws {
        let (disk, isStuck) = (StuckDisk(), DispatchSemaphore(value: 0))
        let keepers = (0..<count).map { _ in
            let store = HistoryStore.inMemory()
            disk.hold(store.file)
            return HistoryKeeper(store, limits: HistoryLimits(age: 86_400_000, count: 1000))
        }
        let reading = keepers.map { keeper in
            Task {
                isStuck.signal()
                return try await keeper.page(HistoryQuery(limit: 1))
            }
        }
        #expect(await poolRuns(while: isStuck, then: disk.release))
        for one in reading { #expect(try await one.value.isEmpty) }
    }
}
