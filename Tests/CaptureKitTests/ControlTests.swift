import BusSupport
import CaptureKit
import Testing

/// A camera's settings, through a real daemon.
@Suite(.timeLimit(.minutes(10)))
struct `A camera's typed setting` {
    private func camera(_ captured: RealDaemon) async throws -> CaptureDevice {
        try await CaptureDevice.default(for: .video, on: try await captured.client())
    }

    private func value(_ name: String, of camera: CaptureDevice) async throws -> Int64? {
        try await camera.controls().control(named: name)?.value
    }

    private func refused(
        _ code: CaptureError.Code,
        _ words: String,
        _ body: () async throws(CaptureError) -> Void
    ) async {
        let error = await #expect(throws: CaptureError.self) { try await body() }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `is read, set, and refused out of range`() async throws {
        let captured = try await RealDaemon()
        let camera = try await camera(captured)
        #expect(try await camera.focusMode() == .continuousAutoFocus)
        #expect(try await camera.supportedFocusModes() == [.locked(lensPosition: 0.12), .continuousAutoFocus])
        try await camera.setFocusMode(.locked(lensPosition: 0.5))
        #expect(try await camera.focusMode() == .locked(lensPosition: 0.5))
        #expect(try await value("focus_absolute", of: camera) == 125)
        await refused(.invalidArgument, "0 to 1") { () async throws(CaptureError) in
            try await camera.setFocusMode(.locked(lensPosition: 1.5))
        }
        await refused(.invalidArgument, "focusing once") { () async throws(CaptureError) in
            try await camera.setFocusMode(.autoFocus)
        }
        try await camera.setFocusMode(.continuousAutoFocus)

        let exposure = try await camera.supportedExposure()
        #expect(exposure.duration == .microseconds(100) ... .milliseconds(500))
        #expect(exposure.targetBias == -2...2)
        #expect(exposure.gain == 0...64 && exposure.iso == nil && exposure.continuousAutoExposure)
        #expect(try await camera.exposureMode() == .continuousAutoExposure)
        try await camera.setExposureMode(.custom(duration: .milliseconds(10), gain: 32))
        #expect(try await camera.exposureMode() == .custom(duration: .milliseconds(10), iso: nil, gain: 32))
        #expect(try await value("exposure_absolute", of: camera) == 100)
        for mode in [ExposureMode.custom(duration: .seconds(1)), .custom(iso: 400), .custom(gain: 65)] {
            await #expect(throws: CaptureError.self) { try await camera.setExposureMode(mode) }
        }
        try await camera.setExposureTargetBias(-1.4)
        #expect(try await camera.exposureTargetBias() == -1.5)
        await refused(.invalidArgument, "-2.0 to 2.0") { () async throws(CaptureError) in
            try await camera.setExposureTargetBias(2.5)
        }

        #expect(try await camera.supportedWhiteBalanceTemperatures() == 2800...6500)
        try await camera.setWhiteBalanceMode(.locked(temperature: 5002))
        #expect(try await camera.whiteBalanceMode() == .locked(temperature: 5000))
        await refused(.invalidArgument, "kelvin") { () async throws(CaptureError) in
            try await camera.setWhiteBalanceMode(.locked(temperature: 2000))
        }
        try await camera.setWhiteBalanceMode(.continuousAutoWhiteBalance)
        #expect(try await camera.whiteBalanceMode() == .continuousAutoWhiteBalance)

        #expect(try await camera.supportedZoomFactors() == 1...5)
        try await camera.setVideoZoomFactor(2.5)
        #expect(try await camera.videoZoomFactor() == 2.5)
        await refused(.invalidArgument, "zoom factor") { () async throws(CaptureError) in
            try await camera.setVideoZoomFactor(0.5)
        }

        let whole = PixelRectangle(width: 1920, height: 1080)
        let supported = try await camera.supportedCrop()
        #expect(supported?.bounds == whole && supported?.standard == whole)
        #expect(try await camera.crop() == whole)
        let part = PixelRectangle(left: 160, top: 120, width: 640, height: 480)
        #expect(try await camera.setCrop(part) == part)
        for wrong in [
            PixelRectangle(left: 1, width: 1920, height: 1080), PixelRectangle(left: .max, width: 1, height: 1),
        ] {
            await refused(.invalidArgument, "within 0,0,1920x1080") { () async throws(CaptureError) in
                try await camera.setCrop(wrong)
            }
        }
        #expect(try await camera.crop() == part)

        #expect(try await camera.hasTorch())
        try await camera.setTorchMode(.on)
        #expect(try await camera.torchMode() == .on)
        try await camera.setFlashMode(.on)
        #expect(try await camera.torchMode() == .off)
        #expect(try await camera.flashMode() == .on)
        try await camera.setVideoStabilizationMode(.standard)
        #expect(try await camera.videoStabilizationMode() == .standard)
        #expect(try await camera.supportedPowerLineFrequencies() == Set(PowerLineFrequency.allCases))
        try await camera.setPowerLineFrequency(.hertz60)
        #expect(try await camera.powerLineFrequency() == .hertz60)
        await refused(.invalidArgument, "only be read") { () async throws(CaptureError) in
            try await camera.setControl("privacy", to: 1)
        }
        try await camera.resetControls()
        #expect(try await camera.controls().allSatisfy { $0.value == $0.defaultValue || $0.flags.contains(.inactive) })
    }

    @Test func `is put back when the program that locked the camera leaves, unless that keeps it`() async throws {
        let captured = try await RealDaemon()
        let (first, second) = (try await captured.client(), try await captured.client())
        let camera = try await CaptureDevice.default(for: .video, on: first)
        let other = try await CaptureDevice.default(for: .video, on: second)
        try await other.setVideoZoomFactor(3)
        try await camera.lockForConfiguration()
        try await camera.lockForConfiguration()
        for refusal in [other.lockForConfiguration, other.resetControls] {
            await refused(.busy, "locked by") { () async throws(CaptureError) in try await refusal() }
        }
        await refused(.wrongState, "not locked") { () async throws(CaptureError) in
            try await other.unlockForConfiguration()
        }
        try await camera.setFocusMode(.locked(lensPosition: 1))
        try await camera.setVideoZoomFactor(2)
        let (whole, part) = (try await camera.crop(), PixelRectangle(left: 160, top: 120, width: 640, height: 480))
        try await camera.setCrop(part)
        try await camera.unlockForConfiguration()
        #expect(try await other.crop() == part)
        #expect(try await other.videoZoomFactor() == 2)
        // What is set without the lock is meant to stay.
        try await other.setPowerLineFrequency(.automatic)
        await first.close()
        while try await other.videoZoomFactor() != 3 { try await Task.sleep(for: .milliseconds(10)) }
        while try await other.focusMode() != .continuousAutoFocus { try await Task.sleep(for: .milliseconds(10)) }
        while try await other.crop() != whole { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try await other.powerLineFrequency() == .automatic)

        let third = try await captured.client()
        let again = try await CaptureDevice.default(for: .video, on: third)
        try await again.lockForConfiguration()
        try await again.setVideoZoomFactor(4)
        try await again.keepControls()
        try await again.setPowerLineFrequency(.hertz60)
        await third.close()
        while try await other.powerLineFrequency() != .automatic { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try await other.videoZoomFactor() == 4)
        try await other.lockForConfiguration()
    }

    @Test func `is told to those who watch, until the consent is withdrawn`() async throws {
        let captured = try await RealDaemon()
        let (first, second) = (try await captured.client(), try await captured.client())
        let camera = try await CaptureDevice.default(for: .video, on: first)
        let other = try await CaptureDevice.default(for: .video, on: second)
        var changes = try await camera.controlChanges().makeAsyncIterator()
        try await other.setVideoZoomFactor(2)
        let change = try #require(try await changes.next())
        #expect(change.name == "zoom_absolute" && change.value == 200)
        let part = PixelRectangle(left: 160, top: 120, width: 640, height: 480)
        try await other.setCrop(part)
        #expect(try await changes.next()?.rectangle == part)
        try await camera.lockForConfiguration()
        try await camera.setVideoZoomFactor(3)
        #expect(try await changes.next()?.value == 300)
        let program = try await AuthorizationPanel(on: first).whoAmI().program
        try await captured.control("auth", "set", program, "camera", "denied")
        #expect(await code { _ = try await changes.next() } == .revoked)
        for call in [camera.lockForConfiguration, camera.resetControls, camera.keepControls] {
            #expect(await code { try await call() } == .notPermitted)
        }
        try await captured.control("auth", "set", program, "camera", "authorized")
        // The lock went with the consent, and what was changed was put back.
        while try await other.videoZoomFactor() != 2 { try await Task.sleep(for: .milliseconds(10)) }
        try await other.lockForConfiguration()
    }

    @Test func `is not there without a yes`() async throws {
        let captured = try await RealDaemon()
        let stranger = try await CaptureDaemon.connect(to: captured.bus.kind)
        let camera = try await CaptureDevice.default(for: .video, on: stranger)
        for call in [camera.lockForConfiguration, camera.resetControls, camera.unlockForConfiguration] {
            await refused(.notPermitted, "consent") { () async throws(CaptureError) in try await call() }
        }
        await refused(.notPermitted, "consent") { () async throws(CaptureError) in
            _ = try await camera.controlChanges()
        }
    }
}
