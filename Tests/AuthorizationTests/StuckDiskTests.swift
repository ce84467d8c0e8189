import CaptureCore
import Foundation
import TestSupport
import Testing

@testable import Authorization

/// A store whose disk does not answer, as in an fsync(2) that takes for ever. Every user of the store waits.
private final class StuckDisk: Sendable {
    private let released = DispatchSemaphore(value: 0)

    /// Lets a thread hold a store; returns once it does.
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

    /// Lets the disk answer.
    func release() { released.signal() }
}

@Suite(.timeLimit(.minutes(10))) struct `A disk that does not answer` {
    /// More than the threads of the cooperative pool.
    private let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2

    /// Whether the pool runs a task while work is stuck.
    ///
    /// - Parameters:
    ///   - isStuck: Each piece of work signals it just before it is stuck.
    ///   - release: Called at the end.
    private func poolRuns(while isStuck: DispatchSemaphore, then release: @escaping @Sendable () -> Void) async -> Bool
    {
        let count = count
        return await withCheckedContinuation { continuation in
            // On a thread of its own, because a stuck pool would not run the test either.
            Thread.detachNewThread {
                for _ in 0..<count where isStuck.wait(timeout: .now() + 120) == .timedOut { break }
                let ran = DispatchSemaphore(value: 0)
                Task { ran.signal() }
                let hasRun = ran.wait(timeout: .now() + 120) == .success
                release()
                continuation.resume(returning: hasRun)
            }
        }
    }

    @Test func `leaves the pool's threads free while gates wait for it`() async throws {
        let (disk, isStuck) = (StuckDisk(), DispatchSemaphore(value: 0))
        let gates = (0..<count).map { _ in
            let store = AuthorizationStore.inMemory()
            disk.hold(store.file)
            return AuthorizationGate(
                store: store,
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

    @Test func `leaves the pool's threads free while histories wait for it`() async throws {
        let (disk, isStuck) = (StuckDisk(), DispatchSemaphore(value: 0))
        let keepers = (0..<count).map { _ in
            let store = HistoryStore.inMemory()
            disk.hold(store.file)
            return HistoryKeeper(store)
        }
        let reading = keepers.map { keeper in
            Task {
                isStuck.signal()
                return try await keeper.page(HistoryFilter(limit: 1))
            }
        }
        #expect(await poolRuns(while: isStuck, then: disk.release))
        for one in reading { #expect(try await one.value.isEmpty) }
    }

    @Test func `delays only the program whose files are on it`() async throws {
        let person = Person()
        let files = StuckFiles()
        let gate = AuthorizationGate(usage: files, prompter: person)
        let asking = Task { try await gate.request([.camera]) }
        await files.wereLookedAt()
        #expect(try await gate.status(.camera, for: .program("/usr/bin/other")) == .notDetermined)
        try await gate.set(user: 1000, program: "exe:/usr/bin/other", service: .camera, status: .denied)
        // A decision made meanwhile counts.
        try await gate.set(user: 1000, program: "exe:/usr/bin/cheese", service: .camera, status: .denied)
        files.release()
        #expect(await code { try await asking.value } == .denied)
        #expect(person.asked.isEmpty)
    }
}

/// Metadata on a disk that does not answer.
private final class StuckFiles: UsageDescriptions {
    private let looked = AsyncStream<Void>.makeStream()
    private let answer = DispatchSemaphore(value: 0)

    func wereLookedAt() async { for await _ in looked.stream { return } }

    func release() { answer.signal() }

    func description(of client: ClientIdentity, for services: [Service]) throws(CaptureError) -> UsageDescription {
        looked.continuation.yield()
        answer.wait()
        answer.signal()
        return UsageDescription(reasons: Dictionary(uniqueKeysWithValues: services.map { ($0, "to test") }))
    }
}
