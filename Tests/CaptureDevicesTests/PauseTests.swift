import CaptureCore
import CaptureSystem
import TestSupport
import Testing

@testable import CaptureDevices

@Suite(.timeLimit(.minutes(10))) struct `A device whose control side proves nothing` {
    private let proof = ProofOfLife()

    /// Has the control side been silent for so long.
    private func isSilent(for nanoseconds: Int64) { proof.begin(at: .now.advanced(by: -nanoseconds)) }
    /// Has it work for longer than any test takes.
    private func works() { isSilent(for: -3_600_000_000_000) }

    private func sources() async throws -> [any MediaSource] {
        let devices = SyntheticDevices(proof: proof)
        return [
            try devices.openCamera(
                VideoFormatRequest(width: 320, height: 240),
                grant: try await TestGrants.camera()
            ),
            try devices.openMicrophone(AudioFormatRequest(), grant: try await TestGrants.microphone()),
        ]
    }

    @Test func `stands still, leaves its sink when it is told to, and goes on there`() async throws {
        for source in try await sources() {
            let (first, second) = (try MemorySink(source.format, enough: 3), try MemorySink(source.format, enough: 3))
            works()
            try source.start(into: first) { Issue.record("it ended: \($0)") }
            _ = try Poll.wait(first.enough.descriptor)
            isSilent(for: ProofOfLife.patience)
            // Must not delay a withdrawal. Once its thread has heard that, it looks at the proof before it publishes.
            let middle = try MemorySink(source.format, enough: 1)
            try source.move(to: middle, atOnce: true)
            #expect(first.kept.end == .moved)
            let count = first.buffers.count
            // Long enough to lose some.
            try await Task.sleep(for: .milliseconds(500))
            #expect(middle.buffers.isEmpty)
            #expect(first.buffers.count == count)
            try source.move(to: second, atOnce: true)
            #expect(second.buffers.isEmpty)
            works()
            _ = try Poll.wait(second.enough.descriptor)
            source.stop()
            #expect(first.buffers.count == count)
            #expect(first.kept.drops[.paused] == nil)
            #expect(second.kept.drops[.paused] ?? 0 > 0)
            let info = try #require(second.buffers.first?.info)
            #expect(info.flags.contains(.discontinuity))
            #expect(info.lostBefore > 0 || info.flags.contains(.silence))
        }
    }

    @Test func `stops when it is told to`() async throws {
        for source in try await sources() {
            let sink = try MemorySink(source.format, enough: 3)
            works()
            try source.start(into: sink) { Issue.record("it ended: \($0)") }
            _ = try Poll.wait(sink.enough.descriptor)
            isSilent(for: ProofOfLife.patience)
            try await Task.sleep(for: .milliseconds(500))
            source.stop()
            #expect(sink.kept.drops[.paused] == nil)
        }
    }

    @Test func `touches nothing while its thread was held up and waits for a late proof`() throws {
        let control = try StreamControl(nil, proof)
        #expect(try control.mayGoOn())
        isSilent(for: 10 * ProofOfLife.patience)
        #expect(control.wait == 0)
        #expect(try !control.mayGoOn())
        // Must not delay an order either.
        control.stop()
        #expect(try !control.mayGoOn())
        works()
        #expect(try control.mayGoOn())
        #expect(control.wait > 1750)
        isSilent(for: 0)
        #expect(control.wait <= 1750)
    }
}
