import Authorization
import CaptureBus
import CaptureCore
import CaptureDevices
import CaptureSystem

/// The devices' settings: read and written with a grant, whether they stream or not.
extension MachineDevices {
    func controls(of device: DeviceDescription, grant: Grant) async throws(CaptureError) -> [DeviceControl] {
        try await work(on: device, grant) { settings throws(CaptureError) in try settings.list() }
    }

    /// The same for a photo, which is taken even if they cannot be told.
    func settings(of device: DeviceDescription, grant: Grant) async -> [DeviceControl] {
        do throws(CaptureError) {
            return try await controls(of: device, grant: grant)
        } catch {
            Journal.send("a photo lacks exposure and gain of \(device.id): \(error.message)", priority: .info)
            return []
        }
    }

    func setControl(of device: DeviceDescription, _ name: String, _ value: Int64, grant: Grant)
        async throws(CaptureError)
    {
        try await work(on: device, grant) { settings throws(CaptureError) in try settings.set(name, value) }
    }

    /// Writes the default of everything that can be written; buttons are left alone.
    func resetControls(of device: DeviceDescription, grant: Grant) async throws(CaptureError) {
        try await work(on: device, grant) { settings throws(CaptureError) in
            for control in try settings.list() where control.isWritable && control.kind != .button {
                if control.value != control.defaultValue { try settings.set(control.name, control.defaultValue) }
            }
        }
    }

    private struct Settings {
        var list: () throws(CaptureError) -> [DeviceControl]
        var set: (String, Int64) throws(CaptureError) -> Void
    }

    private func work<Value: Sendable>(
        on device: DeviceDescription,
        _ grant: Grant,
        _ body: @escaping @Sendable (Settings) throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let synthetic = synthetic
        return try await WorkerThread.run("controls") {
            Result { () throws(CaptureError) -> Value in
                if let synthetic, device.isSynthetic {
                    return try body(
                        Settings(
                            list: { () throws(CaptureError) in try synthetic.controls(of: device.id) },
                            set: { name, value throws(CaptureError) in
                                try synthetic.setControl(of: device.id, name, value)
                            }
                        )
                    )
                }
                switch device.mediaType {
                case .video:
                    let open = try V4L2Controls.open(device, grant: grant)
                    return try body(
                        Settings(
                            list: { () throws(CaptureError) in try open.list() },
                            set: { name, value throws(CaptureError) in try open.set(name, to: value) }
                        )
                    )
                case .audio:
                    let open = try ALSAControls.open(device, grant: grant)
                    return try body(
                        Settings(
                            list: { () throws(CaptureError) in try open.list() },
                            set: { name, value throws(CaptureError) in try open.set(name, to: value) }
                        )
                    )
                }
            }
        }
    }
}
