import Authorization
import CaptureCore
import CaptureDevices
import CaptureSystem

/// The devices' settings: opened with a grant, whether they stream or not.
extension MachineDevices {
    /// Opens a device's settings and works with them, on a thread of its own, because a driver may block.
    func work<Value: Sendable>(
        on device: DeviceDescription,
        _ grant: Grant,
        _ body: @escaping @Sendable (any DeviceSettings) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        try await WorkerThread.run("controls") { () throws(CaptureError) in
            let settings = try openSettings(device, grant)
            profiles.apply(to: device.id) { settings }
            return try body(settings)
        }
    }

    func openSettings(_ device: DeviceDescription, _ grant: Grant) throws(CaptureError) -> any DeviceSettings {
        if let synthetic, device.isSynthetic { return try synthetic.settings(of: device.id, grant: grant) }
        return switch device.mediaType {
        case .video, .depth, .metadata: try V4L2Controls.open(device, grant: grant, vendors: vendors.allowed)
        case .audio: try ALSAControls.open(device, grant: grant)
        }
    }

    /// A camera's settings for a photo, which is taken even if they cannot be told.
    func settings(of device: DeviceDescription, grant: Grant) async -> [DeviceControl] {
        do throws(CaptureError) {
            return try await work(on: device, grant) { settings throws(CaptureError) in try settings.list() }
        } catch {
            Journal.send("a photo lacks exposure and gain of \(device.id): \(error.message)", priority: .info)
            return []
        }
    }
}
