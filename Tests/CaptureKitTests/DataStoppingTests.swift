import CaptureCore
import CaptureRing
import CaptureSystem
import Testing

@testable import CaptureKit

/// How reading ends, of outputs without a daemon.
@Suite(.timeLimit(.minutes(10)))
struct DataStoppingTests {
    @Test func `of two threads that stop an output, each waits for its handler`() async throws {
        let source = try Source(Source.camera())
        let (entered, release, stopped) = (try Gate(), try Gate(), [try Gate(), try Gate()])
        let output = VideoDataOutput { event in
            guard case .data = event else { return }
            entered.open()
            release.wait()
        }
        try await source.read(output)
        try source.publish(0)
        entered.wait()
        for gate in stopped {
            try WorkerThread.detached(name: "stop") {
                output.stop()
                gate.open()
            }
        }
        // Neither returns before, so this only gives them the time to do so wrongly.
        for gate in stopped { #expect(!gate.wait(milliseconds: 200)) }
        release.open()
        for gate in stopped { #expect(gate.wait()) }
    }

    @Test func `a handler is told of a failed beginning on a thread that stopping waits for`() async throws {
        let (told, entered, release, stopped) = (Told<VideoFrame>(), try Gate(), try Gate(), try Gate())
        let output = VideoDataOutput { event in
            entered.open()
            release.wait()
            told.take(event)
        }
        let turn = try #require(await output.reserve())
        output.fail(CaptureError(.unreachable, "the daemon went away"), turn)
        // It has returned while the handler runs.
        #expect(told.ends.isEmpty && output.failure?.code == .unreachable)
        entered.wait()
        try WorkerThread.detached(name: "stop") {
            output.stop()
            stopped.open()
        }
        #expect(!stopped.wait(milliseconds: 200))
        release.open()
        #expect(stopped.wait() && told.ends.map { $0?.code } == [.unreachable])
    }

    @Test func `an output that could not begin may begin again`() async throws {
        let source = try Source(Source.camera())
        let told = Told<VideoFrame>()
        let output = VideoDataOutput { told.take($0) }
        let turn = try #require(await output.reserve())
        output.fail(CaptureError(.unreachable, "the daemon went away"), turn)
        try await source.read(output)
        try source.publish(0)
        #expect(try await told.until { $0.data.count == 1 })
        #expect(told.ends.count == 1 && output.failure == nil)
        output.stop()
    }

    @Test func `outputs that are stopped let go of their synchronizer, whose handler uses them`() async throws {
        let source = try Source(Source.camera())
        let told = Told<SynchronizedData>()
        weak var master: VideoDataOutput?
        weak var sound: AudioDataOutput?
        func run() async throws {
            let outputs = (VideoDataOutput(), AudioDataOutput())
            (master, sound) = outputs
            _ = try DataOutputSynchronizer(dataOutputs: [outputs.0, outputs.1]) { event in
                if case .data(let set) = event, set.frame(of: outputs.0) == nil || set.drop(of: outputs.1) == nil {
                    return
                }
                told.take(event)
            }
            try await source.read(outputs.0)
            try source.publish(0)
            outputs.0.stop()
            outputs.1.stop()
        }
        try await run()
        // The thread that calls the handler ends a moment later.
        let limit = ContinuousClock.now + .seconds(300)
        while master != nil || sound != nil, ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
        #expect(master == nil && sound == nil && told.ends.count == 1)
    }
}
