import CaptureCore
import CaptureSystem
import TestSupport
import Testing

@testable import CaptureDevices

@Suite(.timeLimit(.minutes(10))) struct StreamControlTests {
    @Test func `a stop stays to be heard`() throws {
        let control = try StreamControl()
        #expect(control.heard() == nil)
        control.stop()
        for _ in 0..<2 {
            guard case .stop = control.heard() else {
                Issue.record("nothing was heard")
                return
            }
            #expect(try !Poll.wait(control.descriptor, timeout: 0).isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `who waits for a move is let go when the stream ends`(_ endsBefore: Bool) async throws {
        let format = MediaFormat.audio(try SyntheticFormats.negotiate(AudioFormatRequest()))
        let (first, second) = (try MemorySink(format, enough: 1), try MemorySink(format, enough: 1))
        let control = try StreamControl(first)
        if endsBefore { control.ended(.deviceLost) }
        let moving = Task.detached { try control.move(to: second, atOnce: true) }
        if !endsBefore {
            // The order is there before the stream ends.
            _ = try Poll.wait(control.descriptor)
            control.ended(.deviceLost)
        }
        #expect(await code { try await moving.value } == .deviceLost)
        #expect(first.kept.end == .deviceLost)
        #expect(second.kept.end == nil)
    }

    @Test func `sound goes on in another sink without a gap, and the picture without a lost frame`() async throws {
        for _ in 0..<20 { if try await goesOn() { return } }
        Issue.record("the devices were held up each time")
    }

    /// Moves both devices twice.
    ///
    /// - Returns: Whether neither was held up so long that it lost something by itself. Devices count what they lose.
    private func goesOn() async throws -> Bool {
        // In real time: a busy machine holds up a faster camera sooner.
        let devices = SyntheticDevices(speed: 1)
        let grants = (camera: try await TestGrants.camera(), microphone: try await TestGrants.microphone())
        let sources: [any MediaSource] = [
            try devices.openCamera(VideoFormatRequest(width: 320, height: 240), grant: grants.camera),
            try devices.openMicrophone(AudioFormatRequest(), grant: grants.microphone),
        ]
        for source in sources {
            let sinks = try (0..<3).map { _ in try MemorySink(source.format, enough: 20) }
            try source.start(into: sinks[0]) { _ in Issue.record("it ended") }
            for (before, now) in zip(sinks, sinks.dropFirst()) {
                _ = try Poll.wait(before.enough.descriptor)
                try source.move(to: now, atOnce: now === sinks[1])
                let count = before.buffers.count
                _ = try Poll.wait(now.enough.descriptor)
                #expect(before.buffers.count == count)
                #expect(before.kept.end == .moved)
            }
            source.stop()
            if sinks.contains(where: { !$0.kept.drops.isEmpty }) { return false }
            let all = sinks.flatMap(\.buffers).map(\.info)
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.deviceSequence + 1 == $1.deviceSequence })
            #expect(all.allSatisfy { $0.lostBefore == 0 })
            #expect(throws: CaptureError.self) { try source.move(to: sinks[0], atOnce: true) }
        }
        return true
    }
}
