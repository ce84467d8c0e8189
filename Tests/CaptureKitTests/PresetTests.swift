import BusSupport
import CaptureCore
import CaptureKit
import Synchronization
import Testing

/// Presets of sessions of a real daemon that run.
@Suite(.timeLimit(.minutes(10)))
struct `A preset of a running session` {
    /// The bytes of the latest frame.
    private final class Latest: Sendable {
        let size = Atomic<Int>(0)

        func isReached(_ bytes: Int) async throws {
            while size.load(ordering: .relaxed) != bytes { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    /// A session whose camera follows the preset.
    private static func session(_ client: CaptureDaemon, _ output: any CaptureOutput) async throws -> CaptureSession {
        let session = try await CaptureSession(on: client)
        try await session.addInput(.camera("synthetic:camera"))
        try await session.addOutput(output)
        return session
    }

    @Test func `restarts its camera, whose frames come in the new size, while its microphone goes on`() async throws {
        // A use stays listed for longer than the machine is held up.
        let captured = try await RealDaemon(configuration: "[Indicator]\nLingerSec=1min\n")
        let client = try await captured.client()
        let latest = Latest()
        let frames = VideoDataOutput { event in
            guard case .data(let frame) = event else { return }
            latest.size.store(frame.format.frameSize, ordering: .relaxed)
        }
        let session = try await Self.session(client, frames)
        try await session.addInput(.microphone("synthetic:microphone"))
        let sound = try OutputFile.scratch()
        try await session.addOutput(try SoundFileOutput(file: sound.descriptor, name: "sound"))
        try await session.setPreset(.medium)
        try await session.startRunning()
        try await latest.isReached(640 * 480 * 2)
        let before = try #require(try await session.statistics().inputs["camera"])
        try await session.setPreset(.hd1280x720)
        try await latest.isReached(1280 * 720 * 2)
        let after = try #require(try await session.statistics().inputs["camera"])
        #expect(after.format.contains("1280x720"))
        #expect(after.published > before.published)
        #expect(after.drops["paused"] != nil)
        // One camera's exact format, in the same way.
        let exact = try VideoFormatRequest(text: "YUYV:320x240@15")
        await session.beginConfiguration()
        try await session.removeInput("camera")
        try await session.addInput(.camera("synthetic:camera", request: exact))
        try await session.commitConfiguration()
        try await latest.isReached(320 * 240 * 2)
        try await session.stopRunning()
        #expect(await session.results.map(\.error) == [nil])
        #expect(try await client.uses().filter { $0.service == "camera" }.count == 1)
    }

    @Test func `stays as it was while a file is recorded, or another session uses the camera`() async throws {
        let captured = try await RealDaemon()
        let client = try await captured.client()
        let file = try OutputFile.scratch()
        let recording = try await Self.session(client, try MovieFileOutput(file: file.descriptor))
        try await recording.startRunning()
        #expect(await code { try await recording.setPreset(.low) } == .invalidArgument)
        #expect(await recording.preset == .high)
        let session = try await Self.session(client, FrameBufferOutput())
        try await session.startRunning()
        #expect(await code { try await session.setPreset(.low) } == .busy)
        #expect(await session.preset == .high)
        try await recording.stopRunning()
        #expect(await recording.results.map(\.error) == [nil])
        try await session.setPreset(.low)
        #expect(try await session.statistics().inputs["camera"]?.format.contains("320x240") == true)
        try await session.stopRunning()
    }
}
