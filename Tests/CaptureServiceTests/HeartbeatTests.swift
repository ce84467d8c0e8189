import BusSupport
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureSystem
import Synchronization
import TestSupport
import Testing

@testable import CaptureService

@Suite(.timeLimit(.minutes(10))) struct `A heartbeat` {
    /// Counts each part's rounds.
    private final class Counter: Sendable {
        let counts = Mutex<[ProofOfLife.Part: Int]>([:])
        /// The parts that do not answer.
        let silent = Mutex<Set<ProofOfLife.Part>>([])

        var rounds: Heartbeat.Rounds {
            Heartbeat.Rounds(
                every: { interval, beat in
                    let timer = Task {
                        while !Task.isCancelled {
                            beat()
                            try await Task.sleep(for: .nanoseconds(interval))
                        }
                    }
                    return BusSubscription { timer.cancel() }
                },
                bus: { answered in Task { answered(await self.slowRound(.bus)) } },
                gate: { await self.slowRound(.gate) },
                engine: { await self.slowRound(.engine) }
            )
        }

        var all: [ProofOfLife.Part: Int] { counts.withLock { $0 } }

        /// Parts whose rounds do not end.
        let hung = Mutex<Set<ProofOfLife.Part>>([])
        /// Those of them that are in such a round.
        let hanging = Mutex<Set<ProofOfLife.Part>>([])

        /// The same, with rounds that last as long as a part hangs.
        private func slowRound(_ part: ProofOfLife.Part) async -> Bool {
            let answer = round(part)
            while hung.withLock({ $0.contains(part) }) {
                hanging.withLock { _ = $0.insert(part) }
                try? await Task.sleep(for: .milliseconds(20))
            }
            return answer
        }

        private func round(_ part: ProofOfLife.Part) -> Bool {
            counts.withLock { $0[part, default: 0] += 1 }
            return !silent.withLock { $0.contains(part) }
        }
    }

    private let counter = Counter()
    private let heartbeat = Heartbeat()
    private let source = FakeSource(
        FakeMachine.camera.id,
        .audio(AudioFormat(sampleFormat: .s16, sampleRate: 48_000, channels: 2, periodFrames: 480)),
        FakeMachine()
    )

    @Test func `beats only while something streams`() async throws {
        heartbeat.serve(counter.rounds)
        try await Task.sleep(for: .milliseconds(600))
        #expect(counter.all.isEmpty)
        #expect(heartbeat.proof.remaining() > 1_000_000_000_000)
        heartbeat.began(source)
        try await until { ProofOfLife.Part.allCases.allSatisfy { counter.all[$0, default: 0] > 3 } }
        #expect(heartbeat.proof.remaining() <= ProofOfLife.patience)
        heartbeat.ended(source)
        // Rounds that have begun still end. On a slow machine they end late.
        var last = counter.all
        for _ in 0..<20 {
            last = counter.all
            try await Task.sleep(for: .milliseconds(900))
            if counter.all == last { break }
        }
        #expect(counter.all == last)
        #expect(heartbeat.proof.remaining() > 1_000_000_000_000)
    }

    @Test func `beats until the last device stops`() async throws {
        heartbeat.serve(counter.rounds)
        let other = FakeSource(FakeMachine.camera.id, source.format, FakeMachine())
        heartbeat.began(source)
        heartbeat.began(other)
        heartbeat.ended(source)
        let then = counter.all[.engine, default: 0]
        try await until { counter.all[.engine, default: 0] > then + 2 }
        // One is closed without having streamed, and one is closed twice.
        heartbeat.ended(source)
        #expect(heartbeat.proof.remaining() <= ProofOfLife.patience)
        heartbeat.ended(other)
    }

    @Test(arguments: ProofOfLife.Part.allCases)
    func `lets the others go on while one part hangs`(_ part: ProofOfLife.Part) async throws {
        heartbeat.serve(counter.rounds)
        heartbeat.began(source)
        try await until { counter.all[part, default: 0] > 1 }
        counter.hung.withLock { _ = $0.insert(part) }
        // The others may be held up, too, and this one before its round hangs.
        try await until { counter.hanging.withLock { $0.contains(part) } && !heartbeat.proof.isProven(part) }
        #expect(heartbeat.proof.remaining() <= 0)
        let then = counter.all
        let others = ProofOfLife.Part.allCases.filter { $0 != part }
        try await until { others.allSatisfy { counter.all[$0, default: 0] > then[$0, default: 0] + 2 } }
        #expect(counter.all[part] == then[part])
        try await until { others.allSatisfy { heartbeat.proof.isProven($0) } }
        counter.hung.withLock { $0 = [] }
        try await until { heartbeat.proof.remaining() > 0 }
        heartbeat.ended(source)
    }

    @Test(arguments: ProofOfLife.Part.allCases)
    func `fails if one part does not answer, whatever the others do`(_ part: ProofOfLife.Part) async throws {
        heartbeat.serve(counter.rounds)
        heartbeat.began(source)
        try await until { counter.all[part, default: 0] > 1 }
        counter.silent.withLock { _ = $0.insert(part) }
        // No round that begins from now on is answered, but one may be under way.
        let last = counter.all[part, default: 0]
        try await until { counter.all[part, default: 0] > last && !heartbeat.proof.isProven(part) }
        #expect(heartbeat.proof.remaining() <= 0)
        counter.silent.withLock { $0 = [] }
        try await until { heartbeat.proof.remaining() > 0 }
        heartbeat.ended(source)
    }
}
