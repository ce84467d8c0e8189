public import CaptureCore

extension CaptureSession {
    /// Whether every camera that follows the preset delivers it. A preset that names a size needs just that size. Cameras
    /// with a format of their own are not looked at. Asks nobody, and opens no device.
    ///
    /// - Throws: `noSuchDevice` for a camera that is not there.
    public func canSetPreset(_ preset: Preset) async throws(CaptureError) -> Bool {
        let followers = inputs.filter { $0.mediaType.isFrames && $0.video == nil }
        for input in followers {
            let camera: CaptureDevice
            if let id = input.device {
                camera = try await CaptureDevice.device(withID: id, on: daemon)
            } else {
                camera = try await CaptureDevice.default(for: .video, on: daemon)
            }
            guard preset.isOffered(by: camera.videoFormats) else { return false }
        }
        return true
    }
}
