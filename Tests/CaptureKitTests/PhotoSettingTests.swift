import BusSupport
import CaptureKit
import Synchronization
import Testing

/// Photos for which a real daemon sets its synthetic camera, beside programs that set it, too.
@Suite(.timeLimit(.minutes(10)))
struct `A camera that is set for photos` {
    private func values(_ camera: CaptureDevice) async throws -> [Int64] {
        let controls = try await camera.controls()
        return ["exposure_auto", "exposure_absolute", "auto_exposure_bias", "flash_led_mode"].map { name in
            controls.control(named: name)?.value ?? -1
        }
    }

    /// A camera, and a session that takes photos with it.
    private func running(on daemon: CaptureDaemon) async throws -> (CaptureDevice, PhotoOutput, CaptureSession) {
        let camera = try await CaptureDevice.default(for: .video, on: daemon)
        let output = PhotoOutput()
        let session = try await SessionLifeTests.session(daemon, output)
        try await session.startRunning()
        return (camera, output, session)
    }

    @Test func `gives pairs of each exposure, and is as before`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let (camera, output, session) = try await running(on: daemon)
        let usual = try await values(camera)
        let settings = PhotoSettings(companion: "png", bracket: [-1, 1], flash: .on)
        let photos = try await output.capturePhotos(with: settings)
        #expect(photos.map(\.exposureBias) == [-1, 1] && photos.map(\.lostBefore) == [0, 0])
        for photo in photos {
            let companion = try #require(photo.companion)
            #expect(photo.bytes.starts(with: [0xff, 0xd8]) && companion.bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            #expect(photo.picture.bytes == photo.bytes.count && companion.size == companion.bytes.count)
            #expect(companion.format == "png")
        }
        #expect(try await values(camera) == usual)
        for wrong in [
            PhotoSettings(bracket: [9]), PhotoSettings(bracket: [.nan]), PhotoSettings(burst: 2, bracket: [0, 1]),
            PhotoSettings(companion: "jpeg"),
            PhotoSettings(companion: "png", bracket: [Double](repeating: 0, count: 9)),
        ] {
            #expect(await code { try await output.capturePhotos(with: wrong) } == .usage, "\(wrong)")
        }
        let far = PhotoSettings(bracket: [0, 3])
        #expect(await code { try await output.capturePhotos(with: far) } == .invalidArgument)
        #expect(try await values(camera) == usual)
        try await session.stopRunning()
    }

    @Test func `stays with the program that has locked it`() async throws {
        let captured = try await RealDaemon()
        let (first, second) = (try await captured.client(), try await captured.client())
        let (camera, mine, session) = try await running(on: first)
        defer { withExtendedLifetime(session) {} }
        let (other, theirs, itsSession) = try await running(on: second)
        let usual = try await values(camera)
        try await camera.lockForConfiguration()
        try await camera.setExposureMode(.custom(duration: .milliseconds(10)))
        let own = try await values(camera)
        let busy = await #expect(throws: CaptureError.self) {
            try await theirs.capturePhotos(with: PhotoSettings(bracket: [-1, 1]))
        }
        #expect(busy?.code == .busy && busy?.message.contains("locked by") == true)
        #expect(try await mine.capturePhotos(with: PhotoSettings(bracket: [-1, 1])).count == 2)
        // What it had set itself, which is put back when it leaves, is there again, and so is its lock.
        #expect(try await values(camera) == own)
        #expect(await code { try await other.lockForConfiguration() } == .busy)
        await first.close()
        while try await values(other) != usual { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try await theirs.capturePhotos(with: PhotoSettings(bracket: [-1, 1])).count == 2)
        #expect(try await values(other) == usual)
        try await itsSession.stopRunning()
    }

    @Test func `is put back when the consent is withdrawn between two photos`() async throws {
        let captured = try await RealDaemon()
        let daemon = try await captured.client()
        let program = try await AuthorizationPanel(on: daemon).whoAmI().program
        // Longer than a busy machine takes to withdraw it.
        let biases = (0..<PhotoSettings.mostFiles).map { $0 % 2 == 0 ? 1.0 : -1.0 }
        var error: CaptureError?
        // A slow machine may take all photos before the consent is withdrawn.
        for _ in 0..<20 where error == nil {
            let (camera, output, session) = try await running(on: daemon)
            defer { withExtendedLifetime(session) {} }
            let usual = try await values(camera)
            let isOver = Mutex(false)
            let bracket = Task {
                defer { isOver.withLock { $0 = true } }
                return try await output.capturePhotos(with: PhotoSettings(bracket: biases))
            }
            try await until {
                let isSet = try await values(camera) != usual
                return isOver.withLock { $0 } || isSet
            }
            try await captured.control("auth", "set", program, "camera", "denied")
            if case .failure(let failure) = await bracket.result { error = try #require(failure as? CaptureError) }
            try await captured.control("auth", "set", program, "camera", "authorized")
            try await until { try await values(camera) == usual }
        }
        #expect(error?.code == .revoked, "\(String(describing: error))")
    }
}
