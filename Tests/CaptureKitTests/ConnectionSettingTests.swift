import BusSupport
import CaptureKit
import Testing

/// What connections of recordings of a real daemon make of pictures and sound.
@Suite(.timeLimit(.minutes(10)))
struct `The settings of a connection` {
    private func session(_ daemon: CaptureDaemon, _ file: OutputFile) async throws -> CaptureSession {
        let session = try await CaptureSession(on: daemon)
        let request = VideoFormatRequest(width: 320, height: 240, framesPerSecond: 30)
        try await session.addInput(.camera("synthetic:camera", request: request))
        try await session.addInput(.microphone("synthetic:microphone"))
        try await session.addOutput(try MovieFileOutput(file: file.descriptor))
        return session
    }

    @Test func `are described, and fixed once the movie has begun, but for the gain`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await session(daemon, try OutputFile.scratch())
        let camera = try #require(await session.connection(with: .video))
        let microphone = try #require(await session.connection(with: .audio))
        try await camera.setVideoRotationAngle(90)
        try await camera.setVideoMirrored(true)
        try await microphone.setChannels([0])
        try await microphone.setGain(6)
        for wrong in [-90, 45, 360] {
            #expect(await code { try await camera.setVideoRotationAngle(wrong) } == .invalidArgument)
        }
        #expect(await code { try await microphone.setVideoMirrored(true) } == .invalidArgument)
        try await session.startRunning()
        #expect(await code { try await camera.setVideoRotationAngle(0) } == .wrongState)
        var wanted = ConnectionSettings()
        (wanted.rotation, wanted.isMirrored, wanted.channels, wanted.gain) = (90, true, [0], 6)
        func described() async throws -> ConnectionSettings? {
            try await daemon.sessions().first?.description?.outputs.first?.settings
        }
        #expect(try await described() == wanted)
        #expect(try await camera.settings == wanted)
        // Another object of the same session, as another process has it.
        let number = try #require(await session.id)
        let found = try await CaptureSession.session(number, on: daemon).connection(from: "microphone", to: "movie")
        try await found.setGain(-3)
        wanted.gain = -3
        #expect(try await described() == wanted)
        #expect(try await found.settings == wanted)
        // A change that knows nothing of it leaves it as it is.
        let photo = try OutputFile.scratch()
        try await session.addOutput(try PhotoOutput(file: photo.descriptor))
        #expect(try await described() == wanted)
        for output in ["movie", "photo"] { try await SessionLifeTests.recorded(output, in: session) }
        try await session.stopRunning()
    }

    @Test func `tell how loud the sound is, with its gain, and silence while it is disabled`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let session = try await session(daemon, try OutputFile.scratch())
        let microphone = try #require(await session.connection(with: .audio))
        try await microphone.setChannels([1])
        try await microphone.setGain(-20)
        let levels = try await microphone.audioLevels()
        try await session.startRunning()
        // The beep is half of full scale, and there is silence beside it.
        var (loudest, isSilent, count) = (AudioLevel.silence, false, 0)
        for await channels in levels {
            #expect(channels.count == 1)
            loudest = max(loudest, channels[0].peak)
            isSilent = isSilent || channels[0] == AudioLevel()
            count += 1
            if loudest > AudioLevel.silence, isSilent, count >= 20 { break }
        }
        #expect(abs(loudest + 26.02) < 0.1)
        #expect(try await microphone.audioChannels.count == 1)
        try await microphone.setEnabled(false)
        var disabled = 0
        for await channels in try await microphone.audioLevels() {
            disabled = channels[0] == AudioLevel() ? disabled + 1 : 0
            // Longer than from one beep to the next.
            if disabled == 25 { break }
        }
        let rest = try await microphone.audioLevels()
        try await session.stopRunning()
        // Ends with the session.
        for await _ in rest {}
        let number = try #require(await session.id)
        let over = await #expect(throws: CaptureError.self) {
            let found = try await CaptureSession.session(number, on: daemon)
            _ = try await found.connection(from: "microphone", to: "movie").audioLevels()
        }
        #expect(over?.code == .wrongState)
    }
}
